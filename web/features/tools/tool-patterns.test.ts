import { expect, it } from 'vitest';
import { toMatcher, withLine } from './tool-patterns.ts';

it.each([
  ['file_*', ['file_read', 'file_'], ['a_file_read', 'file']],
  ['*', ['exec', 'mcp:a:b'], []],
  [' exec \n\nmcp:a:*', ['exec', 'mcp:a:get.sum'], ['exec2', 'mcp:ab:x']],
  ['mcp:a:get.sum\n(x', ['mcp:a:get.sum'], ['mcp:a:get-sum', 'x']],
  ['', [], ['', 'exec']],
])('%j matches names', (lines, fitting, others) => {
  const matches = toMatcher(lines);
  expect(fitting.filter((name) => !matches(name))).toEqual([]);
  expect(others.filter(matches)).toEqual([]);
});

it('a line is added once', () => {
  expect(withLine('', 'exec')).toBe('exec');
  expect(withLine('file_*\n\n', 'exec')).toBe('file_*\nexec');
  expect(withLine('exec \nfile_*', 'exec')).toBe('exec \nfile_*');
});
