import type { Change } from '#shared/canvas/change.ts';
import { Drawing } from '#shared/canvas/drawing.ts';
import { LIMITS } from '#shared/canvas/fields.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { DRAWING_LIMITS, type DrawingEntry } from '#shared/rpc/methods/drawings.ts';
import { wallOf } from '#shared/sync/version.ts';
import type { Clock } from '../clock.ts';
import type { Caller } from '../dispatch.ts';
import type { Hub } from '../hub.ts';
import type { DrawingChange, DrawingRecord, ForeignChange, RecordWrite, Vault } from '../vault.ts';
import { Drafts } from './drafts.ts';
import { followedKey } from './followed.ts';
import { type ChangeName, LiveChanges } from './live-changes.ts';

export interface DrawingsDeps {
  vault: Pick<Vault, 'collection' | 'together' | 'origin'>;
  hub: Hub;
  clock: Clock;
  fault(error: unknown): unknown;
}

const DAY_MS = 86_400_000;
/** Maximum number of drawings whose changes are cached. */
const LOADED = 8;
/** Maximum size of an event as JSON, so that a slow client is not disconnected because of a picture. */
const EVENT_CHARS = 1_000_000;
/** Maximum number of another host's changes that are reported individually. */
const FOREIGN_CHANGES = 500;

/** A complete drawing. */
export interface OpenDrawing {
  entry: DrawingEntry;
  drawing: Drawing;
}

/** Stored drawings, and the events about them (docs/decisions/0053-drawings-in-the-gateway.md). */
export class Drawings {
  readonly #deps: DrawingsDeps;
  readonly #drafts: Drafts;
  /** In order of use, the most recent last. */
  readonly #loaded = new Map<string, LiveChanges>();
  /** Pending work by drawing. */
  readonly #tails = new Map<string, Promise<unknown>>();

  constructor(deps: DrawingsDeps) {
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
    const entries = await Promise.all(records.map((record) => this.#entry(record, byDrawing.get(record.id) ?? [])));
    return entries.sort((a, b) => b.updatedAt - a.updatedAt);
  }

  /** Creates a drawing with its initial content. Throws `INVALID_PARAMS`. */
  async create(made: Pick<DrawingRecord, 'title' | 'width' | 'height' | 'background'>, changes: readonly Change[]): Promise<DrawingEntry> {
    const { vault, clock } = this.#deps;
    this.#refuseFuture(changes);
    const record: DrawingRecord = { id: crypto.randomUUID(), ...made, createdAt: clock.now() };
    const live = new LiveChanges();
    const { kept } = live.take(changes);
    refuseTooMuch(live);
    await vault.together([{ store: 'drawings', key: record.id, record }, ...kept.map((change) => putting(record.id, change))]);
    this.#keep(record.id, live);
    this.#listed(record.id);
    return this.#entry(record);
  }

  /** All effective changes; subscribes `caller`, if given, to further ones. Throws `NOT_FOUND`. */
  async open(id: string, caller?: Pick<Caller, 'follow'>): Promise<{ drawing: DrawingEntry; changes: Change[] }> {
    return this.#inTurn(id, async () => {
      const record = await this.#get(id);
      await this.#load(id);
      caller?.follow(followedKey(id));
      const changes = await this.#changes.list(`${id}/`);
      return { drawing: await this.#entry(record), changes: changes.map(({ key: _, ...change }) => change) };
    });
  }

  /** The current drawing. Throws `NOT_FOUND`. */
  async read(id: string): Promise<OpenDrawing> {
    const record = await this.#get(id);
    return { entry: await this.#entry(record), drawing: await this.#drawn(record) };
  }

  /**
   * Stores changes, all or none, and sends them to other clients that have the drawing open; returns how many are effective. Throws
   * `NOT_FOUND` and `INVALID_PARAMS`.
   */
  async change(id: string, changes: readonly Change[], from?: string): Promise<number> {
    this.#refuseFuture(changes);
    return this.#inTurn(id, async () => {
      await this.#get(id);
      return this.#store(id, changes, from);
    });
  }

  /**
   * Calls `draw` with the current drawing, stores all its changes at once, and returns its result. Throws `NOT_FOUND`, and what `draw`
   * throws.
   */
  async edit<T>(id: string, draw: (on: Drawing) => T): Promise<T> {
    return this.#inTurn(id, async () => {
      const drawing = await this.#drawn(await this.#get(id));
      const made: Change[] = [];
      drawing.onChange(({ changes }) => void made.push(...changes));
      const result = draw(drawing);
      await this.#store(id, made);
      return result;
    });
  }

  /** Throws `NOT_FOUND`. */
  async rename(id: string, title: string): Promise<DrawingEntry> {
    const record = await this.#records.update(id, (before) => before && { ...before, title });
    if (!record) throw noDrawing(id);
    this.#listed(id);
    return this.#entry(record);
  }

  /** Deletes a drawing with all its changes. Throws `NOT_FOUND`. */
  async remove(id: string): Promise<void> {
    return this.#inTurn(id, async () => {
      await this.#get(id);
      this.#loaded.delete(id);
      const keys = await this.#changes.keys(`${id}/`);
      await this.#deps.vault.together([{ store: 'drawings', key: id }, ...keys.map((key) => ({ store: 'drawingChanges' as const, key }))]);
      this.#listed(id, true);
    });
  }

  /** Shows others the shape that the caller is drawing; null ends that. Throws `INVALID_PARAMS`. */
  draft(...given: Parameters<Drafts['show']>): void {
    this.#drafts.show(...given);
  }

  /** Called when changes of other hosts have been stored. */
  async foreign(changes: readonly ForeignChange[]): Promise<void> {
    for (const { store, key, deleted } of changes) {
      if (store !== 'drawings') continue;
      if (deleted) await this.#gone(key);
      else this.#listed(key);
    }
    const added = changes.filter(({ store, deleted }) => store === 'drawingChanges' && !deleted);
    for (const [id, theirs] of Map.groupBy(added, ({ key }) => key.slice(0, key.indexOf('/')))) {
      await this.#inTurn(id, () =>
        this.#told(
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
    if (!record) throw noDrawing(id);
    return record;
  }

  async #drawn(record: DrawingRecord): Promise<Drawing> {
    const drawing = new Drawing({ ...record, origin: this.#deps.vault.origin, now: () => this.#deps.clock.now() });
    drawing.merge(await this.#changes.list(`${record.id}/`));
    return drawing;
  }

  /** The size is that of the last crop. */
  async #entry(record: DrawingRecord, keys?: readonly string[]): Promise<DrawingEntry> {
    const { id, title, createdAt } = record;
    const all = keys ?? (await this.#changes.keys(`${id}/`));
    const page = new Drawing(record);
    if (all.some((key) => key.startsWith(`${id}/page/`))) page.merge(await this.#changes.list(`${id}/page/`));
    const { width, height, background } = page.page;
    const updatedAt = all.reduce((newest, key) => Math.max(newest, wallOf(key.slice(key.lastIndexOf('/') + 1))), createdAt);
    return { id, title, width, height, background, createdAt, updatedAt };
  }

  /** Runs in the drawing's queue. */
  async #store(id: string, changes: readonly Change[], from?: string): Promise<number> {
    const live = await this.#load(id);
    try {
      const { kept, spent } = live.take(changes);
      refuseTooMuch(live);
      await this.#deps.vault.together([...kept.map((change) => putting(id, change)), ...spent.map((name) => removing(id, name))]);
      this.#tell(id, kept, from);
      return kept.length;
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
    const there = this.#loaded.get(id);
    const live = there ?? new LiveChanges();
    this.#keep(id, live);
    if (there) return there;
    const stored = await this.#changes.list(`${id}/`);
    const { kept } = live.take(stored);
    const counting = new Set(kept);
    const outdone: ChangeName[] = stored.filter((change) => !counting.has(change));
    const before = clock.now() - DAY_MS;
    // A client that has it open may still undo a removal.
    const removed = hub.isOpen(id) ? [] : kept.filter((change) => live.isRemoval(change) && wallOf(change.at) < before);
    const useless = [...outdone, ...live.drop(new Set(removed.map((change) => change.id)))];
    if (useless.length > 0) await vault.together(useless.map((name) => removing(id, name))).catch(fault);
    return live;
  }

  #keep(id: string, live: LiveChanges): void {
    this.#loaded.delete(id);
    this.#loaded.set(id, live);
    const [oldest] = this.#loaded.keys();
    if (this.#loaded.size > LOADED && oldest !== undefined) this.#loaded.delete(oldest);
  }

  /** Handles changes stored by another host. */
  async #told(id: string, keys: readonly string[]): Promise<void> {
    if (keys.length > FOREIGN_CHANGES || !this.#deps.hub.isOpen(id)) {
      this.#loaded.delete(id);
      this.#deps.hub.tellOpen({ event: 'drawing.changed', payload: { drawingId: id, changes: [], reopen: true } }, id);
      return;
    }
    const read = await Promise.all(keys.map((key) => this.#changes.get(key)));
    const changes = read.flatMap((change) => (change ? [withoutKey(change)] : []));
    this.#loaded.get(id)?.take(changes);
    this.#tell(id, changes);
  }

  /** Handles a deletion by another host; local changes made in the meantime are deleted too. */
  async #gone(id: string): Promise<void> {
    await this.#inTurn(id, async () => {
      this.#loaded.delete(id);
      const keys = await this.#changes.keys(`${id}/`);
      await this.#deps.vault.together(keys.map((key) => ({ store: 'drawingChanges', key })));
      this.#listed(id, true);
    });
  }

  #tell(drawingId: string, changes: Change[], from?: string): void {
    if (changes.length === 0 || !this.#deps.hub.isOpen(drawingId)) return;
    const large = JSON.stringify(changes).length > EVENT_CHARS;
    const payload = large ? { drawingId, changes: [], reopen: true } : { drawingId, changes };
    this.#deps.hub.tellOpen({ event: 'drawing.changed', payload }, drawingId, from);
  }

  #listed(drawingId: string, deleted?: true): void {
    const payload = { drawingId, ...(deleted ? { deleted } : {}) };
    this.#deps.hub.emit({ event: 'drawings.changed', payload }, followedKey(drawingId));
  }

  #refuseFuture(changes: readonly Change[]): void {
    const latest = this.#deps.clock.now() + DAY_MS;
    const at = changes.findIndex((change) => wallOf(change.at) > latest);
    if (at >= 0) throw new RpcError('INVALID_PARAMS', `\`changes.${at}.at\` must not be more than a day in the future.`);
  }

  /** Queues work, so that operations on one drawing run one after another. */
  #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#tails.get(id) ?? Promise.resolve()).then(work);
    const tail = turn.catch(() => {}).finally(() => this.#tails.get(id) === tail && this.#tails.delete(id));
    this.#tails.set(id, tail);
    return turn;
  }
}

const noDrawing = (id: string): RpcError => new RpcError('NOT_FOUND', `No drawing with id "${id}".`);

function refuseTooMuch(live: LiveChanges): void {
  if (live.chars > DRAWING_LIMITS.chars)
    throw new RpcError('INVALID_PARAMS', `A drawing can have at most ${DRAWING_LIMITS.chars} characters of JSON.`);
  // The count includes recently removed shapes.
  if (live.shapes > LIMITS.shapes * 2) throw new RpcError('INVALID_PARAMS', `A drawing can have at most ${LIMITS.shapes} shapes.`);
}

const keyOf = (drawingId: string, { id, at }: ChangeName): string => `${drawingId}/${id}/${at}`;
const putting = (drawingId: string, change: Change): RecordWrite => {
  const key = keyOf(drawingId, change);
  return { store: 'drawingChanges', key, record: { key, ...change } };
};
const removing = (drawingId: string, name: ChangeName): RecordWrite => ({ store: 'drawingChanges', key: keyOf(drawingId, name) });
const withoutKey = ({ key: _, ...change }: DrawingChange): Change => change;
