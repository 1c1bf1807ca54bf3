import { expect, it } from 'vitest';
import { MarkerFilter, stripMarkers } from './marker-filter.ts';

const rules = { isKnown: (number: number) => number >= 1 && number <= 9 };
const strip = (text: string) => stripMarkers(text, rules);

it.each([
  ['The bridge opened in 1932 [3].', 'The bridge opened in 1932.', [[25, [3]]]],
  [
    'It is long.[1] It is wide. [2]\nIt is old [1, 2] and new [4-6].',
    'It is long. It is wide.\nIt is old and new.',
    [
      [11, [1]],
      [23, [2]],
      [33, [1, 2]],
      [41, [4, 5, 6]],
    ],
  ],
  [
    'Both agree [1][2], and [3] does not 【4】.',
    'Both agree, and does not.',
    [
      [10, [1, 2]],
      [15, [3]],
      [24, [4]],
    ],
  ],
  ['| Height | 5 m [2] |', '| Height | 5 m |', [[14, [2]]]],
] as [string, string, [number, number[]][]][])('removes the markers of %j', (text, visible, markers) => {
  expect(strip(text)).toEqual({ text: visible, markers: markers.map(([at, numbers]) => ({ at, numbers })) });
});

it.each([
  'Call `items[1]` or itemList[1] or my_list[2].',
  '```js\nconst x = [1];\n// see [2]\n```',
  '~~~\na [1]\n~~~',
  'x = [1, 2] and the list [1, 2, 3] is short',
  'See [1](https://example.com) and [the page][1].',
  'A footnote[^1] and its text.\n\n[^1]: The text.\n[1]: https://example.com',
  'He said: “as shown in [1] and [2]” once.',
  'He wrote "as in [1]" and left.',
  'An unknown number [12], none [], and [1 of 2].',
  '[1] First source\n- [2] Second source',
  'Escaped \\[1] stays, and so does args[1].length.',
])('keeps %j', (text) => {
  expect(strip(text)).toEqual({ text, markers: [] });
});

it('keeps a marker that a source contains at the same place', () => {
  const isQuoted = (text: string) => 'Ants are social insects [4] of one family.'.includes(text);
  expect(stripMarkers('Ants are social insects [4] of one family [2].', { ...rules, isQuoted })).toEqual({
    text: 'Ants are social insects [4] of one family.',
    markers: [{ at: 41, numbers: [2] }],
  });
});

it('gives the same text for pieces of any size', () => {
  const text =
    'A claim [1]. Another [1, 2][3] one.\n\n```js\nx = [1]\n```\n- item `a[1]` [4]\n> quoted [2]\n[1] list\nlast "in [1] quotes" 【5】 args[1].x end [6]';
  const whole = strip(text);
  for (let size = 1; size <= 7; size++) {
    const filter = new MarkerFilter(rules);
    let visible = '';
    for (let at = 0; at < text.length; at += size) visible += filter.push(text.slice(at, at + size));
    visible += filter.end();
    expect({ text: visible, markers: filter.markers }).toEqual(whole);
  }
});

it('reads a long line in reasonable time', () => {
  const filter = new MarkerFilter(rules);
  for (let index = 0; index < 20_000; index++) filter.push('some words [1] ');
  filter.end();
  expect(filter.markers).toHaveLength(20_000);
});
