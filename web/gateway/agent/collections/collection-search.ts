import type { PassageLocator } from '#shared/rpc/passage.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { fuseRanks } from '../../knowledge/collections/fuse-ranks.ts';
import type { PassagePlace } from '../../knowledge/collections/segment.ts';
import { parseQuery } from '../../knowledge/search/search-query.ts';
import { findSpans } from '../../knowledge/search/snippet.ts';
import type {
  CollectionDocumentRecord,
  CollectionRecord,
  CollectionTextRecord,
  DocumentTextInfo,
} from '../../storage/records/collection-records.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { CollectionDocuments } from './collection-documents.ts';
import type { CollectionIndexes } from './collection-indexes.ts';
import type { CollectionVectors } from './collection-vectors.ts';
import { type CollectionPassage, getPassage, PART_CHARS, toPassageId, toPassageText } from './document-texts.ts';

/** Passages of each ranking that are fused. */
const FUSED = 60;

export interface FoundPassages {
  passages: (CollectionPassage & { collectionName: string; score: number; matches: [number, number][] })[];
  /** Whether meaning was compared too. */
  semantic: boolean;
}

/** A part of a document's text. */
export interface ReadText {
  text: string;
  offset: number;
  next: number | null;
  passages: { number: number; locator: PassageLocator; text: string }[];
}

export interface ReadOptions {
  offset: number;
  limit: number;
  page?: number | undefined;
  heading?: string | undefined;
}

interface CollectionSearchDeps {
  vault: Pick<Vault, 'documents'>;
  documents: CollectionDocuments;
  indexes: CollectionIndexes;
  vectors: CollectionVectors;
}

/** Finds and reads passages. */
export class CollectionSearch {
  readonly #deps: CollectionSearchDeps;

  constructor(deps: CollectionSearchDeps) {
    this.#deps = deps;
  }

  /**
   * The best passages of collections, by words and, if they have an embedding model, by meaning. `isWanted`: only passages of such
   * documents.
   */
  async find(
    query: string,
    collections: readonly CollectionRecord[],
    limit: number,
    signal: AbortSignal,
    isWanted?: (document: CollectionDocumentRecord) => boolean,
  ): Promise<FoundPassages> {
    const { indexes, vectors } = this.#deps;
    const ids = collections.map(({ id }) => id);
    const hasVectors = collections.some(({ embeddingModel }) => embeddingModel !== null);
    const textIds = isWanted && (await this.#findTexts(ids, isWanted));
    const candidates = hasVectors ? Math.max(FUSED, limit) : limit;
    const [byWords, similar] = await Promise.all([
      indexes.search(query, ids, candidates, textIds),
      // Vectors are filtered afterwards, so that all are needed.
      hasVectors ? vectors.search(query, collections, textIds ? Infinity : candidates, signal) : [],
    ]);
    const byMeaning = textIds ? similar.filter(({ textId }) => textIds.has(textId)).slice(0, candidates) : similar;
    const places = new Map<string, PassagePlace & { collectionId: string }>();
    for (const hit of byWords) places.set(toPassageId(hit.textId, hit.number), hit);
    const alike = byMeaning.flatMap(({ collectionId, textId, number }) => {
      const id = toPassageId(textId, number);
      const place = places.get(id) ?? indexes.findPlace(collectionId, textId, number);
      if (!place) return [];
      places.set(id, { ...place, collectionId });
      return [id];
    });
    const words = byWords.map(({ textId, number, score }) => ({ id: toPassageId(textId, number), score }));
    const best = words[0]?.score ?? 1;
    const ranked =
      alike.length > 0
        ? fuseRanks([words.map(({ id }) => id), alike])
        : words.map(({ id, score }) => ({ id, score: Math.min(1, score / best) }));
    const names = new Map(collections.map(({ id, name }) => [id, name]));
    const parsed = parseQuery(query);
    const passages = await Promise.all(
      ranked.slice(0, limit).map(async ({ id, score }) => {
        const place = places.get(id);
        const passage = place && (await this.#readPassage(place));
        return (
          passage && { ...passage, collectionName: names.get(passage.collectionId) ?? '', score, matches: findSpans(parsed, passage.text) }
        );
      }),
    );
    return { passages: passages.filter((passage) => passage !== undefined), semantic: alike.length > 0 };
  }

  /** Reads a part of a document's text. Throws `NOT_FOUND` if it has no text, or not that page or heading. */
  async read({ title, text }: CollectionDocumentRecord, options: ReadOptions): Promise<ReadText> {
    if (!text) throw new RpcError('NOT_FOUND', `“${title}” has no text that could be read.`);
    const offset = await this.#findOffset(title, text, options);
    const end = Math.min(text.length, offset + options.limit);
    const read: ReadText = { text: '', offset, next: end < text.length ? end : null, passages: [] };
    for (let number = await this.#findPart(text, offset); number < text.parts; number++) {
      const part = await this.#getPart(text, number);
      if (part.start >= end) break;
      read.text += part.text.slice(Math.max(0, offset - part.start), end - part.start);
      for (const [index, passage] of part.passages.entries()) {
        if (passage.locator.end <= offset || passage.locator.start >= end) continue;
        read.passages.push({ number: part.first + index, locator: passage.locator, text: toPassageText(part, passage) });
      }
    }
    return read;
  }

  /** Computes missing vectors. */
  async embed(collection: CollectionRecord, signal: AbortSignal): Promise<void> {
    const texts = [...this.#deps.documents.list(collection.id)].flatMap(({ text }) => text ?? []);
    const byId = new Map(texts.map((text) => [text.id, text]));
    await this.#deps.vectors.embed(
      collection,
      texts,
      async (textId) => {
        const text = byId.get(textId);
        const parts = text ? await Promise.all(Array.from({ length: text.parts }, (_, part) => this.#getPart(text, part))) : [];
        return parts.flatMap((part) => part.passages.map((passage) => toPassageText(part, passage)));
      },
      signal,
    );
  }

  forget(collectionId: string): void {
    this.#deps.vectors.forget(collectionId);
  }

  /** IDs of the texts of the wanted documents. */
  async #findTexts(ids: readonly string[], isWanted: (document: CollectionDocumentRecord) => boolean): Promise<Set<string>> {
    const documents = await Promise.all(ids.map((id) => this.#deps.documents.load(id)));
    return new Set(
      documents.flatMap((each) => [...each.values()].flatMap((document) => (document.text && isWanted(document) ? document.text.id : []))),
    );
  }

  async #readPassage(place: PassagePlace & { collectionId: string }): Promise<CollectionPassage | undefined> {
    const { documentId, textId, number, collectionId } = place;
    const document = this.#deps.documents.peek(documentId);
    const [part] = await (await this.#deps.vault.documents()).getParts(textId, [place.part]);
    const passage = part && getPassage(part, number);
    if (!document || !passage) return undefined;
    return {
      ...{ id: toPassageId(documentId, number), kind: 'passage', title: document.title, text: passage.text },
      ...(document.url === undefined ? {} : { url: document.url }),
      ...{ collectionId, documentId, path: document.path, locator: passage.locator },
    };
  }

  async #findOffset(title: string, text: DocumentTextInfo, { offset, page, heading }: ReadOptions): Promise<number> {
    if (page === undefined && heading === undefined) {
      if (offset > text.length) throw new RpcError('INVALID_PARAMS', `“${title}” has ${text.length} characters.`);
      return offset;
    }
    const wanted = heading === undefined ? undefined : toHeading(heading);
    for (let number = 0; number < text.parts; number++) {
      const part = await this.#getPart(text, number);
      // Short sections share a passage, which has the heading above all of them.
      const line = page === undefined && wanted !== undefined ? findHeadingLine(part.text, wanted) : -1;
      if (line !== -1) return part.start + line;
      for (const { locator } of part.passages) {
        const isPage = page === undefined || locator.page === page;
        if (isPage && (wanted === undefined || locator.headings?.some((each) => toHeading(each) === wanted))) return locator.start;
      }
    }
    const place = page === undefined ? `heading “${heading ?? ''}”` : `page ${page} with text`;
    throw new RpcError('NOT_FOUND', `“${title}” has no ${place}.`);
  }

  /** The part that has an offset. Each part but the last has at least `PART_CHARS` characters. */
  async #findPart(text: DocumentTextInfo, offset: number): Promise<number> {
    let number = Math.min(text.parts - 1, Math.floor(offset / PART_CHARS));
    while (number > 0 && (await this.#getPart(text, number)).start > offset) number--;
    return number;
  }

  async #getPart(text: DocumentTextInfo, number: number): Promise<CollectionTextRecord> {
    const [part] = await (await this.#deps.vault.documents()).getParts(text.id, [number]);
    if (!part) throw new RpcError('NOT_FOUND', 'The text of the document has not arrived on this device yet. Try again later.');
    return part;
  }
}

const toHeading = (text: string): string =>
  text
    .replace(/^#+\s+/, '')
    .trim()
    .toLowerCase();

/** Start of the first line that is this heading; -1 if there is none. */
function findHeadingLine(text: string, wanted: string): number {
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    if (end - start < MAX_HEADING_CHARS && toHeading(text.slice(start, end)) === wanted) return start;
    start = end + 1;
  }
  return -1;
}

const MAX_HEADING_CHARS = 600;
