import { expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { MemorySearch } from './memory-search.ts';
import { MIN_FIT } from './min-fit.ts';

const DAY = 86_400_000;

const LINES: readonly (readonly [speaker: string, text: string])[] = [
  ['Bo', 'What do you play in the evenings?'],
  ['Ada', 'I play the violin with my neighbours every Monday evening'],
  ['Bo', 'How is the new job at the harbour?'],
  ['Ada', 'The harbour is cold, and I count containers all night'],
  ['Bo', 'We painted the kitchen yellow last week'],
  ['Ada', 'My grandmother taught me to bake bread with rye'],
  ['Bo', 'The ferry was late again and I missed the meeting'],
  ['Ada', 'Two of the hens ran away to the church garden'],
];

verifies('memory.search/fit', 'an answered question fits, and one about something else does not', () => {
  const search = new MemorySearch();
  for (const [nth, [speaker, text]] of LINES.entries())
    search.add({ id: `${nth}`, thread: `${nth >> 1}`, text, speaker, at: (nth >> 1) * 30 * DAY });
  const getFit = (query: string): number => {
    const found = search.search(query, { now: 200 * DAY });
    expect(new Set(found.map(({ fit }) => fit)).size).toBeLessThanOrEqual(1);
    return found[0]?.fit ?? 0;
  };
  for (const answered of ['What does Ada play in the evenings?', 'Who taught Ada to bake bread?', 'Where did the hens of Ada run away to?'])
    expect([answered, getFit(answered) >= MIN_FIT]).toEqual([answered, true]);
  for (const unknown of ['Which university did Ada attend as a student?', 'Who is the dentist of Bo?', 'What does Bo think of opera?'])
    expect([unknown, getFit(unknown) < MIN_FIT]).toEqual([unknown, true]);
});
