import type { CitableSource, PassageLocator } from '#shared/rpc/passage.ts';
import { type CollectionTextRecord, type StoredPassage, toTextPartId } from '../../storage/records/collection-records.ts';
import type { Passage } from '../../documents/document-reader.ts';

/** Characters after which a new part begins: reading one takes about a millisecond. */
export const PART_CHARS = 64_000;

/** Splits a text into parts for storage, at the starts of passages. Returns the part of each passage, too. */
export function splitText(textId: string, text: string, passages: readonly Passage[]): { parts: CollectionTextRecord[]; partOf: number[] } {
  const groups: { start: number; first: number }[] = [{ start: 0, first: 0 }];
  const partOf = passages.map(({ locator }, number) => {
    const last = groups.at(-1);
    if (last && number > last.first && locator.start - last.start >= PART_CHARS && locator.start > last.start)
      groups.push({ start: locator.start, first: number });
    return groups.length - 1;
  });
  const parts = groups.map(({ start, first }, part): CollectionTextRecord => {
    const next = groups[part + 1];
    const end = next?.start ?? text.length;
    return {
      id: toTextPartId(textId, part),
      start,
      text: text.slice(start, end),
      first,
      passages: passages.slice(first, next?.first).map(({ locator, text: own }): StoredPassage => {
        const isWithin = locator.start >= start && locator.end <= end;
        return isWithin && text.slice(locator.start, locator.end) === own ? { locator } : { locator, text: own };
      }),
    };
  });
  return { parts, partOf };
}

/** A passage of a part, by its number in the document; undefined if another part has it. */
export function getPassage(part: CollectionTextRecord, number: number): { text: string; locator: PassageLocator } | undefined {
  const passage = part.passages[number - part.first];
  return passage && { locator: passage.locator, text: toPassageText(part, passage) };
}

export const toPassageText = ({ start, text }: CollectionTextRecord, { locator, text: own }: StoredPassage): string =>
  own ?? text.slice(locator.start - start, locator.end - start);

/** A passage of a collection's document, as answers cite it. */
export type CollectionPassage = CitableSource & Required<Pick<CitableSource, 'collectionId' | 'documentId' | 'path' | 'locator'>>;

export const toPassageId = (documentId: string, number: number): string => `${documentId}#${number}`;
