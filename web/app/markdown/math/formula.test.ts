import { Marked } from 'marked';
import { expect, test } from 'vitest';
import { parseFormula, mathExtensions } from './formula.ts';

const marked = new Marked({ gfm: true, extensions: mathExtensions });

/** The formulas of a text, in order. */
const formulas = (text: string): (string | undefined)[] =>
  [...marked.parse(text, { async: false }).matchAll(/<span class="math">([^<]*)<\/span>/g)].map(([, source]) => source);

test('formulas are found in each of their forms', () => {
  expect(formulas('an $x_1$ and \\(y_2\\), **$z$**; $$a$$')).toEqual(['$x_1$', '\\(y_2\\)', '$z$', '$$a$$']);
  expect(formulas('text\n$$\na\n= b\n- c\n$$\nmore')).toEqual(['$$\na\n= b\n- c\n$$']);
  expect(formulas('\\[\na \\\\[2pt] b\n\\]')).toEqual(['\\[\na \\\\[2pt] b\n\\]']);
});

test('prices, code, escaped signs and what is left open are no formulas', () => {
  for (const text of ['$5 and $10', '$5-$10', 'a $ b $ c', '`$x$`', '\\$x\\$', '```\n$x$\n```', 'an open $x', 'an open \\(x', '$$'])
    expect(formulas(text), text).toEqual([]);
});

test('a formula is its TeX without its signs', () => {
  expect(parseFormula('$x$')).toEqual({ tex: 'x', display: false });
  expect(parseFormula('\\(x\\)')).toEqual({ tex: 'x', display: false });
  expect(parseFormula('$$\nx\n$$\n')).toEqual({ tex: 'x', display: true });
  expect(parseFormula('\\[x\\]')).toEqual({ tex: 'x', display: true });
  for (const text of ['', 'x', '$$\nx', '$a$ $b$', '\\[x']) expect(parseFormula(text), text).toBeNull();
});

test('many opened but unclosed formulas are parsed in linear time', () => {
  for (const piece of ['$', '$a', '$$a', '\\(', '\\[', '\\\\(', '\n\n$$\n', '*a*'])
    expect(marked.parse(piece.repeat(4_000), { async: false }).length, piece).toBeGreaterThan(4_000);
});
