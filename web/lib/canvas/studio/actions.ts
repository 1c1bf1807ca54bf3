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

/** What comes within this many milliseconds with the same thing is one step of undo: a colour that is dragged, a key that is held. */
const TOGETHER = 800;

/** What is done to what is chosen, and to the sheet: each is one step of undo, and is said. Lengths are CSS pixels of the drawing. */
export abstract class StudioActions extends StudioCore {
  #gesture = { name: '', at: 0, number: 0 };

  abstract tool: StudioTool;

  /** Takes away what is chosen. */
  remove(): void {
    const [one] = this.chosen;
    const name = one && this.chosen.length === 1 ? this.words.shape(one) : undefined;
    const count = this.actions.remove(this.selection);
    if (count > 0) this.say(this.words.did('removed', name ?? this.words.shapes(count)));
  }

  /** Puts copies of what is chosen beside it, and chooses those. */
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

  /** Moves what is chosen in the pile. */
  order(move: Move): void {
    this.did(this.actions.order(this.selection, move), this.words.ordered(move));
  }

  align(edge: Edge): void {
    this.did(this.actions.align(this.selection, edge), this.words.aligned(edge));
  }

  distribute(axis: Axis): void {
    this.did(this.actions.distribute(this.selection, axis), this.words.distributed(axis));
  }

  /** Mirrors what is chosen, or the whole sheet where nothing is; `x`: left becomes right. */
  flip(axis: Axis): void {
    this.did(this.actions.flip(this.selection, axis), this.words.flipped(axis));
  }

  /** Turns what is chosen clockwise; where nothing is, the whole sheet by quarters. Throws a RangeError for another angle of the sheet. */
  rotate(degrees: number): void {
    if (this.selection.length > 0) return this.turn(degrees);
    if (degrees % 90 !== 0) throw new RangeError(`A drawing can only be rotated in steps of 90°, not by ${degrees}°`);
    this.actions.turnSheet(degrees / 90);
    this.view.fit();
    if (this.tool === 'crop') this.cropping = sheetOf(this.drawing.page);
    this.say(this.words.sheetTurned(degrees));
  }

  /** Turns what is chosen clockwise. */
  turn(degrees: number): void {
    this.did(this.actions.turn(this.selection, degrees, this.together('turn')), this.words.turnedBy(degrees));
  }

  /**
   * Takes hold of the next end of the line that is chosen, or of the tip of the callout: `nudge` then moves that; past the last, all of it again.
   * False where there is none.
   */
  grip(): boolean {
    const ends = this.hold?.handles.map(({ name }) => name).filter(isEnd) ?? [];
    const next = ends[ends.findIndex((end) => end === this.gripped) + 1];
    this.gripped = next;
    if (ends.length > 0) this.say(this.words.gripped(next));
    return ends.length > 0;
  }

  /** Moves what is chosen, or the end of it that is held. */
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

  /** Makes what is chosen larger; its left upper corner stays. */
  grow(dx: number, dy: number): void {
    if (this.actions.grow(this.selection, dx, dy, this.together('grow')) === 0) return;
    const [box] = this.chosen.map((shape) => spanOf(shape, measureText));
    if (box) this.say(this.words.size(box.width, box.height));
  }

  /** How much what is chosen covers, 0 to 1. Throws a RangeError beyond. */
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

  /** What is chosen as text for the clipboard; '' where nothing is. */
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

  /** Puts what `copy` gave on top and chooses it: its middle at a point of the drawing, or beside where it was. False for any other text. */
  paste(text: string, at?: Place): boolean {
    const ids = this.actions.paste(text, at && [at.x, at.y]);
    if (!ids) return false;
    this.#added(ids, ids.length === 0 ? this.words.happened('noRoom') : this.words.did('pasted', this.words.shapes(ids.length)));
    return true;
  }

  /** Lets somebody write in a text or callout. False where it is none, or locked. */
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

  /** The name of a gesture that goes on as long as it is repeated soon, on the same shapes. */
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

  /** What is chosen, the lowest first. */
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
