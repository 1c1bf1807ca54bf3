import { expect, test } from 'vitest';
import { visibleName } from './visible-name.ts';

const name = visibleName(10);

test.each([
  [' A name ', 'A name'],
  ['a \u202egnp.exe', 'a gnp.exe'],
  ['\u2066one\u2069', 'one'],
  ['اسم', 'اسم'],
])('%j is the name %j', (given, kept) => {
  expect(name.parse(given)).toBe(kept);
});

test.each(['', '  ', '\u202e', '\u200b', 'eleven chars'])('%j is none', (given) => {
  expect(name.safeParse(given).success).toBe(false);
});
