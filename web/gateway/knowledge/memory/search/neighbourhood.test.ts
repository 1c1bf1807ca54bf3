import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scoreConcept } from '../../search/concept-scores.ts';
import { MemoryIndex } from './memory-index.ts';
import { createNeighbourWeights, Neighbourhood } from './neighbourhood.ts';
import { PassageRanking } from './rank.ts';
import { WEIGHTS } from './weights.ts';

const WORDS = ['kayak', 'barn', 'pier', 'harbour', 'sail'];
const passage = fc.record({
  thread: fc.constantFrom('a', 'b', 'c'),
  text: fc.array(fc.constantFrom(...WORDS, 'Where?'), { minLength: 1, maxLength: 4 }).map((words) => words.join(' ')),
  isRemoved: fc.boolean(),
});
const passages = fc.array(passage, { minLength: 1, maxLength: 40 });

function createIndex(all: readonly { thread: string; text: string; isRemoved: boolean }[]): MemoryIndex {
  const index = new MemoryIndex();
  for (const [id, { thread, text }] of all.entries()) index.add({ id: `${id}`, thread, text, at: null });
  for (const [id, { isRemoved }] of all.entries()) if (isRemoved) index.remove(`${id}`);
  return index;
}

const getScores = (index: MemoryIndex, word: string) =>
  scoreConcept(index, { word, terms: [{ term: word, weight: 1 }], weight: 1 }, WEIGHTS);

/** The passages up to five steps away in one direction, nearest first. */
function listNeighbours(links: Int32Array, number: number): number[] {
  const found: number[] = [];
  for (let next = links[number] ?? -1; next !== -1 && found.length < 5; next = links[next] ?? -1) found.push(next);
  return found;
}

describe('Neighbourhood', () => {
  it('takes the best of the own and the weighted neighbouring scores of each passage', () =>
    fc.assert(
      fc.property(passages, fc.constantFrom(...WORDS), fc.nat(), (all, word, seed) => {
        const index = createIndex(all);
        const chosen = Array.from(all.keys()).filter((number) => index.hasPassage(number) && (number + seed) % 3 === 0);
        const { scores } = getScores(index, word);
        const around = new Neighbourhood(index, chosen, createNeighbourWeights(WEIGHTS));
        const best = around.computeBest(scores);
        const expected = new Set(
          chosen.flatMap((number) => [number, ...listNeighbours(index.previous, number), ...listNeighbours(index.next, number)]),
        );
        expect(Array.from({ length: around.count }, (_, position) => around.getNumber(position)).sort()).toEqual([...expected].sort());
        for (let position = 0; position < around.count; position++) {
          const number = around.getNumber(position);
          const before = listNeighbours(index.previous, number).map(
            (each, step) => (scores[each] ?? 0) * WEIGHTS.far ** step * (index.asks(each) ? WEIGHTS.answer : WEIGHTS.before),
          );
          const after = listNeighbours(index.next, number).map((each, step) => (scores[each] ?? 0) * WEIGHTS.far ** step * WEIGHTS.after);
          expect(best[position]).toBeCloseTo(Math.max(scores[number] ?? 0, ...before, ...after), 10);
          expect(around.hasNeighbourWithScore(position, scores)).toBe(Math.max(0, ...before, ...after) > 0);
        }
        around.close();
      }),
    ));
});

describe('PassageRanking', () => {
  it('ranks concepts that are added in steps like those added at once', () =>
    fc.assert(
      fc.property(passages, (all) => {
        const index = createIndex(all);
        const concepts = WORDS.map((word) => getScores(index, word));
        const options = { limit: 10, candidates: 4 };
        const atOnce = new PassageRanking(index, { times: [], now: 0 }, WEIGHTS);
        atOnce.add(concepts);
        const inSteps = new PassageRanking(index, { times: [], now: 0 }, WEIGHTS);
        for (const concept of concepts) {
          inSteps.add([concept]);
          inSteps.getBest(options);
        }
        expect(inSteps.getBest(options)).toEqual(atOnce.getBest(options));
        inSteps.close();
        atOnce.close();
        // All buffers came back empty.
        for (let taken = 0; taken < 24; taken++) expect(index.scratch.take(index.end).scores.every((score) => score === 0)).toBe(true);
      }),
    ));
});
