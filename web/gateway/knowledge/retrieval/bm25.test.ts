import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Bm25 } from './bm25.ts';
import { stem, tokenize } from './tokenize.ts';

const ids = (index: Bm25<string>, query: string): string[] => index.search(query).map((hit) => hit.doc);

describe('tokenize', () => {
  it('folds case and width, drops stop words, and parts identifiers', () => {
    expect(tokenize('The ＡＰＩ of chat.send')).toEqual(['api', 'chat', 'send']);
  });

  it('brings the forms of an English word together', () => {
    for (const forms of [
      ['model', 'models', "model's"],
      ['store', 'stored', 'stores', 'storing'],
      ['add', 'adds', 'added', 'adding'],
      ['memory', 'memories'],
      ['stop', 'stopped', 'stopping'],
      ['install', 'installed', 'installing'],
      ['key', 'keys'],
    ]) {
      expect(new Set(forms.flatMap(tokenize)).size, forms.join()).toBe(1);
    }
  });

  it('takes a time that grows with the text alone, where it is one word too', () => {
    for (const word of ['a', 'ation']) expect(tokenize(word.repeat(100_000))).toHaveLength(1);
  });

  it('leaves short and foreign words alone', () => {
    expect(['bus', 'größe', 'x1s', 'string'].map(stem)).toEqual(['bus', 'größe', 'x1s', 'string']);
  });

  it('parts scripts without spaces', () => {
    expect(tokenize('東京タワー v2')).toEqual(['東京', '京タ', 'タワ', 'ワー', 'v2']);
    expect(tokenize('ภาษาไทย').length).toBeGreaterThan(1);
  });
});

describe('Bm25', () => {
  it('puts rare terms and fuller matches first', () => {
    const index = Bm25.create(['the red house', 'a red car and a red bike', 'a blue house', 'green tea'], (doc) => doc);
    expect(ids(index, 'red house')[0]).toBe('the red house');
    expect(ids(index, 'tea')).toEqual(['green tea']);
    expect(ids(index, 'zebra')).toEqual([]);
  });

  it('tells how much of the query a document covers', () => {
    const index = Bm25.create(['red house', 'blue sky'], (doc) => doc);
    expect(index.search('red house')[0]?.coverage).toBe(1);
    expect(index.search('red zebra quagga')[0]?.coverage).toBeLessThan(0.35);
  });

  it('weighs fields', () => {
    const docs = [
      { title: 'Tea', body: 'about coffee' },
      { title: 'Coffee', body: 'about tea' },
    ];
    const index = Bm25.create(docs, ({ title, body }) => [{ text: title, weight: 3 }, { text: body }]);
    expect(index.search('coffee')[0]?.doc.title).toBe('Coffee');
  });

  it('finds Chinese and Japanese', () => {
    expect(
      ids(
        Bm25.create(['我喜欢喝绿茶', '今天天气很好'], (doc) => doc),
        '绿茶',
      ),
    ).toEqual(['我喜欢喝绿茶']);
  });

  it('finds every document by its own words, ranks by falling score, and takes any query', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 20 }), fc.string({ unit: 'grapheme' }), (docs, query) => {
        const index = Bm25.create(
          docs.map((doc, i) => ({ doc, i })),
          ({ doc }) => doc,
        );
        const hits = index.search(query, 100);
        expect(hits.every((hit, i) => i === 0 || hit.score <= (hits[i - 1]?.score ?? 0))).toBe(true);
        expect(hits.every((hit) => hit.coverage > 0 && hit.coverage <= 1 + 1e-9)).toBe(true);
        docs.forEach((doc, i) => {
          if (tokenize(doc).length > 0) expect(index.search(doc, 100).some((hit) => hit.doc.i === i)).toBe(true);
        });
      }),
      { numRuns: 200 },
    );
  });

  it('knows only names that were added', () => {
    expect(
      ids(
        Bm25.create(['a tree'], (doc) => doc),
        'constructor __proto__',
      ),
    ).toEqual([]);
  });
});
