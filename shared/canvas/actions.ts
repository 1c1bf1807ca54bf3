import { generateKeyBetween } from 'fractional-indexing';
import { aligned, distributed, type Edge, type Shift } from './arrange.ts';
import type { FieldValues } from './change.ts';
import { shapesFromText } from './clipboard.ts';
import type { Editor, Move } from './editor.ts';
import { type Kind, LIMITS, type NewShape, type Shape } from './fields.ts';
import { type Box, sheetOf } from './geometry.ts';
import { spanOf, spanOfAll } from './handles.ts';
import { estimateWidth, type Measure } from './marks.ts';
import { type Axis, middleOf, mirroredAt, moved, resizedWith, turnedAbout } from './transform.ts';
import type { Point } from './path.ts';

/** The least side of a sheet, in CSS pixels. */
const LEAST_SHEET = 1;

/**
 * Actions on selected shapes and on the page. Each is one step of undo; consecutive ones with the same `gesture` are one. Locked shapes are
 * not changed. An action without effect is not a step.
 */
export class Actions {
  readonly #editor: Editor;
  readonly #measure: Measure;

  constructor(editor: Editor, measure: Measure = estimateWidth) {
    this.#editor = editor;
    this.#measure = measure;
  }

  /** Takes shapes away. Returns how many went. */
  remove(ids: readonly string[]): number {
    return this.#editor.remove(this.#free(ids).map(({ id }) => id));
  }

  /** Moves shapes up or down the pile. Returns how many there are. */
  order(ids: readonly string[], move: Move): number {
    const free = this.#free(ids);
    this.#editor.move(
      free.map(({ id }) => id),
      move,
    );
    return free.length;
  }

  /** Moves shapes, in CSS pixels. */
  nudge(ids: readonly string[], dx: number, dy: number, gesture?: string): number {
    return this.#set(this.#free(ids), (shape) => moved(shape, dx, dy), gesture);
  }

  /** Makes shapes wider and higher together, in CSS pixels; their left upper corner stays. */
  grow(ids: readonly string[], dx: number, dy: number, gesture?: string): number {
    const free = this.#free(ids);
    const from = spanOfAll(free, this.#measure);
    const to = { ...from, width: Math.max(1, from.width + dx), height: Math.max(1, from.height + dy) };
    return this.#set(free, (shape) => resizedWith(shape, from, to, this.#measure), gesture);
  }

  /** Brings the edges or middles of several into one line; those of one to the sheet's. */
  align(ids: readonly string[], edge: Edge): number {
    const free = this.#free(ids);
    const boxes = free.map((shape) => spanOf(shape, this.#measure));
    const within = free.length === 1 ? sheetOf(this.#editor.drawing.page) : spanOfAll(free, this.#measure);
    return this.#shift(free, aligned(boxes, edge, within));
  }

  /** Makes the gaps between three or more alike. */
  distribute(ids: readonly string[], axis: Axis): number {
    const free = this.#free(ids);
    return this.#shift(
      free,
      distributed(
        free.map((shape) => spanOf(shape, this.#measure)),
        axis,
      ),
    );
  }

  /** Mirrors shapes on the middle of the box around them; without any, the whole sheet with all on it. */
  flip(ids: readonly string[], axis: Axis): number {
    const { page, shapes } = this.#editor.drawing;
    const chosen = ids.length > 0 ? this.#free(ids) : shapes;
    const box = ids.length > 0 ? spanOfAll(chosen, this.#measure) : sheetOf(page);
    const at = middleOf(box)[axis === 'x' ? 0 : 1];
    return this.#set(chosen, (shape) => mirroredAt(shape, axis, at, this.#measure));
  }

  /** Turns shapes clockwise about the middle of the box around them. */
  turn(ids: readonly string[], degrees: number, gesture?: string): number {
    const free = this.#free(ids);
    const about = middleOf(spanOfAll(free, this.#measure));
    return this.#set(free, (shape) => turnedAbout(shape, about, degrees, this.#measure), gesture);
  }

  /** Rotates the sheet and its shapes clockwise by quarters; its left upper corner stays. */
  turnSheet(quarters: number): void {
    const { page, shapes } = this.#editor.drawing;
    const times = ((quarters % 4) + 4) % 4;
    const [cx, cy] = middleOf(page);
    const [width, height] = times % 2 === 0 ? [page.width, page.height] : [page.height, page.width];
    const [dx, dy] = [page.x + width / 2 - cx, page.y + height / 2 - cy];
    if (times === 0) return;
    this.#editor.step(() => {
      this.#set(shapes, (shape) => {
        const set = turnedAbout(shape, [cx, cy], times * 90, this.#measure);
        return { ...set, ...moved({ ...shape, ...set } as Shape, dx, dy) };
      });
      if (width !== page.width || height !== page.height) this.#editor.setPage({ width, height });
    });
  }

  /** Crops the sheet to the box, in whole pixels. Shapes outside are kept but hidden. Returns false if nothing changes. */
  crop(box: Box): boolean {
    const { page } = this.#editor.drawing;
    const [x, y] = [Math.round(box.x), Math.round(box.y)];
    const width = Math.max(LEAST_SHEET, Math.round(box.x + box.width) - x);
    const height = Math.max(LEAST_SHEET, Math.round(box.y + box.height) - y);
    if (x === page.x && y === page.y && width === page.width && height === page.height) return false;
    this.#editor.setPage({ x, y, width, height });
    return true;
  }

  /** Gives shapes fields that they have; others of them are let be. */
  style(ids: readonly string[], fields: FieldValues, gesture?: string): number {
    return this.#set(
      this.#free(ids),
      (shape) =>
        Object.fromEntries(Object.entries(fields).filter(([field, value]) => field in shape && Reflect.get(shape, field) !== value)),
      gesture,
    );
  }

  /** Sets a flag of shapes, locked ones too. */
  flag(ids: readonly string[], flag: 'locked' | 'hidden', on: boolean): number {
    const there = this.#there(ids).filter((shape) => shape[flag] !== on);
    return this.#set(there, () => ({ [flag]: on }));
  }

  /** Adds moved copies on top. Returns their ids; none if the drawing is full. */
  copies(shapes: readonly Shape[], dx: number, dy: number): string[] {
    const { drawing } = this.#editor;
    if (shapes.length === 0 || drawing.shapes.length + shapes.length > LIMITS.shapes) return [];
    const ids: string[] = [];
    this.#editor.step(() => {
      for (const shape of shapes) {
        const { id: _, ...fields } = { ...shape, ...moved(shape, dx, dy), locked: false, hidden: false };
        const order = generateKeyBetween(drawing.shapes.at(-1)?.order ?? null, null);
        ids.push(this.#editor.add(shape.kind, { ...fields, order } as unknown as NewShape<Kind>).id);
      }
    });
    return ids;
  }

  /** Adds the shapes of a clipboard's text on top, centred on a point or slightly moved. Undefined if the text is something else. */
  paste(text: string, at?: Point): string[] | undefined {
    const shapes = shapesFromText(text);
    if (!shapes) return undefined;
    const [cx, cy] = middleOf(spanOfAll(shapes, this.#measure));
    const [dx, dy] = at ? [at[0] - cx, at[1] - cy] : [16, 16];
    return this.copies(shapes, dx, dy);
  }

  #there(ids: readonly string[]): Shape[] {
    const wanted = new Set(ids);
    return this.#editor.drawing.shapes.filter(({ id }) => wanted.has(id));
  }

  #free(ids: readonly string[]): Shape[] {
    return this.#there(ids).filter(({ locked }) => !locked);
  }

  #shift(shapes: readonly Shape[], shifts: readonly Shift[]): number {
    const by = new Map(shapes.map(({ id }, nth) => [id, shifts[nth] ?? ([0, 0] as const)]));
    return this.#set(shapes, (shape) => moved(shape, ...(by.get(shape.id) ?? [0, 0])));
  }

  /** Returns how many became otherwise. */
  #set(shapes: readonly Shape[], fields: (shape: Shape) => FieldValues, gesture?: string): number {
    const sets = shapes.map((shape) => [shape.id, fields(shape)] as const).filter(([, set]) => Object.keys(set).length > 0);
    this.#editor.setAll(sets, gesture);
    return sets.length;
  }
}
