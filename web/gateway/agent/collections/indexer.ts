import type { Clock } from '#shared/async/clock.ts';
import { fromBase64 } from '#shared/base64.ts';
import { COLLECTION_LIMITS, type CollectionProgress, FILES_SOURCE } from '#shared/rpc/methods/collection-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { sha256 } from '#shared/sha256.ts';
import type { DocumentPassages, DocumentReader } from '../../documents/document-reader.ts';
import type { CollectionDocumentRecord, CollectionRecord } from '../../storage/records/collection-records.ts';
import { OwnershipLostError, StorageFullError, VaultReadOnlyError } from '../../storage/vault-errors.ts';
import { isBridgeMissing, toSentence } from './collection-errors.ts';
import type { CollectionDocuments, IndexingState } from './collection-documents.ts';
import type { CollectionIndexes } from './collection-indexes.ts';
import { splitText } from './document-texts.ts';
import type { ReadFile, SourceFiles } from './source-files.ts';
import { CrawlRules } from './crawl-rules.ts';
import { type Listing, SourceLister } from './source-lister.ts';

/** Documents that are read or stored at the same time: those that are stored together share a transaction. */
const WORKERS = 4;
/** Milliseconds after which what was read can be searched while more is being read. */
const FLUSH_MS = 5_000;
const KEPT_PATH_CHARS = 500;

interface IndexerDeps {
  clock: Clock;
  documents: CollectionDocuments;
  indexes: CollectionIndexes;
  sources: SourceFiles;
  reader: DocumentReader;
  getCollection(id: string): CollectionRecord | undefined;
  /** Strict. */
  updateCollection(id: string, change: (record: CollectionRecord) => CollectionRecord): Promise<void>;
  /** Whether this host may index. */
  isActive(): boolean;
  /** Called when the texts of a collection have been stored. */
  onIndexed(collection: CollectionRecord, signal: AbortSignal): Promise<void>;
  onProgress(collectionId: string): void;
  onChange(collectionId: string): void;
  fault(error: unknown): unknown;
}

/** The indexing of one collection. */
interface Job extends Listing {
  controller: AbortController;
  progress: CollectionProgress;
  waitingFor: string | null;
  queue: CollectionDocumentRecord[];
  /** IDs of documents in the queue. */
  queued: Set<string>;
  flushedAt: number;
  done: Promise<void>;
}

const IDLE: IndexingState = { state: 'idle', waitingFor: null, progress: null };
/** Thrown if a collection was changed or deleted while one of its documents was read. */
const OUTDATED = Symbol('outdated');

/** Lists the sources of collections, and reads, stores and indexes their documents. A failing document does not stop the others. */
export class Indexer {
  readonly #deps: IndexerDeps;
  readonly #lister: SourceLister;
  readonly #jobs = new Map<string, Job>();
  /** Collections that wait for the bridge, and why. */
  readonly #waiting = new Map<string, string>();
  #isStopped = false;

  constructor(deps: IndexerDeps) {
    this.#deps = deps;
    this.#lister = new SourceLister(deps);
  }

  getState(collectionId: string): IndexingState {
    const job = this.#jobs.get(collectionId);
    if (job) return { state: 'indexing', waitingFor: null, progress: { ...job.progress } };
    const waitingFor = this.#waiting.get(collectionId);
    return waitingFor === undefined ? IDLE : { state: 'waiting', waitingFor, progress: null };
  }

  /** Starts to do what is pending, unless that is under way: then it does what was added, too. */
  start(collectionId: string, documents: readonly CollectionDocumentRecord[] = []): void {
    if (this.#isStopped || !this.#deps.isActive()) return;
    const running = this.#jobs.get(collectionId);
    if (running) return this.#enqueue(running, documents);
    this.#waiting.delete(collectionId);
    const progress = { done: 0, total: 0, current: null, startedAt: this.#deps.clock.now() };
    const controller = new AbortController();
    const job: Job = {
      ...{ controller, signal: controller.signal, progress, waitingFor: null, queue: [], queued: new Set(), crawls: new Map() },
      rules: new CrawlRules((url) => this.#deps.sources.fetchText(url, controller.signal)),
      enqueue: (found) => this.#enqueue(job, found),
      flushedAt: this.#deps.clock.monotonic(),
      done: Promise.resolve(),
    };
    this.#jobs.set(collectionId, job);
    this.#enqueue(job, documents);
    job.done = this.#run(collectionId, job).finally(() => {
      this.#jobs.delete(collectionId);
      if (job.waitingFor !== null) this.#waiting.set(collectionId, job.waitingFor);
      this.#deps.onProgress(collectionId);
      this.#deps.onChange(collectionId);
      // Documents were added while the last ones were stored.
      if (!job.controller.signal.aborted && job.queue.length > 0) this.start(collectionId, job.queue);
    });
    this.#deps.onProgress(collectionId);
  }

  /** Stops a job; resolves when it has ended. */
  async cancel(collectionId: string): Promise<void> {
    this.#waiting.delete(collectionId);
    const job = this.#jobs.get(collectionId);
    job?.controller.abort(new RpcError('ABORTED', 'Indexing was cancelled.'));
    await job?.done;
  }

  /** Stops all jobs; what is pending stays pending. */
  pause(): void {
    for (const { controller } of this.#jobs.values()) controller.abort(new RpcError('ABORTED', 'Another host is active now.'));
  }

  /** Resolves when a collection is not being indexed. */
  async whenIdle(collectionId: string): Promise<void> {
    while (this.#jobs.has(collectionId)) await this.#jobs.get(collectionId)?.done;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { controller } of this.#jobs.values()) controller.abort(new Error('The gateway has stopped.'));
    await Promise.all([...this.#jobs.values()].map(({ done }) => done));
  }

  async #run(collectionId: string, job: Job): Promise<void> {
    const { signal } = job.controller;
    const { documents, indexes, getCollection, updateCollection } = this.#deps;
    try {
      const all = await documents.load(collectionId);
      this.#enqueue(
        job,
        [...all.values()].filter(({ status }) => status === 'waiting'),
      );
      while (getCollection(collectionId)?.pending || job.queue.length > 0) {
        const sourceId = getCollection(collectionId)?.pending?.sourceIds[0];
        const source = getCollection(collectionId)?.sources.find(({ id }) => id === sourceId);
        if (source) {
          await this.#lister.list(collectionId, source, job);
          this.#deps.onChange(collectionId);
        }
        if (sourceId !== undefined) {
          await updateCollection(collectionId, (record) => withoutPending(record, sourceId));
          continue;
        }
        await Promise.all(Array.from({ length: WORKERS }, () => this.#work(collectionId, job)));
        signal.throwIfAborted();
        await this.#lister.removeUnreached(collectionId, job);
        await indexes.flush(collectionId);
        const record = getCollection(collectionId);
        if (record) await this.#deps.onIndexed(record, signal);
        if (job.queue.length === 0)
          await updateCollection(collectionId, (now) => (now.pending?.sourceIds.length === 0 ? { ...now, pending: null } : now));
      }
    } catch (error) {
      if (signal.aborted || error instanceof OwnershipLostError || error instanceof VaultReadOnlyError) return;
      job.controller.abort(error);
      if (isBridgeMissing(error) || error instanceof StorageFullError) job.waitingFor = toWaitingFor(error);
      else this.#deps.fault(error);
    } finally {
      await indexes.flush(collectionId).catch((error: unknown) => void (signal.aborted || this.#deps.fault(error)));
    }
  }

  #enqueue(job: Job, documents: readonly CollectionDocumentRecord[]): void {
    for (const document of documents) {
      if (job.queued.has(document.id)) continue;
      job.queued.add(document.id);
      job.queue.push(document);
      job.progress.total++;
    }
  }

  /** Reads documents until none is left. */
  async #work(collectionId: string, job: Job): Promise<void> {
    const { documents, indexes, clock } = this.#deps;
    const { signal } = job.controller;
    for (let next = job.queue.shift(); next && !signal.aborted; next = job.queue.shift()) {
      const document = documents.peek(next.id);
      job.queued.delete(next.id);
      if (document?.status === 'waiting') {
        job.progress.current = document.path;
        this.#deps.onProgress(collectionId);
        try {
          await this.#index(collectionId, document, job);
        } catch (error) {
          if (error !== OUTDATED) {
            job.controller.abort(error);
            throw error;
          }
        }
        this.#deps.onChange(collectionId);
      }
      job.progress.done++;
      if (clock.monotonic() - job.flushedAt >= FLUSH_MS) {
        job.flushedAt = clock.monotonic();
        await indexes.flush(collectionId);
      }
    }
  }

  async #index(collectionId: string, document: CollectionDocumentRecord, job: Job): Promise<void> {
    const { sources, indexes, clock } = this.#deps;
    const { signal } = job.controller;
    const collection = this.#deps.getCollection(collectionId);
    if (!collection) throw OUTDATED;
    let file: ReadFile;
    let bytes: Uint8Array<ArrayBuffer>;
    let hash: string;
    let content: DocumentPassages;
    let crawlNotes: string[];
    try {
      file = await sources.read(collection, document, signal);
      bytes = typeof file.bytes === 'string' ? fromBase64(file.bytes) : file.bytes;
      if (bytes.length > COLLECTION_LIMITS.fileBytes) throw new RpcError('INVALID_PARAMS', 'The file is larger than 25 MB.');
      hash = await sha256(bytes);
      crawlNotes = await this.#lister.followLinks({ collection, document, file, bytes }, job);
      if (document.text && document.hash === hash)
        return await this.#write(document, {
          put: [{ ...toIndexed(document, document.text), ...(document.notes ? { notes: document.notes } : {}) }],
        });
      content = await this.#deps.reader.readPassages(
        // A copy, since the reader's thread may take the bytes.
        { name: document.path, mimeType: file.mimeType, bytes: bytes.slice(), base: file.base, charset: file.charset },
        signal,
      );
    } catch (error) {
      return this.#fail(document, error, signal);
    }
    const textId = `${document.id}.${crypto.randomUUID().replaceAll('-', '').slice(0, 8)}`;
    const { parts, partOf } = splitText(textId, content.text, content.passages);
    const text = {
      ...{ id: textId, indexedAt: clock.now(), parts: parts.length, passages: content.passages.length, length: content.text.length },
      ...(content.pageCount === undefined ? {} : { pageCount: content.pageCount }),
    };
    const notes = [...(content.notes ?? []), ...crawlNotes];
    const keeps = collection.keepOriginals;
    const { blobs: waitingFile = [], ...rest } = document;
    const record: CollectionDocumentRecord = {
      ...toIndexed(rest, text),
      title: content.title?.trim().slice(0, KEPT_PATH_CHARS) || document.title,
      mimeType: file.mimeType || document.mimeType,
      size: bytes.length,
      hash,
      ...(file.modifiedAt === null ? {} : { modifiedAt: file.modifiedAt }),
      ...(notes.length > 0 ? { notes } : {}),
      ...(keeps ? { blobs: [hash] } : {}),
    };
    await this.#write(document, {
      put: [record],
      texts: parts,
      removeTexts: document.text ? [document.text] : [],
      blobs: keeps && !waitingFile.includes(hash) ? [{ hash, bytes }] : [],
      releaseBlobs: waitingFile.filter((each) => !keeps || each !== hash),
    });
    if (document.text) indexes.remove(collectionId, document.text.id);
    await indexes.add(collectionId, {
      ...{ documentId: document.id, textId, title: record.title },
      passages: content.passages.map(({ text: passage, locator }, number) => ({
        ...{ text: passage, headings: locator.headings, part: partOf[number] ?? 0 },
      })),
    });
  }

  /** Stores a change of a document, unless the document was changed or removed meanwhile. */
  async #write(before: CollectionDocumentRecord, change: Parameters<CollectionDocuments['write']>[0]): Promise<void> {
    if (this.#deps.documents.peek(before.id) !== before) throw OUTDATED;
    await this.#deps.documents.write(change);
  }

  async #fail(document: CollectionDocumentRecord, error: unknown, signal: AbortSignal): Promise<void> {
    const isFatal = [StorageFullError, OwnershipLostError, VaultReadOnlyError].some((type) => error instanceof type);
    if (error === OUTDATED || signal.aborted || isFatal || isBridgeMissing(error)) throw error;
    if (!(error instanceof RpcError)) this.#deps.fault(error);
    // A file that disappeared from its source is removed when the source is listed again.
    const { text, hash: _, ...rest } = document;
    const keepsText = text !== undefined && error instanceof RpcError && error.code === 'NOT_FOUND' && document.sourceId !== FILES_SOURCE;
    await this.#write(document, {
      put: [{ ...rest, status: 'failed', error: toSentence(error), ...(keepsText ? { text } : {}) }],
      removeTexts: text && !keepsText ? [text] : [],
    });
    if (text && !keepsText) this.#deps.indexes.remove(document.collectionId, text.id);
  }
}

function toIndexed(
  { error: _, notes: _notes, ...document }: CollectionDocumentRecord,
  text: CollectionDocumentRecord['text'],
): CollectionDocumentRecord {
  return { ...document, status: 'indexed', ...(text ? { text } : {}) };
}

const withoutPending = (record: CollectionRecord, sourceId: string): CollectionRecord =>
  record.pending
    ? { ...record, pending: { ...record.pending, sourceIds: record.pending.sourceIds.filter((id) => id !== sourceId) } }
    : record;

const toWaitingFor = (error: unknown): string =>
  isBridgeMissing(error) ? 'The bridge is not connected.' : 'Storage is full. Free some space, then refresh the collection.';
