import { expect, test } from 'vitest';
import { toSafeFileName } from './file-name.ts';
import { hasVisibleText } from './display-name.ts';

test.each([
  ['a.png', 'a.png'],
  ['Übersicht – 名前 👨‍👩‍👧.pdf', 'Übersicht – 名前 👨‍👩‍👧.pdf'],
  ['\u202egnp.exe', 'gnp.exe'],
  ['a\u2066b\u2069\u200f.t\u0000x\nt', 'ab.txt'],
  ['half \ud800', 'half \ufffd'],
  ['', 'file'],
  [' \u200b\u3164', 'file'],
  [`${'n'.repeat(251)}.txt`, `${'n'.repeat(251)}.txt`],
  [`${'n'.repeat(300)}.txt`, `${'n'.repeat(250)}….txt`],
  [`a.${'n'.repeat(300)}`, `a.${'n'.repeat(252)}…`],
  [`${'n'.repeat(249)}😀😀.txt`, `${'n'.repeat(249)}….txt`],
])('%j is kept as %j', (name, expected) => {
  expect(toSafeFileName(name)).toBe(expected);
});

test.each(['', '  \u3000', '\u200b\u2060', '\u0000', '\u3164', '\u00ad'])('%j cannot be seen', (text) => {
  expect(hasVisibleText(text)).toBe(false);
});

test.each(['.', '名', '👍🏽', 'a\u200b', '\ufffd'])('%j can', (text) => {
  expect(hasVisibleText(text)).toBe(true);
});
