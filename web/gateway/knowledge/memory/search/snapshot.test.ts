import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { Columns } from '../../search/columns/columns.ts';
import { computeContentId } from '../content-id.ts';
import { LANGUAGES } from '../../search/text/languages.ts';
import { getAnalysisVersion } from './analysis.ts';
import { MemorySearch } from './memory-search.ts';
import type { Passage } from './passage.ts';

const NOW = Date.UTC(2024, 11, 20);
const DAY = 86_400_000;
const ABOUT = 'test';
const breath = (): TimeSlicer => new TimeSlicer(new AbortController().signal);

async function bytesOf(search: MemorySearch): Promise<Uint8Array<ArrayBuffer>> {
  const columns = new Columns();
  await search.write(columns, breath());
  return columns.toBytes(ABOUT);
}

async function restarted(search: MemorySearch): Promise<MemorySearch> {
  return new MemorySearch(await Columns.fromBytes(await bytesOf(search), ABOUT));
}

const QUERIES = ['Where was the blue kayak?', 'Wann kam Ana?', 'photograph', 'last March', 'How much did she pay?', 'ana', '京都', 'the', 'zebra quagga', '']; // prettier-ignore
const all = (search: MemorySearch) => QUERIES.map((query) => search.search(query, { limit: 1000, now: NOW }));

const WORDS = 'the a is was not kayak kayaks blue barn Ana photograph photography photographs paid $5 March yesterday because why? married wed ich und nicht das Wohnung Wohnungen 京都タワー 绿茶 İ \ud800 … '; // prettier-ignore
const text = fc.array(fc.constantFrom(...WORDS.split(' '), '__proto__'), { maxLength: 9 }).map((words) => words.join(' '));
const passage: fc.Arbitrary<Passage> = fc.record({
  id: fc.constantFrom(...'abcdefghijklmnop', '__proto__', 'ж'),
  thread: fc.constantFrom('a', 'b', 'ж', 'toString'),
  text,
  at: fc.option(fc.integer({ min: 0, max: 400 }).map((days) => NOW - days * DAY)),
  speaker: fc.option(fc.constantFrom('Ana', 'ben Ó', 'user', ''), { nil: undefined }),
});
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ add: passage }) },
  { weight: 2, arbitrary: passage.map(({ id }) => ({ remove: id })) },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
);

describe('a MemorySearch of a snapshot', () => {
  verifies('memory.index/snapshot', 'finds the very same, whatever was added and removed, and whenever it was made', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        let restored = new MemorySearch();
        const lasting = new MemorySearch();
        for (const each of steps) {
          if (each === 'restart') restored = await restarted(restored);
          else
            for (const search of [restored, lasting]) {
              if ('add' in each) search.add(each.add);
              else search.remove(each.remove);
            }
        }
        expect(all(restored)).toEqual(all(lasting));
        const last = await restarted(restored);
        expect(all(last)).toEqual(all(lasting));
        expect([last.size, last.has('a'), last.get('b')]).toEqual([lasting.size, lasting.has('a'), lasting.get('b')]);
        expect(await bytesOf(last)).toEqual(await bytesOf(await restarted(last)));
      }),
      { numRuns: 300 },
    ),
  );

  verifies('memory.index/snapshot', 'equals a newly built index, in the same order', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        let search = new MemorySearch();
        const there = new Map<string, Passage>();
        for (const each of steps) {
          if (each === 'restart') search = await restarted(search);
          else if ('add' in each) {
            // Makes all texts one language: detection depends on the texts before.
            const english = { ...each.add, text: `the was she of ${each.add.text.replaceAll(/\b(ich|und|nicht|das)\b/g, '')}` };
            search.add(english);
            there.delete(english.id);
            there.set(english.id, english);
          } else {
            search.remove(each.remove);
            there.delete(each.remove);
          }
        }
        const anew = new MemorySearch();
        for (const each of there.values()) anew.add(each);
        expect(all(search)).toEqual(all(anew));
      }),
      { numRuns: 200 },
    ),
  );

  verifies('memory.index/snapshot', 'does not know the language of a conversation of which nothing is left', async () => {
    const lasting = new MemorySearch();
    lasting.add({ id: 'a', thread: 'a', text: 'Wir haben die Wohnungen nicht renoviert und das ist gut', at: null });
    lasting.add({ id: 'b', thread: 'b', text: 'She was at the barn and that is all of it', at: null });
    lasting.add({ id: 'c', thread: 'c', text: 'He was at the river and that is all of it', at: null });
    lasting.remove('a');
    const restored = await restarted(lasting);
    for (const search of [lasting, restored]) search.add({ id: 'd', thread: 'a', text: 'Running shoes', at: null });
    for (const search of [lasting, restored]) expect(search.search('run', { now: NOW })).toMatchObject([{ passage: { id: 'd' } }]);
    expect(all(restored)).toEqual(all(lasting));
  });

  verifies('memory.index/snapshot', 'is of one moment, whatever is added and removed while it is written', async () => {
    const search = new MemorySearch();
    for (let nth = 0; nth < 2000; nth++)
      search.add({ id: `${nth}`, thread: `${nth % 50}`, text: `The kayak number ${nth} is blue`, at: NOW });
    const before = all(search);
    const bytes = bytesOf(search);
    search.add({ id: '5', thread: '7', text: 'A blue kayak of another thread', at: NOW, speaker: 'Ana' });
    search.add({ id: 'new', thread: 'new', text: 'A zebra', at: NOW });
    for (let nth = 1000; nth < 1500; nth++) search.remove(`${nth}`);
    const columns = await Columns.fromBytes(await bytes, ABOUT);
    expect(all(new MemorySearch(columns))).toEqual(before);
  });

  verifies('memory.index/damaged', 'is refused where a byte is other than it was, or missing, or of another kind', async () => {
    const search = new MemorySearch();
    for (const [nth, word] of ['kayak', '京都', 'barn'].entries())
      search.add({ id: `${nth}`, thread: 'a', text: word, at: null, speaker: 'Ana' });
    const bytes = await bytesOf(search);
    expect(await Columns.fromBytes(bytes, 'another')).toBeUndefined();
    for (let at = 0; at < bytes.length; at++) {
      const damaged = bytes.slice();
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      expect(await Columns.fromBytes(damaged, ABOUT), `byte ${at}`).toBeUndefined();
      expect(await Columns.fromBytes(bytes.slice(0, at), ABOUT), `${at} bytes`).toBeUndefined();
    }
    // The position in memory does not matter.
    const moved = new Uint8Array(bytes.length + 3);
    moved.set(bytes, 3);
    expect(all(new MemorySearch(await Columns.fromBytes(moved.subarray(3), ABOUT)))).toEqual(all(search));
  });

  verifies('memory.index/damaged', 'has the number of an analysis that makes the same of many texts', async () => {
    const folder = join(import.meta.dirname, '../../../../../tests/bench/conversations');
    const search = new MemorySearch();
    // The segmenter for other scripts depends on the platform; `getAnalysisVersion()` covers that.
    for (const file of ['assistant', 'french', 'friends-1', 'friends-2', 'german', 'museum', 'spanish']) {
      const { name, sessions } = JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8')) as {
        name: string;
        sessions: { date: string; turns: [id: string, speaker: string, text: string][] }[];
      };
      for (const [nth, { date, turns }] of sessions.entries())
        for (const [id, speaker, text] of turns)
          search.add({ id: `${name}${id}`, thread: `${name}${nth}`, text, speaker, at: Date.parse(`${date}Z`) });
    }
    const words = 'nationalities wohnungen habitaciones maisons casas книги красивые κορίτσια kitapların poikien المدرسة könyvek ragazze flickorna'.split(' '); // prettier-ignore
    const stems = LANGUAGES.map(({ name, stem }) => `${name}: ${words.map(stem).join(' ')}`);
    const made = computeContentId([await bytesOf(search), ...stems].join('\n'));
    // If this fails, the analysis of texts has changed: increment ANALYSIS in analysis.ts, so that older indexes are discarded.
    expect([getAnalysisVersion().split('-')[0], made]).toEqual(['2', '415955f4b659e5a0c48d']);
  });
});
