import { expect, it } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { MemorySearch } from './memory-search.ts';

/** Adds each line as a conversation of its own, after lines about other things. */
function remember(lines: readonly string[]): MemorySearch {
  const search = new MemorySearch();
  const others = ['We repaired the roof', 'Lunch was late again', 'The train to town is slow', 'Rain all day', 'I bought a lamp'];
  for (const [nth, text] of [...others, ...lines].entries()) search.add({ id: text, thread: `${nth}`, text, at: nth * 86_400_000 });
  return search;
}

/** Texts of the best results. */
const find = (search: MemorySearch, query: string): string[] =>
  search.search(query, { now: 400 * 86_400_000 }).map(({ passage }) => passage.text);

verifies('memory.search/alias', 'finds by name whom a passage introduces', () => {
  for (const [introduction, fact, question] of [
    ['My sister Anna came by', 'Anna lives in Porto now', 'Where does my sister live?'],
    ['Anna is my older sister', 'Anna lives in Porto now', 'Where does my sister live?'],
    ['our dog is called Rusty', 'Rusty sleeps on the stairs', 'Where does the dog sleep?'],
    ['Meine Schwester Anna war da', 'Anna wohnt jetzt in Porto', 'Wo wohnt meine Schwester?'],
  ] as const) {
    const others = ['Ben lives in Turin and sleeps late', 'Ben wohnt in Turin', 'Ben lives well', 'Cleo sleeps here'];
    expect(find(remember([introduction, fact, ...others]), question).slice(0, 2)).toContain(fact);
    expect(find(remember([fact, ...others]), question)[0]).not.toBe(fact);
  }
});

it('takes no other capitalized word for a name', () => {
  const search = remember(['my sister came by. Porto is nice', 'I saw my sister on the way', 'Porto has bridges']);
  expect(find(search, 'Who is my sister?')).not.toContain('Porto has bridges');
});
