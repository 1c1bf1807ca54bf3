import { HybridClock } from '../sync/hybrid-clock.ts';
import { type Change, type FieldValues, PAGE_ID, type RegisterName } from './change.ts';
import { getFieldNames, type Kind, KINDS, type Page, type Shape } from './shape-fields.ts';

/** A value, and the time at which it was written. */
interface Register {
  readonly at: string;
  readonly value: unknown;
}

export interface DrawingEvent {
  /** Changed shapes; `page` is among them if the page changed. */
  readonly ids: ReadonlySet<string>;
  /** The changes, to send to other clients that show the drawing. */
  readonly changes: readonly Change[];
  /** Whether the change was made here rather than received. */
  readonly own: boolean;
}

export interface DrawingOptions {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly background?: string | null;
  /** Id of the writer, unique to each tab. Default: a random id. */
  readonly origin?: string;
  readonly now?: () => number;
}

/**
 * A list of shapes that several people may edit at once. Each field of each shape is a register: the last write wins, and removed shapes
 * keep their fields, so all replicas with the same changes, in any order, show the same drawing.
 */
export class Drawing {
  readonly origin: string;
  readonly #clock: HybridClock;
  readonly #records = new Map<string, Map<string, Register>>();
  readonly #shapes = new Map<string, Shape>();
  readonly #listeners = new Set<(event: DrawingEvent) => void>();
  readonly #blank: Page;
  #page: Page;
  #sorted: readonly Shape[] | undefined;

  constructor({ width, height, background = null, origin = crypto.randomUUID(), now = Date.now }: DrawingOptions) {
    this.origin = origin;
    this.#clock = new HybridClock(now, origin);
    this.#blank = KINDS.page.parse({ kind: 'page', x: 0, y: 0, width, height, background });
    this.#page = this.#blank;
  }

  /** The page: its area and background. */
  get page(): Page {
    return this.#page;
  }

  /** Shapes, lowest first; hidden ones too. The same list until something changes. */
  get shapes(): readonly Shape[] {
    return (this.#sorted ??= [...this.#shapes.values()].sort(compareOrder));
  }

  /** Index of a shape from the bottom; -1 if the shape does not exist. */
  placeOf(id: string): number {
    const shape = this.#shapes.get(id);
    return shape ? findInsertionIndex(this.shapes, shape) : -1;
  }

  shape(id: string): Shape | undefined {
    return this.#shapes.get(id);
  }

  /** A field's value, also of removed shapes. */
  value(id: string, field: RegisterName): unknown {
    return this.#records.get(id)?.get(field)?.value;
  }

  /** Whether this replica wrote the field last. */
  wroteLast(id: string, field: RegisterName): boolean {
    return this.#records.get(id)?.get(field)?.at.endsWith(`-${this.origin}`) ?? false;
  }

  /** Writes fields, which the caller has parsed. Several in one call are reported together. */
  write(writes: Iterable<readonly [id: string, set: FieldValues]>): Change[] {
    const changes = [...writes].map(([id, set]): Change => ({ id, at: this.#clock.tick(), set }));
    this.#merge(changes, true);
    return changes;
  }

  /** Merges changes made elsewhere (`parseChanges`), in any order and any number of times. */
  merge(changes: readonly Change[]): void {
    for (const { at } of changes) this.#clock.receive(at);
    this.#merge(changes, false);
  }

  /** All current field values as changes, for a client that joins later. */
  history(): Change[] {
    return [...this.#records].flatMap(([id, registers]) => {
      const together = new Map<string, Record<string, unknown>>();
      for (const [field, { at, value }] of registers) together.set(at, { ...together.get(at), [field]: value });
      return [...together].map(([at, set]): Change => ({ id, at, set }));
    });
  }

  /** Calls `listener` with each change. Returns a function that unsubscribes. */
  onChange(listener: (event: DrawingEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #merge(changes: readonly Change[], isOwn: boolean): void {
    const ids = new Set<string>();
    for (const { id, at, set } of changes) {
      const record = this.#records.get(id) ?? new Map<string, Register>();
      this.#records.set(id, record);
      for (const [field, value] of Object.entries(set)) {
        const existing = record.get(field);
        if (existing !== undefined && existing.at >= at) continue;
        record.set(field, { at, value });
        ids.add(id);
      }
    }
    if (ids.size === 0) return;
    // A few changes are inserted into the sorted list; many are sorted on the next access.
    const list = ids.size <= MAX_SORTED_INSERTS && this.#sorted ? [...this.#sorted] : undefined;
    for (const id of ids) {
      const before = this.#shapes.get(id);
      if (list && before) list.splice(findInsertionIndex(list, before), 1);
      this.#updateShape(id);
      const after = this.#shapes.get(id);
      if (list && after) list.splice(findInsertionIndex(list, after), 0, after);
    }
    this.#sorted = list;
    for (const listener of this.#listeners) listener({ ids, changes, own: isOwn });
  }

  /** Builds the shape of a record's registers: it exists once all fields of its kind do. */
  #updateShape(id: string): void {
    const record = this.#records.get(id) ?? new Map<string, Register>();
    const kind = record.get('kind')?.value as keyof typeof KINDS | undefined;
    if (id === PAGE_ID) {
      const setFields = getFieldNames('page').filter((field) => field !== 'kind' && record.has(field));
      this.#page = { ...this.#blank, ...Object.fromEntries(setFields.map((field) => [field, record.get(field)?.value])) };
      return;
    }
    const fields = kind === undefined || kind === 'page' || record.get('removed')?.value !== false ? [] : getFieldNames(kind);
    if (fields.length === 0 || !fields.every((field) => record.has(field))) return void this.#shapes.delete(id);
    const shape = Object.fromEntries(fields.map((field) => [field, record.get(field)?.value]));
    this.#shapes.set(id, Object.freeze({ id, ...shape }) as Shape<Kind>);
  }
}

/** Maximum number of changed shapes to insert into the sorted list one by one. */
const MAX_SORTED_INSERTS = 8;

/** Index of a shape in a sorted list, or its insertion index. */
function findInsertionIndex(list: readonly Shape[], shape: Shape): number {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const other = list[middle];
    if (other && compareOrder(other, shape) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Compares by order key, then by id: keys are equal if two clients created them at the same time. */
function compareOrder(a: Shape, b: Shape): number {
  if (a.order !== b.order) return a.order < b.order ? -1 : 1;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
