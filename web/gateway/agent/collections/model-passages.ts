import type { CitableSource, PassageLocator } from '#shared/rpc/passage.ts';
import { UNTRUSTED_NOTE } from '../tools/office-tools.ts';
import type { FoundPassages } from './collection-search.ts';

export const CITE_NOTE = 'Cite a passage by its number in brackets right after each claim that it supports, such as [3].';
/** Note of a result with passages. */
export const PASSAGES_NOTE = `${UNTRUSTED_NOTE} ${CITE_NOTE}`;

/** Numbers sources to be cited; undefined in a run that cannot cite. */
type CiteSources = (sources: readonly CitableSource[]) => readonly (number | undefined)[];

/** Describes the place of a passage for models: `page 3, Methods › Sampling`. */
function describePlace({ page, sheet, headings, line, time }: PassageLocator): string {
  const parts = [
    page === undefined ? undefined : `page ${page}`,
    sheet === undefined ? undefined : `sheet ${sheet}`,
    headings && headings.length > 0 ? headings.join(' › ') : undefined,
    line === undefined ? undefined : `line ${line}`,
    time === undefined ? undefined : `${Math.floor(time / 60)}:${String(Math.floor(time % 60)).padStart(2, '0')}`,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

/** A passage as a model gets it. */
export function toModelPassage(ref: number | undefined, { id, locator, text }: CitableSource): Record<string, unknown> {
  const place = locator ? describePlace(locator) : '';
  return { ...(ref === undefined ? { id } : { ref }), ...(place === '' ? {} : { place }), text };
}

/** The result of a search as a model gets it. */
export function toModelPassages(
  { passages, incomplete }: Pick<FoundPassages, 'passages'> & { incomplete: boolean },
  cite: CiteSources,
): Record<string, unknown> {
  const sources = passages.map(({ collectionName: _, score: _score, matches: _matches, ...passage }): CitableSource => passage);
  const refs = cite(sources);
  return {
    note: PASSAGES_NOTE,
    passages: passages.map(({ title, documentId, path }, index) => {
      const passage = sources[index];
      return { document: documentId, title, ...(path === title ? {} : { path }), ...(passage ? toModelPassage(refs[index], passage) : {}) };
    }),
    ...(incomplete ? { incomplete: 'Some documents are not indexed yet.' } : {}),
  };
}
