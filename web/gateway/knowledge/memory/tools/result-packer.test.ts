import { expect, it } from 'vitest';
import type { FoundMemory } from '../found-memory.ts';
import { ResultPacker } from './result-packer.ts';

const TURNS = ['Which book?', 'Dune, on the train.', 'And then?', 'I rode past my stop.', 'Ha!'];

const toNeighbour = (text: string | undefined) => (text === undefined ? null : { text, speaker: 'user' });
const toFound = (nth: number, path = 'dialog/2026-05-08.jsonl'): FoundMemory => ({
  id: `${path}#${nth}`,
  kind: 'message',
  path,
  lines: String(nth),
  text: TURNS[nth] ?? '',
  speaker: 'user',
  at: null,
  score: 1,
  coverage: 1,
  fit: 1,
  why: { words: [], beside: [], timely: false },
  before: toNeighbour(TURNS[nth - 1]),
  after: toNeighbour(TURNS[nth + 1]),
});

it('leaves out turns that stand before or after a better one, and names them', () => {
  const packer = new ResultPacker(3);
  const results = [toFound(1), toFound(0), toFound(2), toFound(3), toFound(1, 'dialog/2026-05-09.jsonl'), toFound(4)];
  expect(results.filter((found) => packer.accepts(found)).map(({ id }) => id)).toEqual([
    'dialog/2026-05-08.jsonl#1',
    'dialog/2026-05-08.jsonl#3',
    'dialog/2026-05-09.jsonl#1',
  ]);
  // The last one is beyond the limit and was not seen at all.
  expect(packer.leftOut.map(({ lines }) => lines)).toEqual(['0', '2']);
});
