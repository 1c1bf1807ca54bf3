import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesText, parseQuery } from './search-query.ts';
import { createSnippet, findSpans } from './snippet.ts';
import { forEachTerm, fold } from './text/terms.ts';

const termsOf = (text: string): string[] => {
  const terms: string[] = [];
  forEachTerm(text, (term) => void terms.push(term));
  return terms;
};
const finds = (query: string, text: string): boolean => matchesText(parseQuery(query), text);

describe('eachTerm', () => {
  it('folds case, width and accents, and parts identifiers', () => {
    expect(termsOf('Größe: chat.send ＡＰＩ Ångström x1')).toEqual(['grosse', 'chat', 'send', 'api', 'angstrom', 'x1']);
    expect(termsOf('ГОРОД Ёлка ΆΛΦΑ')).toEqual(['город', 'елка', 'αλφα']);
  });

  it('returns bigrams for scripts without spaces, and keeps diacritics', () => {
    expect(termsOf('東京タワー v2')).toEqual(['東京', '京タ', 'タワ', 'ワー', 'ー', 'v2']);
    expect(termsOf('が')).not.toEqual(termsOf('か'));
    expect(termsOf('ภาษาไทย').length).toBeGreaterThan(1);
  });

  it('returns the position of each term', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        forEachTerm(text, (term, start, end) => {
          expect(start).toBeLessThan(end);
          expect(end).toBeLessThanOrEqual(text.length);
          expect(fold(text.slice(start, end)).replaceAll(/[^\p{L}\p{N}\p{M}]/gu, '')).toContain(term);
        });
      }),
    );
  });
});

describe('readQuery', () => {
  it('wants every word, the last one perhaps unfinished', () => {
    expect(finds('blue hou', 'The house is blue')).toBe(true);
    expect(finds('hou blue', 'The house is blue')).toBe(false);
    expect(finds('blue boat', 'The house is blue')).toBe(false);
  });

  it('finds English words in their other forms, and accents or none', () => {
    expect(finds('memories stored', 'My memory stores it')).toBe(true);
    expect(finds('cafe grosse', 'Das Café hat Größe')).toBe(true);
    expect(finds('café', 'a cafe')).toBe(true);
  });

  it('passes over words that say nothing, unless there are no others', () => {
    expect(finds('what is the plan ', 'Our plan')).toBe(true);
    expect(finds('the of ', 'Our plan')).toBe(false);
    expect(finds('to be ', 'to be or not to be')).toBe(true);
  });

  it('takes quoted text verbatim', () => {
    expect(finds('"red house"', 'A Red  House')).toBe(true);
    expect(finds('"red house"', 'A red big house')).toBe(false);
    expect(finds('“red house” big', 'A red house, big')).toBe(true);
    expect(finds('"the red', 'See the red')).toBe(true);
    expect(finds('"models"', 'a model')).toBe(false);
    expect(finds('"red house"', 'A red household, the house')).toBe(false);
    expect(finds('"red house"', 'A red household, a red house')).toBe(true);
    expect(finds('"red house"', 'An infrared house, red')).toBe(false);
    expect(finds('"京都"', '東京都')).toBe(true);
    expect(finds('"v2 京都"', 'v2 京都タワー')).toBe(true);
  });

  it('finds single characters of scripts without spaces anywhere', () => {
    expect(finds('京', '東京')).toBe(true);
    expect(finds('京', '京都')).toBe(true);
    expect(finds('京都タワー', '今日は京都タワーへ')).toBe(true);
    expect(finds('京都タワー', '東京タワー')).toBe(false);
  });

  it('finds a text by its own words, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const query = parseQuery(text.replaceAll(/["“”„«»]/g, ' '));
        expect(matchesText(query, text)).toBe(true);
        const { snippet, matches } = createSnippet(query, text, 20);
        for (const [start, end] of matches) {
          expect(start).toBeLessThan(end);
          expect(end).toBeLessThanOrEqual(snippet.length);
        }
      }),
    );
  });

  it('finds short words whose form is shorter still', () => {
    for (const word of ['ties', 'dies', 'pies ']) expect(matchesText(parseQuery(word), `Two ${word} here`), word).toBe(true);
    for (const word of ['ties', 'dies', 'pies']) expect(parseQuery(`${word} `).words[0]?.root).toBe(word);
  });

  it('finds only what begins with its root', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,10}$/), fc.stringMatching(/^(s|es|ed|ing|ly|ies|y|e)?$/), (word, ending) => {
        for (const each of parseQuery(word).words) {
          const term = word.replace(/y$/, '') + ending;
          if (each.fits(term)) expect(term.startsWith(each.root)).toBe(true);
        }
      }),
      {
        examples: [
          ['jy', 'ies'],
          ['bies', ''],
        ],
      },
    );
  });
});

describe('snippetOf', () => {
  const far = `${'Nothing of note here. '.repeat(30)}Then the ferry left\nat noon from the harbour. ${'And more. '.repeat(30)}`;

  it('shows where the words stand, on one line', () => {
    const { snippet, matches } = createSnippet(parseQuery('ferry noon'), far, 120);
    expect(snippet).toMatch(/^….*ferry left at noon.*…$/);
    expect(matches.map(([start, end]) => snippet.slice(start, end))).toEqual(['ferry', 'noon']);
    expect(snippet.length).toBeLessThanOrEqual(122);
  });

  it('shows the beginning where nothing stands', () => {
    expect(createSnippet(parseQuery('zebra'), far, 30)).toEqual({ snippet: 'Nothing of note here. Nothing…', matches: [] });
    expect(createSnippet(parseQuery('zebra'), 'Short', 30)).toEqual({ snippet: 'Short', matches: [] });
  });

  it('marks touching pairs as one', () => {
    expect(findSpans(parseQuery('京都タワー'), '今日は京都タワーへ')).toEqual([[3, 8]]);
  });
});
