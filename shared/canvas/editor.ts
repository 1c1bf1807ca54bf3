import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing';
import { type FieldValues, PAGE_ID, type RegisterName } from './change.ts';
import type { Drawing } from './drawing.ts';
import {
  getFieldNames,
  type Kind,
  LIMITS,
  type NewShape,
  type Page,
  type Shape,
  createShapeFields,
  parsePartialFields,
} from './shape-fields.ts';

/** Change of a field in one step. */
interface FieldWrite {
  readonly id: string;
  readonly field: RegisterName;
  readonly before: unknown;
  after: unknown;
}
interface UndoStep {
  readonly writes: Map<string, FieldWrite>;
  readonly gesture: string | undefined;
}

export type Move = 'front' | 'back' | 'forward' | 'backward';

const MAX_STEPS = 10_000;

/** Edits a drawing for one person and undoes only that person's steps, never the changes of others. */
export class Editor {
  readonly drawing: Drawing;
  #done: UndoStep[] = [];
  #redoSteps: UndoStep[] = [];
  #open: UndoStep | undefined;

  constructor(drawing: Drawing) {
    this.drawing = drawing;
  }

  get canUndo(): boolean {
    return this.#done.length > 0;
  }

  get canRedo(): boolean {
    return this.#redoSteps.length > 0;
  }

  /** Adds a shape on top of all others. Throws a ZodError if a field is invalid, a RangeError if the drawing is full. */
  add<K extends Kind>(kind: K, initial: NewShape<K>, gesture?: string): Shape<K> {
    const { shapes } = this.drawing;
    if (shapes.length >= LIMITS.shapes) throw new RangeError(`A drawing can have at most ${LIMITS.shapes} shapes`);
    const fields = createShapeFields(kind, initial, initial.order ?? generateKeyBetween(shapes.at(-1)?.order ?? null, null));
    const id = crypto.randomUUID();
    this.#write([[id, { ...(fields as FieldValues), removed: false }]], gesture);
    return { id, ...fields } as Shape<K>;
  }

  /**
   * Changes fields of a shape. Consecutive changes with the same `gesture` are one step. Throws a ZodError for a field that is invalid or
   * unknown to its kind, a RangeError if the shape does not exist.
   */
  set<K extends Kind>(id: string, fields: Partial<Omit<NewShape<K>, 'kind'>>, gesture?: string): void {
    const shape = this.drawing.shape(id);
    if (!shape) throw new RangeError(`No shape with id "${id}"`);
    this.#write([[id, parsePartialFields(shape.kind, fields)]], gesture);
  }

  /** Changes fields of several shapes. Throws like `set`, without changing any shape. */
  setAll(sets: Iterable<readonly [id: string, fields: FieldValues]>, gesture?: string): void {
    const writes = [...sets].map(([id, fields]) => {
      const shape = this.drawing.shape(id);
      if (!shape) throw new RangeError(`No shape with id "${id}"`);
      return [id, parsePartialFields(shape.kind, fields) as FieldValues] as const;
    });
    if (writes.length > 0) this.#write(writes, gesture);
  }

  /** Moves or resizes the page, or changes its background. */
  setPage(fields: Partial<Omit<Page, 'kind'>>): void {
    this.#write([[PAGE_ID, parsePartialFields('page', fields)]]);
  }

  /** Removes shapes; unknown ids are ignored. Returns the number of removed shapes. */
  remove(ids: Iterable<string>): number {
    const existing = [...new Set(ids)].filter((id) => this.drawing.shape(id));
    if (existing.length > 0) this.#write(existing.map((id) => [id, { removed: true }]));
    return existing.length;
  }

  /** Moves shapes up or down in the stacking order. Their relative order stays. */
  move(ids: Iterable<string>, direction: Move): void {
    const idSet = new Set(ids);
    const { shapes } = this.drawing;
    const moving = shapes.filter(({ id }) => idSet.has(id));
    const rest = shapes.filter(({ id }) => !idSet.has(id));
    const [lowest, highest] = [moving[0], moving.at(-1)];
    if (!lowest || !highest) return;
    const target = {
      back: 0,
      front: rest.length,
      forward: rest.filter((other) => shapes.indexOf(other) < shapes.indexOf(highest)).length + 1,
      backward: rest.filter((other) => shapes.indexOf(other) < shapes.indexOf(lowest)).length - 1,
    }[direction];
    const at = Math.min(Math.max(target, 0), rest.length);
    const below = rest[at - 1]?.order ?? null;
    // Shapes with equal keys, created concurrently, have no key between them.
    const above = rest.slice(at).find(({ order }) => below === null || order > below)?.order ?? null;
    const keys = generateNKeysBetween(below, above, moving.length);
    this.#write(moving.map(({ id }, nth) => [id, { order: keys[nth] }]));
  }

  /** Runs `run` and records all its changes as one step. */
  step(run: () => void): void {
    if (this.#open) return run();
    const step = (this.#open = { writes: new Map(), gesture: undefined });
    try {
      run();
    } finally {
      this.#open = undefined;
      if (step.writes.size > 0) this.#remember(step);
    }
  }

  /** Undoes the last step. Returns false if there is none. */
  undo(): boolean {
    return this.#turn(this.#done, this.#redoSteps, 'before');
  }

  /** Redoes the last undone step. Returns false if there is none. */
  redo(): boolean {
    return this.#turn(this.#redoSteps, this.#done, 'after');
  }

  #turn(from: UndoStep[], to: UndoStep[], side: 'before' | 'after'): boolean {
    const step = from.pop();
    if (!step) return false;
    to.push(step);
    const sets = new Map<string, Record<string, unknown>>();
    for (const write of step.writes.values()) {
      const { id, field, before } = write;
      // A removed shape keeps its initial fields.
      if (before === undefined || !this.drawing.wroteLast(id, field)) continue;
      sets.set(id, { ...sets.get(id), [field]: write[side] });
    }
    this.drawing.write([...sets] as [string, FieldValues][]);
    return true;
  }

  #write(writes: readonly (readonly [string, FieldValues])[], gesture?: string): void {
    const last = this.#done.at(-1);
    const isJoined = gesture !== undefined && last?.gesture === gesture && this.#redoSteps.length === 0;
    const step = this.#open ?? (isJoined ? last : { writes: new Map<string, FieldWrite>(), gesture });
    for (const [id, set] of writes) {
      for (const [field, after] of Object.entries(set) as [RegisterName, unknown][]) {
        const existing = step.writes.get(`${id} ${field}`);
        if (existing) existing.after = after;
        else step.writes.set(`${id} ${field}`, { id, field, before: this.#before(id, field), after });
      }
    }
    this.drawing.write(writes);
    if (!this.#open && !isJoined) this.#remember(step);
  }

  #before(id: string, field: RegisterName): unknown {
    const value = this.drawing.value(id, field);
    if (value !== undefined) return value;
    if (field === 'removed') return true;
    return id === PAGE_ID && getFieldNames('page').includes(field) ? Reflect.get(this.drawing.page, field) : undefined;
  }

  #remember(step: UndoStep): void {
    this.#done.push(step);
    if (this.#done.length > MAX_STEPS) this.#done.shift();
    this.#redoSteps = [];
  }
}
