import { expect, test } from 'vitest';
import { diffLines } from './diff-lines.ts';

const SIGNS = { same: ' ', added: '+', removed: '-', skipped: '@' };
const render = (before: string, after: string): string[] => diffLines(before, after).map(({ kind, text }) => SIGNS[kind] + text);

test('distinguishes added, removed and unchanged lines', () => {
  expect(render('a\nb\nc', 'a\nx\nc\nd')).toEqual([' a', '-b', '+x', ' c', '+d']);
  expect(render('', 'a')).toEqual(['-', '+a']);
  expect(render('a\nb', 'b\na')).toEqual(['-a', ' b', '+a']);
});

test('unchanged parts that are far from a change are skipped', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const after = lines.with(10, 'rm -rf /');
  expect(render(lines.join('\n'), after.join('\n'))).toEqual([
    '@7',
    ' line 7',
    ' line 8',
    ' line 9',
    '-line 10',
    '+rm -rf /',
    ' line 11',
    ' line 12',
    ' line 13',
    '@6',
  ]);
});

test('two long texts with nothing in common are told of at once', () => {
  const long = (word: string): string => Array.from({ length: 5000 }, (_, index) => `${word} ${index}`).join('\n');
  expect(diffLines(long('a'), long('b'))).toHaveLength(10_000);
});
