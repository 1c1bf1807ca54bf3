import { expect, test } from 'vitest';
import { describeCharacter, findLookAlikes } from './look-alikes.ts';

test.for([
  ['git', ''],
  ['/usr/bin/python3.11', ''],
  ['отчёт', ''],
  ['./日本', ''],
  ['café', ''],
  ['ѕcp', 'ѕ (U+0455)'],
  ['/usr/bin/gіt', 'і (U+0456)'],
  ['сору', 'с (U+0441), о (U+043E), р (U+0440), у (U+0443)'],
  ['ｇit', 'ｇ (U+FF47)'],
  ['𝚐it', '𝚐 (U+1D690)'],
  ['rm\u200b', 'U+200B'],
  ['rm\u00a0', 'U+00A0'],
  ['usr∕bin', '∕ (U+2215)'],
  ['gi\u0337t', 'U+0337'],
  ['αwk', 'α (U+03B1)'],
] as const)('%s: %s', ([name, marked]) => {
  expect(findLookAlikes(name).map(describeCharacter).join(', ')).toBe(marked);
});
