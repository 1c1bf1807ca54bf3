import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextIndex } from './text-index.ts';
import { stem } from './search-query.ts';
import { extractTerms } from './text/extract-terms.ts';

const ids = (index: TextIndex<string>, query: string): string[] => index.search(query).map((hit) => hit.doc);

describe('the terms of a text', () => {
  it('folds case and width, drops stop words, and parts identifiers', () => {
    expect(extractTerms('The ＡＰＩ of chat.send')).toEqual(['api', 'chat', 'send']);
  });

  it('brings the forms of an English word together', () => {
    for (const forms of [
      ['model', 'models', "model's"],
      ['store', 'stored', 'stores', 'storing'],
      ['work', 'works', 'worked', 'working'],
      ['memory', 'memories'],
      ['stop', 'stopped', 'stopping'],
      ['install', 'installed', 'installing'],
      ['key', 'keys'],
    ]) {
      expect(new Set(forms.flatMap((form) => extractTerms(form))).size, forms.join()).toBe(1);
    }
  });

  it('takes a time that grows with the text alone, where it is one word too', () => {
    for (const word of ['a', 'ation']) expect(extractTerms(word.repeat(100_000))).toHaveLength(1);
  });

  it('leaves short and foreign words alone', () => {
    expect(['bus', 'größe', 'x1s', 'string'].map(stem)).toEqual(['bus', 'größe', 'x1s', 'string']);
  });

  it('parts scripts without spaces', () => {
    expect(extractTerms('東京タワー v2')).toEqual(['東京タワー', '東京', '京タ', 'タワ', 'ワー', 'v2']);
    expect(extractTerms('ภาษาไทย').length).toBeGreaterThan(1);
  });
});

describe('TextIndex', () => {
  it('puts rare terms and fuller matches first', () => {
    const index = TextIndex.create(['the red house', 'a red car and a red bike', 'a blue house', 'green tea'], (doc) => doc);
    expect(ids(index, 'red house')[0]).toBe('the red house');
    expect(ids(index, 'tea')).toEqual(['green tea']);
    expect(ids(index, 'zebra')).toEqual([]);
  });

  it('tells how much of the query a document covers', () => {
    const index = TextIndex.create(['red house', 'blue sky'], (doc) => doc);
    expect(index.search('red house')[0]?.coverage).toBe(1);
    expect(index.search('red zebra quagga')[0]?.coverage).toBeLessThan(0.35);
  });

  it('weighs fields', () => {
    const docs = [
      { title: 'Tea', body: 'about coffee' },
      { title: 'Coffee', body: 'about tea' },
    ];
    const index = TextIndex.create(docs, ({ title, body }) => [{ text: title, weight: 3 }, { text: body }]);
    expect(index.search('coffee')[0]?.doc.title).toBe('Coffee');
  });

  it('finds the forms of a word in other languages', () => {
    const docs = ['Die Sicherung der Häuser wird jeden Tag gemacht, und sie ist klein', 'The house is locked at night'];
    const index = TextIndex.create(docs, (doc) => doc);
    expect(ids(index, 'Sicherungen')).toEqual([docs[0]]);
    expect(ids(index, 'hauser')).toEqual([docs[0]]);
    expect(ids(index, 'locking houses')).toEqual([docs[1]]);
  });

  it('ignores words that any text has, unless there are no others', () => {
    const docs = ['how to do it', 'cells divide'];
    const index = TextIndex.create(docs, (doc) => doc);
    expect(ids(index, 'how do cells divide')).toEqual([docs[1]]);
    expect(ids(index, 'how')).toEqual([docs[0]]);
  });

  it('finds Chinese and Japanese', () => {
    expect(
      ids(
        TextIndex.create(['我喜欢喝绿茶', '今天天气很好'], (doc) => doc),
        '绿茶',
      ),
    ).toEqual(['我喜欢喝绿茶']);
  });

  it('finds every document by its own words, ranks by falling score, and takes any query', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 20 }), fc.string({ unit: 'grapheme' }), (docs, query) => {
        const index = TextIndex.create(
          docs.map((doc, i) => ({ doc, i })),
          ({ doc }) => doc,
        );
        const hits = index.search(query, 100);
        expect(hits.every((hit, i) => i === 0 || hit.score <= (hits[i - 1]?.score ?? 0))).toBe(true);
        expect(hits.every((hit) => hit.coverage > 0 && hit.coverage <= 1 + 1e-9)).toBe(true);
        docs.forEach((doc, i) => {
          if (extractTerms(doc).length > 0) expect(index.search(doc, 100).some((hit) => hit.doc.i === i)).toBe(true);
        });
      }),
      { numRuns: 200 },
    );
  });

  it('knows only names that were added', () => {
    expect(
      ids(
        TextIndex.create(['a tree'], (doc) => doc),
        'constructor __proto__',
      ),
    ).toEqual([]);
  });
});
