import { expect, test } from 'vitest';
import { markSpans } from './mark-spans.ts';

test('a text falls into pieces at what was found, and nothing of it is lost', () => {
  expect(
    markSpans('The ferry to noon', [
      [4, 9],
      [13, 17],
    ]),
  ).toEqual([
    { text: 'The ', mark: false },
    { text: 'ferry', mark: true },
    { text: ' to ', mark: false },
    { text: 'noon', mark: true },
  ]);
  expect(markSpans('Nothing', [])).toEqual([{ text: 'Nothing', mark: false }]);
  expect(markSpans('', [])).toEqual([]);
});
