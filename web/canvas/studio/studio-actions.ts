import type { Edge } from '#shared/canvas/arrange.ts';
import { shapesToText } from '#shared/canvas/clipboard.ts';
import type { Move } from '#shared/canvas/editor.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import { type Box, getPageBox } from '#shared/canvas/geometry.ts';
import { moveEnd, isEndHandle, getSpan } from '#shared/canvas/handles.ts';
import type { Axis } from '#shared/canvas/transform.ts';
import { measureText } from '../../paint/measure-text.ts';
import type { CanvasPoint } from '../coordinate-map.ts';
import { StudioCore } from './studio-core.ts';
import type { StudioTool } from './studio-tools.ts';

/** Changes of the same property within this many milliseconds are one undo step, such as dragging a colour or holding a key. */
const COALESCE_MS = 800;

/** Actions on the selection and the sheet: each is one undo step and is announced. Lengths are CSS pixels of the drawing. */
export abstract class StudioActions extends StudioCore {
  #gesture = { name: '', at: 0, number: 0 };

  abstract tool: StudioTool;

  /** Removes the selection. */
  remove(): void {
    const [shape] = this.selectedShapes;
    const name = shape && this.selectedShapes.length === 1 ? this.texts.shape(shape) : undefined;
    const count = this.actions.remove(this.selection);
    if (count > 0) this.announce(this.texts.action('removed', name ?? this.texts.shapes(count)));
  }

  /** Duplicates the selection next to it and selects the copies. */
  duplicate(): void {
    const ids = this.actions.addCopies(this.#getSelectedInOrder(), 16, 16);
    if (ids.length === 0) return;
    this.select(ids);
    this.announce(this.texts.action('duplicated', this.texts.shapes(ids.length)));
  }

  /** Selects all shapes that are neither hidden nor locked. */
  selectAll(): void {
    this.tool = 'select';
    this.select(this.drawing.shapes.flatMap(({ id, hidden, locked }) => (hidden || locked ? [] : [id])));
    this.announce(this.texts.action('selected', this.texts.shapes(this.selection.length)));
  }

  /** Moves the selection within the stack. */
  order(move: Move): void {
    this.announceChange(this.actions.order(this.selection, move), this.texts.ordered(move));
  }

  align(edge: Edge): void {
    this.announceChange(this.actions.align(this.selection, edge), this.texts.aligned(edge));
  }

  distribute(axis: Axis): void {
    this.announceChange(this.actions.distribute(this.selection, axis), this.texts.distributed(axis));
  }

  /** Mirrors the selection, or the whole sheet if nothing is selected. `x`: left becomes right. */
  flip(axis: Axis): void {
    this.announceChange(this.actions.flip(this.selection, axis), this.texts.flipped(axis));
  }

  /**
   * Rotates the selection clockwise, or the whole sheet by quarters if nothing is selected. Throws a RangeError for another angle of the
   * sheet.
   */
  rotate(degrees: number): void {
    if (this.selection.length > 0) return this.rotateSelection(degrees);
    if (degrees % 90 !== 0) throw new RangeError(`A drawing can only be rotated in steps of 90°, not by ${degrees}°`);
    this.actions.rotatePage(degrees / 90);
    this.view.fit();
    if (this.tool === 'crop') this.cropFrame = getPageBox(this.drawing.page);
    this.announce(this.texts.sheetTurned(degrees));
  }

  /** Rotates the selection clockwise. */
  rotateSelection(degrees: number): void {
    this.announceChange(this.actions.rotate(this.selection, degrees, this.getCoalesceKey('turn')), this.texts.turnedBy(degrees));
  }

  /**
   * Grips the next end of the selected line, or the tip of the selected callout, so that `nudge` moves it; after the last one, the whole
   * shape again. Returns false if it has no ends.
   */
  gripNextEnd(): boolean {
    const ends = this.selectionFrame?.handles.map(({ name }) => name).filter(isEndHandle) ?? [];
    const next = ends[ends.findIndex((end) => end === this.grippedEnd) + 1];
    this.grippedEnd = next;
    if (ends.length > 0) this.announce(this.texts.gripped(next));
    return ends.length > 0;
  }

  /** Moves the selection, or its gripped end. */
  nudge(dx: number, dy: number): void {
    const { grippedEnd, selectionFrame } = this;
    const at = grippedEnd && selectionFrame?.handles.find(({ name }) => name === grippedEnd)?.at;
    if (grippedEnd && selectionFrame && at) {
      const to = [at[0] + dx, at[1] + dy] as const;
      this.announceChange(
        this.actions.setStyle(this.selection, moveEnd(selectionFrame, grippedEnd, to), this.getCoalesceKey(grippedEnd)),
        this.texts.at(...to),
      );
      return;
    }
    if (this.actions.nudge(this.selection, dx, dy, this.getCoalesceKey('nudge')) === 0) return;
    const [box] = this.selectedShapes.map((shape) => getSpan(shape, measureText));
    if (box) this.announce(this.texts.at(box.x, box.y));
  }

  /** Enlarges the selection from its left upper corner. */
  resizeBy(dx: number, dy: number): void {
    if (this.actions.grow(this.selection, dx, dy, this.getCoalesceKey('grow')) === 0) return;
    const [box] = this.selectedShapes.map((shape) => getSpan(shape, measureText));
    if (box) this.announce(this.texts.size(box.width, box.height));
  }

  /** Sets the opacity of the selection, 0 to 1. Throws a RangeError for other values. */
  setOpacity(opacity: number): void {
    if (!(opacity >= 0 && opacity <= 1)) throw new RangeError(`The opacity must be 0 to 1, not ${opacity}`);
    const count = this.actions.setStyle(this.selection, { opacity }, this.getCoalesceKey('opacity'));
    this.announceChange(count, this.texts.opacity(opacity));
  }

  /** Locks or unlocks shapes. Locked shapes cannot be changed and are deselected. */
  lock(ids: readonly string[], on: boolean): void {
    if (on) this.#deselect(ids);
    this.announceChange(this.actions.setFlag(ids, 'locked', on), this.texts.event(on ? 'locked' : 'unlocked'));
  }

  /** Hides or shows shapes. Hidden shapes are not exported and are deselected. */
  hide(ids: readonly string[], on: boolean): void {
    if (on) this.#deselect(ids);
    this.announceChange(this.actions.setFlag(ids, 'hidden', on), this.texts.event(on ? 'hidden' : 'shown'));
  }

  /** Returns the selection as text for the clipboard; '' if nothing is selected. */
  copy(): string {
    if (this.selection.length === 0) return '';
    this.announce(this.texts.action('copied', this.texts.shapes(this.selection.length)));
    return shapesToText(this.#getSelectedInOrder());
  }

  /** Copies and removes the selection. */
  cut(): string {
    const text = this.copy();
    this.remove();
    return text;
  }

  /**
   * Inserts the result of `copy` on top and selects it, centred on a point of the drawing or next to its original. Returns false for any
   * other text.
   */
  paste(text: string, at?: CanvasPoint): boolean {
    const ids = this.actions.paste(text, at && [at.x, at.y]);
    if (!ids) return false;
    this.#selectAdded(ids, ids.length === 0 ? this.texts.event('noRoom') : this.texts.action('pasted', this.texts.shapes(ids.length)));
    return true;
  }

  /** Opens the text of a text or callout for editing. Returns false for other kinds and locked shapes. */
  editText(id: string): boolean {
    const shape = this.drawing.shape(id);
    if ((shape?.kind !== 'text' && shape?.kind !== 'callout') || shape.locked) return false;
    this.openTextField(shape);
    return true;
  }

  /**
   * Adds a picture (a data URL of pixels) on top, centred on a point or on the sheet, and selects it. It is scaled down to the size of the
   * sheet. Returns its id.
   */
  addImage(src: string, pixelWidth: number, pixelHeight: number, at?: CanvasPoint): string {
    const { page } = this.drawing;
    const scale = Math.min(1, page.width / pixelWidth, page.height / pixelHeight);
    const [width, height] = [pixelWidth * scale, pixelHeight * scale];
    const { x, y } = at ?? { x: page.x + page.width / 2, y: page.y + page.height / 2 };
    const { id } = this.editor.add('image', { src, width, height, x: x - width / 2, y: y - height / 2 });
    this.#selectAdded([id], this.texts.event('pictureAdded'));
    return id;
  }

  /** Crops the sheet to the crop frame, and activates the select tool. */
  applyCrop(): void {
    const box = this.cropFrame;
    if (!box) return;
    const done = this.actions.crop(box);
    this.tool = 'select';
    this.view.fit();
    const { width, height } = this.drawing.page;
    this.announce(done ? this.texts.cropped(width, height) : this.texts.event('notCropped'));
  }

  /** Moves or resizes the crop frame. */
  nudgeCrop(dx: number, dy: number, isResize: boolean): void {
    const box = this.cropFrame;
    if (!box) return;
    const next: Box = isResize
      ? { ...box, width: Math.max(1, box.width + dx), height: Math.max(1, box.height + dy) }
      : { ...box, x: box.x + dx, y: box.y + dy };
    this.cropFrame = next;
    this.announce(this.texts.frame(next.x, next.y, next.width, next.height));
  }

  /** Key of an undo step, the same for changes that are repeated quickly on the same shapes. */
  protected getCoalesceKey(change: string): string {
    const [name, now] = [`${change} ${this.selection.join()}`, performance.now()];
    const isRepeated = this.#gesture.name === name && now - this.#gesture.at < COALESCE_MS;
    this.#gesture = { name, at: now, number: this.#gesture.number + (isRepeated ? 0 : 1) };
    return `${name} ${this.#gesture.number}`;
  }

  protected announceChange(done: number | boolean, message: string): void {
    if (done !== 0) this.announce(message);
    this.scheduleNotify();
  }

  /** The selected shapes, from lowest to highest. */
  #getSelectedInOrder(): Shape[] {
    const selectedIds = new Set(this.selection);
    return this.drawing.shapes.filter(({ id }) => selectedIds.has(id));
  }

  #deselect(ids: readonly string[]): void {
    this.select(this.selection.filter((id) => !ids.includes(id)));
  }

  #selectAdded(ids: readonly string[], message: string): void {
    this.tool = 'select';
    this.select(ids);
    this.announce(message);
  }
}
