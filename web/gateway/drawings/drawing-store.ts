import type { Change } from '#shared/canvas/change.ts';
import { Drawing } from '#shared/canvas/drawing.ts';
import { LIMITS } from '#shared/canvas/shape-fields.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { DRAWING_LIMITS, type DrawingEntry } from '#shared/rpc/methods/drawing-contracts.ts';
import { getClockTime } from '#shared/sync/version.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Caller } from '../system/caller.ts';
import type { EventBus } from '../system/event-bus.ts';
import type { RemoteChange, RecordWrite, Vault } from '../storage/vault-interface.ts';
import type { DrawingChange, DrawingRecord } from '../storage/records/drawing-record.ts';
import type { TrashedDrawing } from '../storage/records/trash-item.ts';
import { StorageFullError } from '../storage/vault-errors.ts';
import { Drafts } from './drafts.ts';
import { toDrawingKey } from './drawing-key.ts';
import { type ChangeName, LiveChanges } from './live-changes.ts';

export interface DrawingStoreDeps {
  vault: Pick<Vault, 'collection' | 'writeAll' | 'trash' | 'origin'>;
  hub: EventBus;
  clock: Clock;
  fault(error: unknown): unknown;
}

const DAY_MS = 86_400_000;
/** Maximum number of drawings whose changes are cached. */
const MAX_LOADED = 8;
/** Maximum size of an event as JSON, so that a slow client is not disconnected because of a picture. */
const MAX_EVENT_CHARS = 1_000_000;
/** Maximum number of another host's changes that are reported individually. */
const MAX_REMOTE_CHANGES = 500;

/** A complete drawing. */
interface OpenDrawing {
  entry: DrawingEntry;
  drawing: Drawing;
}

/** Stored drawings, and the events about them (docs/decisions/0053-drawings-in-the-gateway.md). */
export class DrawingStore {
  readonly #deps: DrawingStoreDeps;
  readonly #drafts: Drafts;
  /** In order of use, the most recent last. */
  readonly #loaded = new Map<string, LiveChanges>();
  /** Pending work by drawing. */
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(deps: DrawingStoreDeps) {
    this.#deps = deps;
    this.#drafts = new Drafts(deps);
  }

  stop(): void {
    this.#drafts.stop();
  }

  /** All drawings, the most recently changed first. */
  async list(): Promise<DrawingEntry[]> {
    const [records, keys] = await Promise.all([this.#records.list(), this.#changes.keys()]);
    const byDrawing = Map.groupBy(keys, (key) => key.slice(0, key.indexOf('/')));
    const entries = await Promise.all(records.map((record) => this.#toEntry(record, byDrawing.get(record.id) ?? [])));
    return entries.sort((a, b) => b.updatedAt - a.updatedAt);
  }

  /** Creates a drawing with its initial content. Throws `INVALID_PARAMS`. */
  async create(
    fields: Pick<DrawingRecord, 'id' | 'title' | 'width' | 'height' | 'background'>,
    changes: readonly Change[],
  ): Promise<DrawingEntry> {
    const { vault, clock } = this.#deps;
    this.#rejectFuture(changes);
    const record: DrawingRecord = { ...fields, createdAt: clock.now() };
    const liveChanges = new LiveChanges();
    const { effective } = liveChanges.add(changes);
    rejectTooLarge(liveChanges);
    await vault.writeAll([{ store: 'drawings', key: record.id, record }, ...effective.map((change) => toPutWrite(record.id, change))]);
    this.#cache(record.id, liveChanges);
    this.#emitListChange(record.id);
    return this.#toEntry(record);
  }

  /** All effective changes; subscribes `caller`, if given, to further ones. Throws `NOT_FOUND`. */
  async open(id: string, caller?: Pick<Caller, 'follow'>): Promise<{ drawing: DrawingEntry; changes: Change[] }> {
    return this.#enqueue(id, async () => {
      const record = await this.#get(id);
      await this.#load(id);
      caller?.follow(toDrawingKey(id));
      const changes = await this.#changes.list(`${id}/`);
      return { drawing: await this.#toEntry(record), changes: changes.map(({ key: _, ...change }) => change) };
    });
  }

  /** The current drawing. Throws `NOT_FOUND`. */
  async read(id: string): Promise<OpenDrawing> {
    const record = await this.#get(id);
    return { entry: await this.#toEntry(record), drawing: await this.#build(record) };
  }

  /**
   * Stores changes, all or none, and sends them to other clients that have the drawing open; returns how many are effective. Throws
   * `NOT_FOUND` and `INVALID_PARAMS`.
   */
  async change(id: string, changes: readonly Change[], from?: string): Promise<number> {
    this.#rejectFuture(changes);
    return this.#enqueue(id, async () => {
      await this.#get(id);
      return this.#store(id, changes, from);
    });
  }

  /**
   * Calls `draw` with the current drawing, stores all its changes at once, and returns its result. Throws `NOT_FOUND`, and what `draw`
   * throws.
   */
  async edit<T>(id: string, draw: (drawing: Drawing) => T): Promise<T> {
    return this.#enqueue(id, async () => {
      const drawing = await this.#build(await this.#get(id));
      const recorded: Change[] = [];
      drawing.onChange(({ changes }) => void recorded.push(...changes));
      const result = draw(drawing);
      await this.#store(id, recorded);
      return result;
    });
  }

  /** Throws `NOT_FOUND`. */
  async rename(id: string, title: string): Promise<DrawingEntry> {
    const record = await this.#records.update(id, (before) => before && { ...before, title });
    if (!record) throw createNotFoundError(id);
    this.#emitListChange(id);
    return this.#toEntry(record);
  }

  /**
   * Moves a drawing with all its changes to the trash as `item`. Without one, or if storage is full, deletes it permanently and resolves with
   * false. Throws `NOT_FOUND`.
   */
  async remove(id: string, item?: Pick<TrashedDrawing, 'id' | 'deletedAt' | 'outside'>): Promise<boolean> {
    const { vault } = this.#deps;
    return this.#enqueue(id, async () => {
      await this.#get(id);
      this.#loaded.delete(id);
      const isMoved =
        item !== undefined &&
        (await (await vault.trash()).moveDrawing(id, item).catch((error: unknown) => {
          if (error instanceof StorageFullError) return false;
          throw error;
        }));
      if (!isMoved) {
        const keys = await this.#changes.keys(`${id}/`);
        await vault.writeAll([{ store: 'drawings', key: id }, ...keys.map((key) => ({ store: 'drawingChanges' as const, key }))]);
      }
      this.#emitListChange(id, true);
      return isMoved;
    });
  }

  /** Restores a drawing from the trash. */
  async restore(item: TrashedDrawing): Promise<void> {
    await this.#enqueue(item.drawing.id, async () => (await this.#deps.vault.trash()).restoreDrawing(item));
    this.#emitListChange(item.drawing.id);
  }

  /** Shows others the shape that the caller is drawing; null ends that. Throws `INVALID_PARAMS`. */
  draft(...args: Parameters<Drafts['update']>): void {
    this.#drafts.update(...args);
  }

  /** Called when changes of other hosts have been stored. */
  async handleRemoteChanges(changes: readonly RemoteChange[]): Promise<void> {
    for (const { store, key, deleted } of changes) {
      if (store !== 'drawings') continue;
      if (deleted) await this.#handleRemoteRemoval(key);
      else this.#emitListChange(key);
    }
    const added = changes.filter(({ store, deleted }) => store === 'drawingChanges' && !deleted);
    for (const [id, theirs] of Map.groupBy(added, ({ key }) => key.slice(0, key.indexOf('/')))) {
      await this.#enqueue(id, () =>
        this.#handleRemoteEdits(
          id,
          theirs.map(({ key }) => key),
        ),
      );
    }
  }

  get #records() {
    return this.#deps.vault.collection('drawings');
  }

  get #changes() {
    return this.#deps.vault.collection('drawingChanges');
  }

  async #get(id: string): Promise<DrawingRecord> {
    const record = await this.#records.get(id);
    if (!record) throw createNotFoundError(id);
    return record;
  }

  async #build(record: DrawingRecord): Promise<Drawing> {
    const drawing = new Drawing({ ...record, origin: this.#deps.vault.origin, now: () => this.#deps.clock.now() });
    drawing.merge(await this.#changes.list(`${record.id}/`));
    return drawing;
  }

  /** The size is that of the last crop. */
  async #toEntry(record: DrawingRecord, keys?: readonly string[]): Promise<DrawingEntry> {
    const { id, title, createdAt } = record;
    const all = keys ?? (await this.#changes.keys(`${id}/`));
    const page = new Drawing(record);
    if (all.some((key) => key.startsWith(`${id}/page/`))) page.merge(await this.#changes.list(`${id}/page/`));
    const { width, height, background } = page.page;
    const updatedAt = all.reduce((newest, key) => Math.max(newest, getClockTime(key.slice(key.lastIndexOf('/') + 1))), createdAt);
    return { id, title, width, height, background, createdAt, updatedAt };
  }

  /** Runs in the drawing's queue. */
  async #store(id: string, changes: readonly Change[], from?: string): Promise<number> {
    const liveChanges = await this.#load(id);
    try {
      const { effective, obsolete } = liveChanges.add(changes);
      rejectTooLarge(liveChanges);
      await this.#deps.vault.writeAll([
        ...effective.map((change) => toPutWrite(id, change)),
        ...obsolete.map((name) => toRemoveWrite(id, name)),
      ]);
      this.#emitChanges(id, effective, from);
      return effective.length;
    } catch (error) {
      // The cached state differs from what is stored.
      this.#loaded.delete(id);
      throw error;
    }
  }

  /**
   * Loads the effective changes. Removes what is no longer needed: changes overridden by two hosts together, and shapes that were removed
   * more than a day ago.
   */
  async #load(id: string): Promise<LiveChanges> {
    const { hub, clock, vault, fault } = this.#deps;
    const cached = this.#loaded.get(id);
    const liveChanges = cached ?? new LiveChanges();
    this.#cache(id, liveChanges);
    if (cached) return cached;
    const stored = await this.#changes.list(`${id}/`);
    const { effective } = liveChanges.add(stored);
    const counting = new Set(effective);
    const overridden: ChangeName[] = stored.filter((change) => !counting.has(change));
    const before = clock.now() - DAY_MS;
    // A client that has it open may still undo a removal.
    const removed = hub.isOpen(id) ? [] : effective.filter((change) => liveChanges.isRemoval(change) && getClockTime(change.at) < before);
    const obsolete = [...overridden, ...liveChanges.removeShapes(new Set(removed.map((change) => change.id)))];
    if (obsolete.length > 0) await vault.writeAll(obsolete.map((name) => toRemoveWrite(id, name))).catch(fault);
    return liveChanges;
  }

  #cache(id: string, liveChanges: LiveChanges): void {
    this.#loaded.delete(id);
    this.#loaded.set(id, liveChanges);
    const [oldest] = this.#loaded.keys();
    if (this.#loaded.size > MAX_LOADED && oldest !== undefined) this.#loaded.delete(oldest);
  }

  /** Handles changes stored by another host. */
  async #handleRemoteEdits(id: string, keys: readonly string[]): Promise<void> {
    if (keys.length > MAX_REMOTE_CHANGES || !this.#deps.hub.isOpen(id)) {
      this.#loaded.delete(id);
      this.#deps.hub.emitToOpen({ event: 'drawing.changed', payload: { drawingId: id, changes: [], reopen: true } }, id);
      return;
    }
    const read = await Promise.all(keys.map((key) => this.#changes.get(key)));
    const changes = read.flatMap((change) => (change ? [withoutKey(change)] : []));
    this.#loaded.get(id)?.add(changes);
    this.#emitChanges(id, changes);
  }

  /** Handles a deletion by another host; local changes made in the meantime are deleted too. */
  async #handleRemoteRemoval(id: string): Promise<void> {
    await this.#enqueue(id, async () => {
      this.#loaded.delete(id);
      // Restored in the meantime.
      if (await this.#records.get(id)) return;
      const keys = await this.#changes.keys(`${id}/`);
      await this.#deps.vault.writeAll(keys.map((key) => ({ store: 'drawingChanges', key })));
      this.#emitListChange(id, true);
    });
  }

  #emitChanges(drawingId: string, changes: Change[], from?: string): void {
    if (changes.length === 0 || !this.#deps.hub.isOpen(drawingId)) return;
    const large = JSON.stringify(changes).length > MAX_EVENT_CHARS;
    const payload = large ? { drawingId, changes: [], reopen: true } : { drawingId, changes };
    this.#deps.hub.emitToOpen({ event: 'drawing.changed', payload }, drawingId, from);
  }

  #emitListChange(drawingId: string, deleted?: true): void {
    const payload = { drawingId, ...(deleted ? { deleted } : {}) };
    this.#deps.hub.emit({ event: 'drawings.changed', payload }, toDrawingKey(drawingId));
  }

  #rejectFuture(changes: readonly Change[]): void {
    const latest = this.#deps.clock.now() + DAY_MS;
    const index = changes.findIndex((change) => getClockTime(change.at) > latest);
    if (index >= 0) throw new RpcError('INVALID_PARAMS', `\`changes.${index}.at\` must not be more than a day in the future.`);
  }

  /** Queues work, so that operations on one drawing run one after another. */
  #enqueue<T>(id: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#queues.get(id) ?? Promise.resolve()).then(work);
    const tail = turn.catch(() => {}).finally(() => this.#queues.get(id) === tail && this.#queues.delete(id));
    this.#queues.set(id, tail);
    return turn;
  }
}

const createNotFoundError = (id: string): RpcError => new RpcError('NOT_FOUND', `No drawing with id "${id}".`);

function rejectTooLarge(liveChanges: LiveChanges): void {
  if (liveChanges.chars > DRAWING_LIMITS.chars)
    throw new RpcError('INVALID_PARAMS', `A drawing can have at most ${DRAWING_LIMITS.chars} characters of JSON.`);
  // The count includes recently removed shapes.
  if (liveChanges.shapes > LIMITS.shapes * 2) throw new RpcError('INVALID_PARAMS', `A drawing can have at most ${LIMITS.shapes} shapes.`);
}

const toKey = (drawingId: string, { id, at }: ChangeName): string => `${drawingId}/${id}/${at}`;
const toPutWrite = (drawingId: string, change: Change): RecordWrite => {
  const key = toKey(drawingId, change);
  return { store: 'drawingChanges', key, record: { key, ...change } };
};
const toRemoveWrite = (drawingId: string, name: ChangeName): RecordWrite => ({ store: 'drawingChanges', key: toKey(drawingId, name) });
const withoutKey = ({ key: _, ...change }: DrawingChange): Change => change;
