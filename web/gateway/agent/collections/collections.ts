import type { Clock } from '#shared/async/clock.ts';
import { type Collection, COLLECTION_LIMITS, type CollectionDocument, FILES_SOURCE } from '#shared/rpc/methods/collection-contracts.ts';
import type { CollectionSourceInput } from '#shared/rpc/collection-source.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { DocumentReader } from '../../documents/document-reader.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { CollectionDocumentRecord, CollectionRecord, StoredSource } from '../../storage/records/collection-records.ts';
import type { RemoteChange, Vault } from '../../storage/vault-interface.ts';
import { CollectionDocuments, toCollection, toDocument } from './collection-documents.ts';
import { CollectionIndexes } from './collection-indexes.ts';
import { CollectionSearch, type FoundPassages, type ReadOptions, type ReadText } from './collection-search.ts';
import type { CollectionVectors } from './collection-vectors.ts';
import { type DocumentFilter, findDocumentByName, findDocuments } from './find-documents.ts';
import { FolderWatch } from './folder-watch.ts';
import { canReadFile, deleteDocuments, releaseOriginals, setDocumentStatus } from './document-changes.ts';
import { isOnDisk, readOriginal } from './document-originals.ts';
import { Indexer } from './indexer.ts';
import { applyRemoteChanges } from './remote-changes.ts';
import { decodeSentFiles, type SentFile, toAddedFiles } from './sent-files.ts';
import { SourceFiles } from './source-files.ts';
import { getWatchedRoot, toPendingWork, toStoredSources } from './stored-sources.ts';
import { ThrottledEvents } from './throttled-events.ts';

/** Milliseconds between events of one collection. */
const PROGRESS_MS = 250;
const CHANGE_MS = 1_000;
/** Milliseconds before a search lets missing vectors be computed again. */
const EMBED_MS = 60_000;

export interface CollectionsDeps {
  vault: Vault;
  hub: EventBus;
  clock: Clock;
  bridge: Bridge;
  reader: DocumentReader;
  vectors: CollectionVectors;
  sync: Pick<SyncPort, 'watch'> | undefined;
  /** Private hosts that the user allows (`tools.webFetch.allow`). */
  allow(): readonly string[];
  /** Whether this host may index: others receive what it stores. */
  isLeaseHolder(): boolean;
  fault(error: unknown): unknown;
}

interface CollectionSettings {
  name: string;
  description: string;
  sources: readonly CollectionSourceInput[];
  keepOriginals: boolean;
  embeddingModel: string | null;
  isUnreviewed?: boolean;
}

/** Collections of documents that agents search and cite. */
export class Collections {
  readonly #deps: CollectionsDeps;
  readonly #records: Map<string, CollectionRecord>;
  readonly #documents: CollectionDocuments;
  readonly #indexes: CollectionIndexes;
  readonly #indexer: Indexer;
  readonly #sources: SourceFiles;
  readonly #watch: FolderWatch;
  readonly #search: CollectionSearch;
  readonly #events: ThrottledEvents;
  readonly #stops: (() => void)[];
  /** When vectors were last computed after a search, by collection. */
  readonly #embeddedAt = new Map<string, number>();
  readonly #stopped = new AbortController();

  private constructor(deps: CollectionsDeps, records: readonly CollectionRecord[]) {
    this.#deps = deps;
    this.#records = new Map(records.map((record) => [record.id, record]));
    const { vault, clock, bridge, fault } = deps;
    this.#documents = new CollectionDocuments(vault);
    this.#indexes = new CollectionIndexes({ vault, clock, fault, documents: this.#documents });
    this.#sources = new SourceFiles({
      bridge,
      files: { getFile: async (hash) => (await vault.documents()).getFile(hash) },
      allow: deps.allow,
    });
    this.#search = new CollectionSearch({ vault, documents: this.#documents, indexes: this.#indexes, vectors: deps.vectors });
    this.#events = new ThrottledEvents(clock);
    this.#indexer = new Indexer({
      ...{ clock, fault, documents: this.#documents, indexes: this.#indexes, sources: this.#sources, reader: deps.reader },
      getCollection: (id) => this.#records.get(id),
      updateCollection: (id, change) => this.#update(id, change),
      isActive: deps.isLeaseHolder,
      onIndexed: (record, signal) => this.#search.embed(record, signal),
      onProgress: (id) => this.#events.send(`progress ${id}`, PROGRESS_MS, () => this.#sendProgress(id)),
      onChange: (id) => this.#events.send(`change ${id}`, CHANGE_MS, () => this.#sendChange(id)),
    });
    this.#watch = new FolderWatch({ bridge, clock, onChange: (root) => this.#refreshRoot(root) });
    this.#stops = [
      bridge.watch(() => this.resume({ retriesWaiting: true })),
      // The state changes with every push, so that what waits must not be tried each time.
      deps.sync?.watch(() => this.resume()) ?? (() => {}),
    ];
  }

  static async open(deps: CollectionsDeps): Promise<Collections> {
    const collections = new Collections(deps, await deps.vault.collection('collections').list());
    collections.resume();
    return collections;
  }

  /** Continues what is pending, and watches folders, if this host may. */
  resume({ retriesWaiting = false } = {}): void {
    const isActive = this.#deps.isLeaseHolder();
    const roots = isActive ? [...this.#records.values()].flatMap(({ sources }) => sources.flatMap(getWatchedRoot)) : [];
    this.#watch.follow(roots);
    // Another host goes on with what is pending.
    if (!isActive) return this.#indexer.pause();
    for (const { id, pending } of this.#records.values())
      if (pending && (retriesWaiting || this.#indexer.getState(id).state === 'idle')) this.#indexer.start(id);
  }

  async list(): Promise<Collection[]> {
    const all = await Promise.all([...this.#records.values()].map((record) => this.#toCollection(record)));
    return all.sort((a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1));
  }

  async get(id: string): Promise<Collection> {
    return this.#toCollection(this.getRecord(id));
  }

  /** Throws `NOT_FOUND`. */
  getRecord(id: string): CollectionRecord {
    const record = this.#records.get(id);
    if (!record) throw new RpcError('NOT_FOUND', `No collection with ID "${id}".`);
    return record;
  }

  /** Records of the collections that exist, in the order of the IDs. */
  listRecords(ids: readonly string[]): CollectionRecord[] {
    return [...new Set(ids)].flatMap((id) => this.#records.get(id) ?? []);
  }

  get ids(): string[] {
    return [...this.#records.keys()];
  }

  async create({ sources, ...settings }: CollectionSettings): Promise<Collection> {
    if (this.#records.size >= COLLECTION_LIMITS.collections)
      throw new RpcError('INVALID_PARAMS', `There can be ${COLLECTION_LIMITS.collections} collections.`);
    const now = this.#deps.clock.now();
    const stored = await toStoredSources(sources, [], (path) => this.#sources.approve(path));
    const record: CollectionRecord = {
      id: crypto.randomUUID().replaceAll('-', '').slice(0, 12),
      ...settings,
      sources: stored,
      createdAt: now,
      updatedAt: now,
      pending: stored.length > 0 ? { sourceIds: stored.map(({ id }) => id), startedAt: now } : null,
    };
    await this.#deps.vault.collection('collections').put(record);
    this.#records.set(record.id, record);
    this.#sendChange(record.id);
    this.resume();
    return this.#toCollection(record);
  }

  async update(id: string, { sources, ...settings }: Partial<CollectionSettings>): Promise<Collection> {
    const before = this.getRecord(id);
    const stored = sources && (await toStoredSources(sources, before.sources, (path) => this.#sources.approve(path)));
    const changed = stored?.filter((source) => !before.sources.includes(source)) ?? [];
    const removed = stored ? before.sources.filter(({ id: old }) => !stored.some((source) => source.id === old)) : [];
    const needsWork = settings.embeddingModel !== undefined && settings.embeddingModel !== before.embeddingModel;
    if (removed.length > 0) await this.#indexer.cancel(id);
    await this.#update(id, (record) => ({
      ...record,
      ...settings,
      ...(stored ? { sources: stored } : {}),
      updatedAt: this.#deps.clock.now(),
      ...(changed.length > 0 || needsWork || removed.length > 0
        ? {
            pending: this.#toPending(
              record,
              changed.map((source) => source.id),
            ),
          }
        : {}),
    }));
    const documents = await this.#documents.load(id);
    const orphans = [...documents.values()].filter(({ sourceId }) => removed.some((source) => source.id === sourceId));
    await deleteDocuments({ documents: this.#documents, indexes: this.#indexes }, id, orphans);
    await this.#revoke(removed);
    if (settings.keepOriginals === false && before.keepOriginals) await releaseOriginals(this.#documents, id);
    this.#sendChange(id);
    this.resume();
    return this.get(id);
  }

  async delete(id: string): Promise<void> {
    const { sources } = this.getRecord(id);
    await this.#indexer.cancel(id);
    await this.#deps.vault.collection('collections').remove(id);
    this.#records.delete(id);
    this.#sendChange(id, true);
    await deleteDocuments({ documents: this.#documents, indexes: this.#indexes }, id, [...(await this.#documents.load(id)).values()]);
    await this.#forget(id);
    await this.#revoke(sources);
    this.resume();
  }

  async listDocuments(
    id: string,
    { limit, offset, ...filter }: DocumentFilter & { limit: number; offset: number },
  ): Promise<{ documents: CollectionDocument[]; total: number; next: number | null }> {
    const record = this.getRecord(id);
    const found = findDocuments((await this.#documents.load(id)).values(), filter);
    const page = found.slice(offset, offset + limit).map((document) => toDocument(document, isOnDisk(record, document)));
    return { documents: page, total: found.length, next: offset + limit < found.length ? offset + limit : null };
  }

  async addFiles(id: string, files: readonly SentFile[]): Promise<CollectionDocument[]> {
    const record = this.getRecord(id);
    const decoded = await decodeSentFiles(files);
    const { all, waiting, change } = toAddedFiles(id, decoded, await this.#documents.load(id), this.#deps.clock.now());
    if (waiting.length > 0) {
      await this.#documents.write(change);
      await this.#update(id, (now) => ({ ...now, pending: this.#toPending(now, []) }));
      this.#indexer.start(id, waiting);
      this.#sendChange(id);
    }
    return all.map((document) => toDocument(document, isOnDisk(record, document)));
  }

  async removeDocuments(id: string, documentIds: readonly string[]): Promise<number> {
    this.getRecord(id);
    const documents = await this.#documents.load(id);
    const removed = [...new Set(documentIds)].flatMap((documentId) => documents.get(documentId) ?? []);
    await deleteDocuments({ documents: this.#documents, indexes: this.#indexes }, id, removed);
    if (removed.length > 0) this.#sendChange(id);
    return removed.length;
  }

  async refresh(id: string, { sourceId, retryFailed }: { sourceId?: string | undefined; retryFailed: boolean }): Promise<Collection> {
    const { sources } = this.getRecord(id);
    const own = sources.filter((source) => sourceId === undefined || source.id === sourceId);
    if (sourceId !== undefined && sourceId !== FILES_SOURCE && own.length === 0)
      throw new RpcError('NOT_FOUND', `The collection has no source "${sourceId}".`);
    if (retryFailed) {
      const failed = [...(await this.#documents.load(id)).values()].filter(
        (document) =>
          (document.status === 'failed' || document.status === 'skipped') && (sourceId === undefined || document.sourceId === sourceId),
      );
      await setDocumentStatus(this.#documents, failed.filter(canReadFile), 'waiting');
    }
    const sourceIds = own.map((source) => source.id);
    await this.#update(id, (record) => ({ ...record, pending: this.#toPending(record, sourceIds) }));
    const waiting = [...(await this.#documents.load(id)).values()].filter(({ status }) => status === 'waiting');
    // A running job does what was added, too.
    this.#indexer.start(id, waiting);
    return this.get(id);
  }

  async cancel(id: string): Promise<Collection> {
    this.getRecord(id);
    await this.#update(id, (record) => ({ ...record, pending: null }));
    await this.#indexer.cancel(id);
    const waiting = [...(await this.#documents.load(id)).values()].filter(({ status }) => status === 'waiting');
    await setDocumentStatus(this.#documents, waiting, 'skipped', 'Indexing was cancelled.');
    this.#sendChange(id);
    return this.get(id);
  }

  /** The best passages for a query. `isWanted`: only passages of such documents. */
  async search(
    query: string,
    ids: readonly string[],
    limit: number,
    signal: AbortSignal,
    isWanted?: (document: CollectionDocumentRecord) => boolean,
  ): Promise<FoundPassages & { incomplete: boolean }> {
    const records = ids.map((id) => this.getRecord(id));
    const found = await this.#search.find(query, records, limit, signal, isWanted);
    for (const record of records) this.#embedLater(record);
    const isIncomplete = await Promise.all(
      records.map(async ({ id, pending }) => pending !== null || (await this.#indexes.isCatchingUp(id))),
    );
    return { ...found, incomplete: isIncomplete.includes(true) };
  }

  /** Throws `NOT_FOUND`. */
  getDocument(documentId: string): Promise<CollectionDocumentRecord> {
    return this.#documents.get(documentId);
  }

  async read(documentId: string, options: ReadOptions): Promise<ReadText & { document: CollectionDocument }> {
    const document = await this.#documents.get(documentId);
    const record = this.getRecord(document.collectionId);
    return { document: toDocument(document, isOnDisk(record, document)), ...(await this.#search.read(document, options)) };
  }

  /** Lists the folders in a folder on the bridge's disk, for a person. Throws `NOT_FOUND`. */
  listFolders(path: string | undefined, signal: AbortSignal): ReturnType<SourceFiles['listFolders']> {
    return this.#sources.listFolders(path, signal);
  }

  async readOriginal(documentId: string, offset: number, signal: AbortSignal): Promise<MethodResult<'collections.original'>> {
    const document = await this.#documents.get(documentId);
    const places = { vault: this.#deps.vault, sources: this.#sources };
    return readOriginal(places, this.getRecord(document.collectionId), document, offset, signal);
  }

  /** ID of a document of these collections, by its ID, path or title. Throws `NOT_FOUND`. */
  async findDocument(ids: readonly string[], wanted: string): Promise<string> {
    for (const id of ids) {
      const found = findDocumentByName(await this.#documents.load(id), wanted);
      if (found) return found.id;
    }
    throw new RpcError('NOT_FOUND', `No document “${wanted}” in the attached collections.`);
  }

  /** Applies changes of another host. */
  async applyRemote(changes: readonly RemoteChange[]): Promise<void> {
    const { changed, deleted } = await applyRemoteChanges(
      {
        ...{ vault: this.#deps.vault, records: this.#records, documents: this.#documents, indexes: this.#indexes, fault: this.#deps.fault },
        end: async (id) => {
          await this.#indexer.cancel(id);
          await this.#forget(id);
        },
      },
      changes,
    );
    for (const id of deleted) this.#sendChange(id, true);
    for (const id of changed) this.#events.send(`change ${id}`, CHANGE_MS, () => this.#sendChange(id));
    this.resume();
  }

  /** Resolves when a collection is not being indexed. */
  whenIdle(id: string): Promise<void> {
    return this.#indexer.whenIdle(id);
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#stopped.abort(new Error('The gateway has stopped.'));
    this.#watch.stop();
    this.#events.stop();
    await this.#indexer.stop();
    this.#indexes.stop();
  }

  async #toCollection(record: CollectionRecord): Promise<Collection> {
    return toCollection(record, await this.#documents.load(record.id), this.#indexer.getState(record.id));
  }

  /** Frees what is in memory for a collection that is gone, and deletes its index. */
  async #forget(id: string): Promise<void> {
    await this.#indexes.drop(id);
    this.#search.forget(id);
    this.#documents.forget(id);
  }

  /** Strict. Does nothing if the collection is gone. */
  async #update(id: string, change: (record: CollectionRecord) => CollectionRecord): Promise<void> {
    const record = await this.#deps.vault.collection('collections').update(id, (before) => before && change(before));
    if (record && this.#records.has(id)) this.#records.set(id, record);
  }

  #toPending(record: CollectionRecord, sourceIds: readonly string[]): CollectionRecord['pending'] {
    return toPendingWork(record, sourceIds, this.#deps.clock.now());
  }

  /** Computes vectors that this replica lacks, in the background: another host may have indexed the documents. */
  #embedLater({ id, embeddingModel, pending }: CollectionRecord): void {
    const { clock, isLeaseHolder, fault } = this.#deps;
    const isDue = clock.monotonic() - (this.#embeddedAt.get(id) ?? -Infinity) >= EMBED_MS;
    if (embeddingModel === null || pending || !isDue || !isLeaseHolder()) return;
    this.#embeddedAt.set(id, clock.monotonic());
    const { signal } = this.#stopped;
    this.#search.embed(this.getRecord(id), signal).catch((error: unknown) => void (signal.aborted || fault(error)));
  }

  /** Ends the bridge's permission to read roots that no source needs any more. */
  async #revoke(sources: readonly StoredSource[]): Promise<void> {
    const used = new Set([...this.#records.values()].flatMap((record) => record.sources.flatMap(({ root }) => root ?? [])));
    for (const { root } of sources) if (root !== undefined && !used.has(root)) await this.#sources.revoke(root);
  }

  #refreshRoot(root: string): void {
    for (const { id, sources } of this.#records.values()) {
      const sourceIds = sources.filter((source) => source.root === root).map((source) => source.id);
      if (sourceIds.length === 0) continue;
      this.#update(id, (record) => ({ ...record, pending: this.#toPending(record, sourceIds) }))
        .then(() => this.#indexer.start(id))
        .catch((error: unknown) => void this.#deps.fault(error));
    }
  }

  #sendChange(collectionId: string, deleted = false): void {
    this.#deps.hub.emit({ event: 'collection.changed', payload: { collectionId, ...(deleted ? { deleted } : {}) } }, null);
  }

  #sendProgress(collectionId: string): void {
    this.#deps.hub.emit({ event: 'collection.progress', payload: { collectionId, ...this.#indexer.getState(collectionId) } }, null);
  }
}
