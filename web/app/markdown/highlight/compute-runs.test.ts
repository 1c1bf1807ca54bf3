import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeRuns } from './compute-runs.ts';

/** Each run with its text. */
function readRuns(code: string, language: string): [string, string | null][] {
  let at = 0;
  return (computeRuns(code, language) ?? []).map(({ length, kind }) => [code.slice(at, (at += length)), kind]);
}

test('code has keywords, strings, numbers and comments', () => {
  const runs = readRuns('const a = "x < y & \'z\'"; // 1\nreturn 42;', 'ts');
  expect(runs).toContainEqual(['const', 'keyword']);
  expect(runs).toContainEqual(['"x < y & \'z\'"', 'string']);
  expect(runs).toContainEqual(['// 1', 'comment']);
  expect(runs).toContainEqual(['42', 'number']);
});

test('a language has aliases, and an unknown one has no runs', () => {
  for (const name of ['js', 'JavaScript', 'py', 'sh', 'dockerfile', 'powershell', 'C++', 'html', 'yml'])
    expect(computeRuns('x', name), name).not.toBeNull();
  for (const name of ['', 'constructor', '__proto__', 'no-such', '<b>']) expect(computeRuns('x', name), name).toBeNull();
});

test('additions and deletions of a diff differ', () => {
  expect(readRuns('+new\n-old\n', 'diff')).toEqual([
    ['+new', 'added'],
    ['\n', null],
    ['-old', 'removed'],
    ['\n', null],
  ]);
});

test('runs are as long as the code, whatever it is', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('</span>', '<span class="hljs-keyword">', '&amp;', '&#x27;', '"', "'", '`${', '/*', '\r\n', '<script>', '\\'),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 30 }),
      fc.constantFrom('ts', 'html', 'css', 'bash', 'markdown', 'python'),
      (pieces, language) => {
        const code = pieces.join('');
        expect(computeRuns(code, language)?.reduce((sum, { length }) => sum + length, 0)).toBe(code.length);
      },
    ),
  );
});
