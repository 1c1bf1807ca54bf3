import { expect, test } from 'vitest';
import { createVisibleName } from './visible-name.ts';

const name = createVisibleName(10);

test.each([
  [' A name ', 'A name'],
  ['a \u202egnp.exe', 'a gnp.exe'],
  ['\u2066one\u2069', 'one'],
  ['اسم', 'اسم'],
])('%j is the name %j', (input, expected) => {
  expect(name.parse(input)).toBe(expected);
});

test.each(['', '  ', '\u202e', '\u200b', 'eleven chars'])('%j is none', (input) => {
  expect(name.safeParse(input).success).toBe(false);
});
