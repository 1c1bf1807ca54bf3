import type { CollectionDocumentRecord } from '../../storage/records/collection-records.ts';

export interface DocumentFilter {
  status?: string | undefined;
  /** Part of the path or title. */
  query?: string | undefined;
  sourceId?: string | undefined;
}

/** The documents that match, by path. */
export function findDocuments(
  documents: Iterable<CollectionDocumentRecord>,
  { status, query, sourceId }: DocumentFilter,
): CollectionDocumentRecord[] {
  const text = query?.trim().toLowerCase() ?? '';
  return [...documents]
    .filter(
      (document) =>
        (status === undefined || document.status === status) &&
        (sourceId === undefined || document.sourceId === sourceId) &&
        (text === '' || document.path.toLowerCase().includes(text) || document.title.toLowerCase().includes(text)),
    )
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : (a.offset ?? 0) - (b.offset ?? 0)));
}

/** The document with an ID, a path or a title; an ID may be followed by `#` and a passage's number. */
export function findDocumentByName(
  documents: ReadonlyMap<string, CollectionDocumentRecord>,
  wanted: string,
): CollectionDocumentRecord | undefined {
  const name = wanted.trim().toLowerCase();
  return (
    documents.get(wanted.split('#', 1)[0] ?? '') ??
    [...documents.values()].find(({ path }) => path.toLowerCase() === name) ??
    [...documents.values()].find(({ title }) => title.toLowerCase() === name)
  );
}
