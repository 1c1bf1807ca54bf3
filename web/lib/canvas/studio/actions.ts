import type { Edge } from '#shared/canvas/arrange.ts';
import { shapesToText } from '#shared/canvas/clipboard.ts';
import type { Move } from '#shared/canvas/editor.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import { type Box, sheetOf } from '#shared/canvas/geometry.ts';
import { endMoved, isEnd, spanOf } from '#shared/canvas/handles.ts';
import type { Axis } from '#shared/canvas/transform.ts';
import { measureText } from '../../../paint/measure.ts';
import type { Place } from '../ground.ts';
import { StudioCore } from './core.ts';
import type { StudioTool } from './tools.ts';

/** Changes of the same property within this many milliseconds are one undo step, such as dragging a colour or holding a key. */
const TOGETHER = 800;

/** Actions on the selection and the sheet: each is one undo step and is announced. Lengths are CSS pixels of the drawing. */
export abstract class StudioActions extends StudioCore {
  #gesture = { name: '', at: 0, number: 0 };

  abstract tool: StudioTool;

  /** Removes the selection. */
  remove(): void {
    const [one] = this.chosen;
    const name = one && this.chosen.length === 1 ? this.words.shape(one) : undefined;
    const count = this.actions.remove(this.selection);
    if (count > 0) this.say(this.words.did('removed', name ?? this.words.shapes(count)));
  }

  /** Duplicates the selection next to it and selects the copies. */
  duplicate(): void {
    const ids = this.actions.copies(this.#pile(), 16, 16);
    if (ids.length === 0) return;
    this.select(ids);
    this.say(this.words.did('duplicated', this.words.shapes(ids.length)));
  }

  /** Chooses all that is neither hidden nor locked. */
  selectAll(): void {
    this.tool = 'select';
    this.select(this.drawing.shapes.flatMap(({ id, hidden, locked }) => (hidden || locked ? [] : [id])));
    this.say(this.words.did('selected', this.words.shapes(this.selection.length)));
  }

  /** Moves the selection within the stack. */
  order(move: Move): void {
    this.did(this.actions.order(this.selection, move), this.words.ordered(move));
  }

  align(edge: Edge): void {
    this.did(this.actions.align(this.selection, edge), this.words.aligned(edge));
  }

  distribute(axis: Axis): void {
    this.did(this.actions.distribute(this.selection, axis), this.words.distributed(axis));
  }

  /** Mirrors the selection, or the whole sheet if nothing is selected. `x`: left becomes right. */
  flip(axis: Axis): void {
    this.did(this.actions.flip(this.selection, axis), this.words.flipped(axis));
  }

  /**
   * Rotates the selection clockwise, or the whole sheet by quarters if nothing is selected. Throws a RangeError for another angle of the
   * sheet.
   */
  rotate(degrees: number): void {
    if (this.selection.length > 0) return this.turn(degrees);
    if (degrees % 90 !== 0) throw new RangeError(`A drawing can only be rotated in steps of 90°, not by ${degrees}°`);
    this.actions.turnSheet(degrees / 90);
    this.view.fit();
    if (this.tool === 'crop') this.cropping = sheetOf(this.drawing.page);
    this.say(this.words.sheetTurned(degrees));
  }

  /** Rotates the selection clockwise. */
  turn(degrees: number): void {
    this.did(this.actions.turn(this.selection, degrees, this.together('turn')), this.words.turnedBy(degrees));
  }

  /**
   * Grips the next end of the selected line, or the tip of the selected callout, so that `nudge` moves it; after the last one, the whole
   * shape again. Returns false if it has no ends.
   */
  grip(): boolean {
    const ends = this.hold?.handles.map(({ name }) => name).filter(isEnd) ?? [];
    const next = ends[ends.findIndex((end) => end === this.gripped) + 1];
    this.gripped = next;
    if (ends.length > 0) this.say(this.words.gripped(next));
    return ends.length > 0;
  }

  /** Moves the selection, or its gripped end. */
  nudge(dx: number, dy: number): void {
    const { gripped, hold } = this;
    const at = gripped && hold?.handles.find(({ name }) => name === gripped)?.at;
    if (gripped && hold && at) {
      const to = [at[0] + dx, at[1] + dy] as const;
      this.did(this.actions.style(this.selection, endMoved(hold, gripped, to), this.together(gripped)), this.words.at(...to));
      return;
    }
    if (this.actions.nudge(this.selection, dx, dy, this.together('nudge')) === 0) return;
    const [box] = this.chosen.map((shape) => spanOf(shape, measureText));
    if (box) this.say(this.words.at(box.x, box.y));
  }

  /** Enlarges the selection from its left upper corner. */
  grow(dx: number, dy: number): void {
    if (this.actions.grow(this.selection, dx, dy, this.together('grow')) === 0) return;
    const [box] = this.chosen.map((shape) => spanOf(shape, measureText));
    if (box) this.say(this.words.size(box.width, box.height));
  }

  /** Sets the opacity of the selection, 0 to 1. Throws a RangeError for other values. */
  fade(opacity: number): void {
    if (!(opacity >= 0 && opacity <= 1)) throw new RangeError(`The opacity must be 0 to 1, not ${opacity}`);
    const count = this.actions.style(this.selection, { opacity }, this.together('opacity'));
    this.did(count, this.words.opacity(opacity));
  }

  /** Locked shapes cannot be pressed or changed: they are chosen no longer. */
  lock(ids: readonly string[], on: boolean): void {
    if (on) this.#leave(ids);
    this.did(this.actions.flag(ids, 'locked', on), this.words.happened(on ? 'locked' : 'unlocked'));
  }

  /** Hidden shapes are neither seen, pressed nor exported: they are chosen no longer. */
  hide(ids: readonly string[], on: boolean): void {
    if (on) this.#leave(ids);
    this.did(this.actions.flag(ids, 'hidden', on), this.words.happened(on ? 'hidden' : 'shown'));
  }

  /** Returns the selection as text for the clipboard; '' if nothing is selected. */
  copy(): string {
    if (this.selection.length === 0) return '';
    this.say(this.words.did('copied', this.words.shapes(this.selection.length)));
    return shapesToText(this.#pile());
  }

  /** As `copy`, and takes it away. */
  cut(): string {
    const text = this.copy();
    this.remove();
    return text;
  }

  /**
   * Inserts the result of `copy` on top and selects it, centred on a point of the drawing or next to its original. Returns false for any
   * other text.
   */
  paste(text: string, at?: Place): boolean {
    const ids = this.actions.paste(text, at && [at.x, at.y]);
    if (!ids) return false;
    this.#added(ids, ids.length === 0 ? this.words.happened('noRoom') : this.words.did('pasted', this.words.shapes(ids.length)));
    return true;
  }

  /** Opens the text of a text or callout for editing. Returns false for other kinds and locked shapes. */
  editText(id: string): boolean {
    const shape = this.drawing.shape(id);
    if ((shape?.kind !== 'text' && shape?.kind !== 'callout') || shape.locked) return false;
    this.write(shape);
    return true;
  }

  /**
   * Puts a picture (a data URL of pixels) on top, its middle at a point or in the middle of the sheet, and chooses it. One that is larger
   * than the sheet is shown smaller. Returns its id.
   */
  addImage(src: string, pixelWidth: number, pixelHeight: number, at?: Place): string {
    const { page } = this.drawing;
    const scale = Math.min(1, page.width / pixelWidth, page.height / pixelHeight);
    const [width, height] = [pixelWidth * scale, pixelHeight * scale];
    const { x, y } = at ?? { x: page.x + page.width / 2, y: page.y + page.height / 2 };
    const { id } = this.editor.add('image', { src, width, height, x: x - width / 2, y: y - height / 2 });
    this.#added([id], this.words.happened('pictureAdded'));
    return id;
  }

  /** Makes the sheet the frame of the crop tool, and takes up the select tool. */
  applyCrop(): void {
    const box = this.cropping;
    if (!box) return;
    const done = this.actions.crop(box);
    this.tool = 'select';
    this.view.fit();
    const { width, height } = this.drawing.page;
    this.say(done ? this.words.cropped(width, height) : this.words.happened('notCropped'));
  }

  /** Moves the frame of a crop, or makes it larger. */
  nudgeCrop(dx: number, dy: number, size: boolean): void {
    const box = this.cropping;
    if (!box) return;
    const next: Box = size
      ? { ...box, width: Math.max(1, box.width + dx), height: Math.max(1, box.height + dy) }
      : { ...box, x: box.x + dx, y: box.y + dy };
    this.cropping = next;
    this.say(this.words.frame(next.x, next.y, next.width, next.height));
  }

  /** The name of a gesture, the same while it is repeated soon enough on the same shapes. */
  protected together(what: string): string {
    const [name, now] = [`${what} ${this.selection.join()}`, performance.now()];
    const same = this.#gesture.name === name && now - this.#gesture.at < TOGETHER;
    this.#gesture = { name, at: now, number: this.#gesture.number + (same ? 0 : 1) };
    return `${name} ${this.#gesture.number}`;
  }

  protected did(done: number | boolean, said: string): void {
    if (done !== 0) this.say(said);
    this.told();
  }

  /** The selected shapes, from lowest to highest. */
  #pile(): Shape[] {
    const wanted = new Set(this.selection);
    return this.drawing.shapes.filter(({ id }) => wanted.has(id));
  }

  #leave(ids: readonly string[]): void {
    this.select(this.selection.filter((id) => !ids.includes(id)));
  }

  #added(ids: readonly string[], said: string): void {
    this.tool = 'select';
    this.select(ids);
    this.say(said);
  }
}
