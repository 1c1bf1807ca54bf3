import { TimeSlicer } from '#shared/async/time-slicer.ts';
import type { Clock } from '#shared/async/clock.ts';
import { COLLECTION_LIMITS } from '#shared/rpc/methods/collection-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { decodeText } from '../../documents/plain-text.ts';
import type { CollectionDocumentRecord, CollectionRecord, StoredSource } from '../../storage/records/collection-records.ts';
import { isBridgeMissing, toSentence } from './collection-errors.ts';
import type { CollectionDocuments } from './collection-documents.ts';
import type { CollectionIndexes } from './collection-indexes.ts';
import type { CrawlRules } from './crawl-rules.ts';
import { findPageLinks, normalizePageUrl } from './page-links.ts';
import { isDiskSource, type ReadFile, type SourceFile, type SourceFiles } from './source-files.ts';
import { BATCH_SIZE, createDocument, deleteDocuments } from './document-changes.ts';

/** Indexing of a collection that finds documents. */
export interface Listing {
  signal: AbortSignal;
  /** Pages that were reached, by source. */
  crawls: Map<string, Set<string>>;
  /** Rules of sites about following links. */
  rules: CrawlRules;
  /** Adds documents to those that wait to be read. */
  enqueue(documents: readonly CollectionDocumentRecord[]): void;
}

interface SourceListerDeps {
  clock: Clock;
  documents: CollectionDocuments;
  indexes: CollectionIndexes;
  sources: SourceFiles;
  /** Strict. */
  updateCollection(id: string, change: (record: CollectionRecord) => CollectionRecord): Promise<void>;
}

/** A document of a collection that has been read. */
interface ReadPage {
  collection: CollectionRecord;
  document: CollectionDocumentRecord;
  file: ReadFile;
  bytes: Uint8Array;
}

/** Finds the documents of sources: files on the bridge's disk, messages, and pages that a crawl reaches. */
export class SourceLister {
  readonly #deps: SourceListerDeps;

  constructor(deps: SourceListerDeps) {
    this.#deps = deps;
  }

  /** Compares the files of a source with its documents: new and changed ones wait to be read, missing ones are removed. */
  async list(collectionId: string, source: StoredSource, listing: Listing): Promise<void> {
    const { documents, sources, updateCollection, clock } = this.#deps;
    const { signal } = listing;
    let problem: string | null = null;
    try {
      sources.require(source);
      if (isDiskSource(source)) {
        const root = await sources.prepare(source, signal);
        if (root !== source.root) {
          await updateCollection(collectionId, (record) => withSource(record, source.id, { root }));
        }
        problem = await this.#diff(collectionId, source.id, sources.list(source, root, signal), signal);
      } else problem = await this.#startCrawl(collectionId, source, listing);
    } catch (error) {
      if (signal.aborted || isBridgeMissing(error) || !(error instanceof RpcError)) throw error;
      problem = toSentence(error);
    }
    await updateCollection(collectionId, (record) => withSource(record, source.id, { checkedAt: clock.now(), problem }));
    listing.enqueue([...documents.list(collectionId)].filter(({ status, sourceId }) => status === 'waiting' && sourceId === source.id));
  }

  /** Returns a problem as a sentence, or null. */
  async #diff(
    collectionId: string,
    sourceId: string,
    pages: AsyncIterable<readonly SourceFile[]>,
    signal: AbortSignal,
  ): Promise<string | null> {
    const { documents } = this.#deps;
    const missing = new Map<string, CollectionDocumentRecord>();
    for (const document of documents.list(collectionId)) if (document.sourceId === sourceId) missing.set(toFileKey(document), document);
    let free = COLLECTION_LIMITS.documents - [...documents.list(collectionId)].length;
    const changed: CollectionDocumentRecord[] = [];
    let refused = 0;
    for await (const page of pages) {
      for (const file of page) {
        const key = toFileKey(file);
        const known = missing.get(key);
        missing.delete(key);
        if (known) {
          const isSame = known.size === file.size && known.modifiedAt === file.modifiedAt;
          if (!isSame) changed.push({ ...known, size: file.size, modifiedAt: file.modifiedAt, status: 'waiting' });
        } else if (free-- > 0) changed.push(createDocument(collectionId, sourceId, file, this.#deps.clock.now()));
        else refused++;
      }
      while (changed.length >= BATCH_SIZE) await documents.write({ put: changed.splice(0, BATCH_SIZE) });
      signal.throwIfAborted();
    }
    await documents.write({ put: changed.splice(0) });
    await deleteDocuments(this.#deps, collectionId, [...missing.values()]);
    return refused > 0
      ? `${refused} ${refused === 1 ? 'file was' : 'files were'} left out: a collection can have ${COLLECTION_LIMITS.documents} documents.`
      : null;
  }

  async #startCrawl(collectionId: string, source: Extract<StoredSource, { kind: 'web' }>, listing: Listing): Promise<string | null> {
    listing.crawls.set(source.id, new Set());
    const urls = source.urls.flatMap((url) => normalizePageUrl(url) ?? []);
    return this.#visit(collectionId, source, urls, 0, listing);
  }

  /** Adds pages that a crawl has reached. */
  async #visit(
    collectionId: string,
    source: Extract<StoredSource, { kind: 'web' }>,
    urls: readonly string[],
    depth: number,
    listing: Listing,
  ): Promise<string | null> {
    const visited = listing.crawls.get(source.id);
    if (!visited) return null;
    const { documents } = this.#deps;
    const known = new Map<string, CollectionDocumentRecord>();
    let count = 0;
    for (const document of documents.list(collectionId)) {
      count++;
      if (document.sourceId === source.id) known.set(document.path, document);
    }
    const put: CollectionDocumentRecord[] = [];
    for (const url of urls) {
      if (visited.has(url) || visited.size >= source.maxPages) continue;
      const before = known.get(url);
      if (!before && count++ >= COLLECTION_LIMITS.documents) return `A collection can have ${COLLECTION_LIMITS.documents} documents.`;
      visited.add(url);
      const page = before ?? createDocument(collectionId, source.id, { path: url, url, size: 0, modifiedAt: null }, this.#deps.clock.now());
      put.push({ ...page, status: 'waiting', depth });
    }
    for (let from = 0; from < put.length; from += BATCH_SIZE) await documents.write({ put: put.slice(from, from + BATCH_SIZE) });
    listing.enqueue(put);
    return null;
  }

  /** Adds the pages to which a page leads, as its site allows. Returns notes about those that are left out. */
  async followLinks({ collection, document, file, bytes }: ReadPage, listing: Listing): Promise<string[]> {
    const { base, mimeType, charset } = file;
    const source = collection.sources.find(({ id }) => id === document.sourceId);
    if (source?.kind !== 'web' || base === undefined || !/html/.test(mimeType)) return [];
    const depth = (document.depth ?? 0) + 1;
    if (depth > source.depth) return [];
    await new TimeSlicer(listing.signal).after(bytes.length);
    const links = findPageLinks(decodeText(bytes as Uint8Array<ArrayBuffer>, charset), base);
    const allowed: string[] = [];
    for (const link of links) if (await listing.rules.allows(link)) allowed.push(link);
    await this.#visit(collection.id, source, allowed, depth, listing);
    const leftOut = links.length - allowed.length;
    return leftOut === 0 ? [] : [`Links left out, as the site’s robots.txt asks: ${leftOut}`];
  }

  /** Removes pages that no link leads to any more. */
  async removeUnreached(collectionId: string, listing: Listing): Promise<void> {
    const removed = [...this.#deps.documents.list(collectionId)].filter(
      ({ sourceId, path }) => listing.crawls.get(sourceId)?.has(path) === false,
    );
    await deleteDocuments(this.#deps, collectionId, removed);
    listing.crawls.clear();
  }
}

const toFileKey = ({ path, offset }: Pick<SourceFile, 'path' | 'offset'>): string => (offset === undefined ? path : `${path}\n${offset}`);

const withSource = (
  record: CollectionRecord,
  sourceId: string,
  change: Partial<Pick<StoredSource, 'root' | 'checkedAt' | 'problem'>>,
): CollectionRecord => ({
  ...record,
  sources: record.sources.map((source) => (source.id === sourceId ? { ...source, ...change } : source)),
});
