import { expect, test } from 'vitest';
import { marked } from './marked.ts';

test('a text falls into pieces at what was found, and nothing of it is lost', () => {
  expect(
    marked('The ferry to noon', [
      [4, 9],
      [13, 17],
    ]),
  ).toEqual([
    { text: 'The ', mark: false },
    { text: 'ferry', mark: true },
    { text: ' to ', mark: false },
    { text: 'noon', mark: true },
  ]);
  expect(marked('Nothing', [])).toEqual([{ text: 'Nothing', mark: false }]);
  expect(marked('', [])).toEqual([]);
});
