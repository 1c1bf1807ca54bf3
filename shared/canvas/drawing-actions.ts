import { generateKeyBetween } from 'fractional-indexing';
import { computeAlignment, computeDistribution, type Edge, type Shift } from './arrange.ts';
import type { FieldValues } from './change.ts';
import { shapesFromText } from './clipboard.ts';
import type { Editor, Move } from './editor.ts';
import { type Kind, LIMITS, type NewShape, type Shape } from './shape-fields.ts';
import { type Box, getPageBox } from './geometry.ts';
import { getSpan, getCombinedSpan } from './handles.ts';
import { estimateWidth, type MeasureText } from './marks.ts';
import { type Axis, getCenter, mirrorShape, moveShape, resizeShape, rotateShape } from './transform.ts';
import type { Point } from './path.ts';

/** Minimum width and height of a page, in CSS pixels. */
const MIN_PAGE_SIDE = 1;

/**
 * Actions on selected shapes and on the page. Each is one step of undo; consecutive ones with the same `gesture` are one. Locked shapes are
 * not changed. An action without effect is not a step.
 */
export class DrawingActions {
  readonly #editor: Editor;
  readonly #measure: MeasureText;

  constructor(editor: Editor, measure: MeasureText = estimateWidth) {
    this.#editor = editor;
    this.#measure = measure;
  }

  /** Removes shapes. Returns the number of removed shapes. */
  remove(ids: readonly string[]): number {
    return this.#editor.remove(this.#findUnlocked(ids).map(({ id }) => id));
  }

  /** Moves shapes up or down in the stacking order. Returns the number of shapes. */
  order(ids: readonly string[], move: Move): number {
    const free = this.#findUnlocked(ids);
    this.#editor.move(
      free.map(({ id }) => id),
      move,
    );
    return free.length;
  }

  /** Moves shapes, in CSS pixels. */
  nudge(ids: readonly string[], dx: number, dy: number, gesture?: string): number {
    return this.#setFields(this.#findUnlocked(ids), (shape) => moveShape(shape, dx, dy), gesture);
  }

  /** Resizes shapes together by CSS pixels; the upper left corner stays. */
  grow(ids: readonly string[], dx: number, dy: number, gesture?: string): number {
    const free = this.#findUnlocked(ids);
    const from = getCombinedSpan(free, this.#measure);
    const to = { ...from, width: Math.max(1, from.width + dx), height: Math.max(1, from.height + dy) };
    return this.#setFields(free, (shape) => resizeShape(shape, from, to, this.#measure), gesture);
  }

  /** Aligns the edges or centres of several shapes, or of a single shape to the page. */
  align(ids: readonly string[], edge: Edge): number {
    const free = this.#findUnlocked(ids);
    const boxes = free.map((shape) => getSpan(shape, this.#measure));
    const area = free.length === 1 ? getPageBox(this.#editor.drawing.page) : getCombinedSpan(free, this.#measure);
    return this.#applyShifts(free, computeAlignment(boxes, edge, area));
  }

  /** Makes the gaps between three or more shapes equal. */
  distribute(ids: readonly string[], axis: Axis): number {
    const free = this.#findUnlocked(ids);
    return this.#applyShifts(
      free,
      computeDistribution(
        free.map((shape) => getSpan(shape, this.#measure)),
        axis,
      ),
    );
  }

  /** Mirrors shapes about the centre of their bounding box; without ids, the whole page. */
  flip(ids: readonly string[], axis: Axis): number {
    const { page, shapes } = this.#editor.drawing;
    const targets = ids.length > 0 ? this.#findUnlocked(ids) : shapes;
    const box = ids.length > 0 ? getCombinedSpan(targets, this.#measure) : getPageBox(page);
    const at = getCenter(box)[axis === 'x' ? 0 : 1];
    return this.#setFields(targets, (shape) => mirrorShape(shape, axis, at, this.#measure));
  }

  /** Rotates shapes clockwise about the centre of the box around them. */
  rotate(ids: readonly string[], degrees: number, gesture?: string): number {
    const free = this.#findUnlocked(ids);
    const center = getCenter(getCombinedSpan(free, this.#measure));
    return this.#setFields(free, (shape) => rotateShape(shape, center, degrees, this.#measure), gesture);
  }

  /** Rotates the page and its shapes clockwise by quarter turns. The page's upper left corner stays. */
  rotatePage(quarters: number): void {
    const { page, shapes } = this.#editor.drawing;
    const times = ((quarters % 4) + 4) % 4;
    const [cx, cy] = getCenter(page);
    const [width, height] = times % 2 === 0 ? [page.width, page.height] : [page.height, page.width];
    const [dx, dy] = [page.x + width / 2 - cx, page.y + height / 2 - cy];
    if (times === 0) return;
    this.#editor.step(() => {
      this.#setFields(shapes, (shape) => {
        const set = rotateShape(shape, [cx, cy], times * 90, this.#measure);
        return { ...set, ...moveShape({ ...shape, ...set } as Shape, dx, dy) };
      });
      if (width !== page.width || height !== page.height) this.#editor.setPage({ width, height });
    });
  }

  /** Crops the page to the box, in whole pixels. Shapes outside are kept but hidden. Returns false if nothing changes. */
  crop(box: Box): boolean {
    const { page } = this.#editor.drawing;
    const [x, y] = [Math.round(box.x), Math.round(box.y)];
    const width = Math.max(MIN_PAGE_SIDE, Math.round(box.x + box.width) - x);
    const height = Math.max(MIN_PAGE_SIDE, Math.round(box.y + box.height) - y);
    if (x === page.x && y === page.y && width === page.width && height === page.height) return false;
    this.#editor.setPage({ x, y, width, height });
    return true;
  }

  /** Sets fields of shapes. Ignores fields that a shape doesn't have. */
  setStyle(ids: readonly string[], fields: FieldValues, gesture?: string): number {
    return this.#setFields(
      this.#findUnlocked(ids),
      (shape) =>
        Object.fromEntries(Object.entries(fields).filter(([field, value]) => field in shape && Reflect.get(shape, field) !== value)),
      gesture,
    );
  }

  /** Sets a flag of shapes, locked ones too. */
  setFlag(ids: readonly string[], flag: 'locked' | 'hidden', on: boolean): number {
    const targets = this.#findShapes(ids).filter((shape) => shape[flag] !== on);
    return this.#setFields(targets, () => ({ [flag]: on }));
  }

  /** Adds moved copies on top. Returns their ids; none if the drawing is full. */
  addCopies(shapes: readonly Shape[], dx: number, dy: number): string[] {
    const { drawing } = this.#editor;
    if (shapes.length === 0 || drawing.shapes.length + shapes.length > LIMITS.shapes) return [];
    const ids: string[] = [];
    this.#editor.step(() => {
      for (const shape of shapes) {
        const { id: _, ...fields } = { ...shape, ...moveShape(shape, dx, dy), locked: false, hidden: false };
        const order = generateKeyBetween(drawing.shapes.at(-1)?.order ?? null, null);
        ids.push(this.#editor.add(shape.kind, { ...fields, order } as unknown as NewShape<Kind>).id);
      }
    });
    return ids;
  }

  /** Adds the shapes of a clipboard's text on top, centred on a point or slightly moved. Undefined if the text has no shapes. */
  paste(text: string, at?: Point): string[] | undefined {
    const shapes = shapesFromText(text);
    if (!shapes) return undefined;
    const [cx, cy] = getCenter(getCombinedSpan(shapes, this.#measure));
    const [dx, dy] = at ? [at[0] - cx, at[1] - cy] : [16, 16];
    return this.addCopies(shapes, dx, dy);
  }

  #findShapes(ids: readonly string[]): Shape[] {
    const idSet = new Set(ids);
    return this.#editor.drawing.shapes.filter(({ id }) => idSet.has(id));
  }

  #findUnlocked(ids: readonly string[]): Shape[] {
    return this.#findShapes(ids).filter(({ locked }) => !locked);
  }

  #applyShifts(shapes: readonly Shape[], shifts: readonly Shift[]): number {
    const by = new Map(shapes.map(({ id }, nth) => [id, shifts[nth] ?? ([0, 0] as const)]));
    return this.#setFields(shapes, (shape) => moveShape(shape, ...(by.get(shape.id) ?? [0, 0])));
  }

  /** Returns the number of changed shapes. */
  #setFields(shapes: readonly Shape[], fields: (shape: Shape) => FieldValues, gesture?: string): number {
    const sets = shapes.map((shape) => [shape.id, fields(shape)] as const).filter(([, set]) => Object.keys(set).length > 0);
    this.#editor.setAll(sets, gesture);
    return sets.length;
  }
}
