import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

type Tokens = Map<string, { light: string; dark: string }>;

async function readTokens(file: string): Promise<Tokens> {
  const css = await readFile(join(import.meta.dirname, '..', file), 'utf8');
  const matches = css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/gu);
  return new Map([...matches].map(([, name = '', light = '', dark = '']) => [name, { light, dark }]));
}
const [normalContrast, more] = [await readTokens('app.css'), await readTokens('contrast.css')];

const GROUNDS = ['ground', 'panel', 'raised', 'sunken', 'hover'];
const CODE = ['code-purple', 'code-green', 'code-orange', 'code-blue', 'code-brown'];
const EVERYWHERE = ['ink', 'ink-soft', 'ink-faint', 'accent', 'good', 'warn', 'bad'];
const TEXTS: readonly [text: string, grounds: readonly string[]][] = [
  ...EVERYWHERE.map((text) => [text, GROUNDS] as [string, string[]]),
  ...CODE.map((text) => [text, ['sunken', 'raised', 'ground']] as [string, string[]]),
  ...['accent', 'ink', 'ink-soft'].map((text) => [text, ['accent-soft']] as [string, string[]]),
  ...['warn', 'ink', 'ink-soft'].map((text) => [text, ['warn-soft']] as [string, string[]]),
  ...['bad', 'ink', 'ink-soft'].map((text) => [text, ['bad-soft']] as [string, string[]]),
  ['on-accent', ['accent', 'accent-hover']],
  ['on-bad', ['bad']],
];

/** Relative luminance, by WCAG 2.2. */
function computeLuminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function computeRatio(tokens: Tokens, one: string, other: string, theme: 'light' | 'dark'): number {
  const [dim = 0, bright = 0] = [one, other].map((name) => computeLuminance(tokens.get(name)?.[theme] ?? name)).sort((a, b) => a - b);
  return (bright + 0.05) / (dim + 0.05);
}

/** Pairs of text and background with a contrast below `least`. */
const findWeakPairs = (tokens: Tokens, theme: 'light' | 'dark', least: number): (readonly [string, number])[] =>
  TEXTS.flatMap(([text, grounds]) =>
    grounds.map((ground) => [`${text} on ${ground}`, computeRatio(tokens, text, ground, theme)] as const),
  ).filter(([, found]) => !(found >= least));

test.each(['light', 'dark'] as const)('text has 4.5:1 on every ground that it stands on, %s', (theme) =>
  expect(findWeakPairs(normalContrast, theme, 4.5)).toEqual([]),
);

describe.each(['light', 'dark'] as const)('more contrast, %s', (theme) => {
  test('text has 7:1 on every ground that it stands on', () => expect(findWeakPairs(more, theme, 7)).toEqual([]));

  test('lines and what is operated have 3:1', () => {
    const pairs = ['line', 'line-strong', 'accent'].flatMap((line) => [...GROUNDS, 'accent-soft'].map((ground) => [line, ground] as const));
    expect(pairs.filter(([line, ground]) => !(computeRatio(more, line, ground, theme) >= 3))).toEqual([]);
  });
});
