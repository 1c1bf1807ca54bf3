import { expect, test } from 'vitest';
import { findSpans } from './find-spans.ts';

const findTexts = (text: string, ...words: string[]): string[] => findSpans(text, words).map(([start, end]) => text.slice(start, end));

test.each([
  ['My dogs ran', ['dog'], ['dogs']],
  ['Two stories of a storyteller', ['story'], ['stories']],
  ['Café au lait', ['CAFE'], ['Café']],
  ['An article on art', ['art'], ['art']],
  ['The forest and the form', ['form'], ['form']],
  ['He runs, running still', ['run'], ['runs']],
  ['Anything at all', [], []],
  ['Nothing like it', ['kayak'], []],
  ['昨日の天気は晴れ', ['天気'], ['天気']],
  ['12 May 2026', ['2026'], ['2026']],
  ['It’s Ana’s', ['Ana’s'], ['s', 'Ana', 's']],
] as const)('%s, for %j', (text, words, spans) => expect(findTexts(text, ...words)).toEqual(spans));

test('from and to are of the text as it is, accents apart or not', () => {
  const text = 'Der Cafe\u0301-Besuch im Café';
  expect(findSpans(text, ['cafe'])).toEqual([
    [4, 9],
    [20, 24],
  ]);
});

test('whatever stands there, spans are in order and within it', () => {
  for (const text of ['', ' ', '((a', '\\d+', '😀 dog 😀', '天'.repeat(50), '\u0301\u0301'])
    for (const word of ['', '((a', '天', '\\d+', '😀', '\u0301']) {
      let last = 0;
      for (const [start, end] of findSpans(text, [word])) {
        expect(start).toBeGreaterThanOrEqual(last);
        expect(end).toBeGreaterThan(start);
        last = end;
      }
      expect(last).toBeLessThanOrEqual(text.length);
    }
});
