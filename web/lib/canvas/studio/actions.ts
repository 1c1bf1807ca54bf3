import type { Edge } from '#shared/canvas/arrange.ts';
import { shapesToText } from '#shared/canvas/clipboard.ts';
import type { Move } from '#shared/canvas/editor.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import { type Box, sheetOf } from '#shared/canvas/geometry.ts';
import { type End, endMoved, isEnd, spanOf } from '#shared/canvas/handles.ts';
import type { Axis } from '#shared/canvas/transform.ts';
import { measureText } from '../../../paint/measure.ts';
import type { Place } from '../ground.ts';
import { StudioCore } from './core.ts';
import { counted, shapeName } from './speech.ts';
import type { StudioTool } from './tools.ts';

/** What comes within this many milliseconds with the same thing is one step of undo: a colour that is dragged, a key that is held. */
const TOGETHER = 800;

const END_NAMES: Readonly<Record<End, string>> = { start: 'its beginning', end: 'its end', tip: 'its tip' };

/** What is done to what is chosen, and to the sheet: each is one step of undo, and is said. Lengths are CSS pixels of the drawing. */
export abstract class StudioActions extends StudioCore {
  #gesture = { name: '', at: 0, number: 0 };

  abstract tool: StudioTool;

  /** Takes away what is chosen. */
  remove(): void {
    const [one] = this.chosen;
    const name = one && this.chosen.length === 1 ? shapeName(one) : undefined;
    const count = this.actions.remove(this.selection);
    if (count > 0) this.say(`Removed ${name ?? counted(count)}`);
  }

  /** Puts copies of what is chosen beside it, and chooses those. */
  duplicate(): void {
    const ids = this.actions.copies(this.#pile(), 16, 16);
    if (ids.length === 0) return;
    this.select(ids);
    this.say(`Duplicated ${counted(ids.length)}`);
  }

  /** Chooses all that is neither hidden nor locked. */
  selectAll(): void {
    this.tool = 'select';
    this.select(this.drawing.shapes.flatMap(({ id, hidden, locked }) => (hidden || locked ? [] : [id])));
    this.say(`${counted(this.selection.length)} selected`);
  }

  /** Moves what is chosen in the pile. */
  order(move: Move): void {
    const said = { front: 'Brought to the front', back: 'Sent to the back', forward: 'Brought forward', backward: 'Sent backward' };
    this.did(this.actions.order(this.selection, move), said[move]);
  }

  align(edge: Edge): void {
    this.did(this.actions.align(this.selection, edge), `Aligned: ${edge}`);
  }

  distribute(axis: Axis): void {
    this.did(this.actions.distribute(this.selection, axis), axis === 'x' ? 'Spaced evenly across' : 'Spaced evenly down');
  }

  /** Mirrors what is chosen, or the whole sheet where nothing is; `x`: left becomes right. */
  flip(axis: Axis): void {
    this.did(this.actions.flip(this.selection, axis), axis === 'x' ? 'Flipped left to right' : 'Flipped upside down');
  }

  /** Turns what is chosen clockwise; where nothing is, the whole sheet by quarters. Throws a RangeError for another angle of the sheet. */
  rotate(degrees: number): void {
    if (this.selection.length > 0) return this.turn(degrees);
    if (degrees % 90 !== 0) throw new RangeError(`The sheet is turned by quarters, not by ${degrees}°`);
    this.actions.turnSheet(degrees / 90);
    this.view.fit();
    if (this.tool === 'crop') this.cropping = sheetOf(this.drawing.page);
    this.say(`Turned the sheet by ${degrees}°`);
  }

  /** Turns what is chosen clockwise. */
  turn(degrees: number): void {
    this.did(this.actions.turn(this.selection, degrees, this.together('turn')), `Turned by ${degrees}°`);
  }

  /**
   * Takes hold of the next end of the line that is chosen, or of the tip of the callout: `nudge` then moves that; past the last, all of it again.
   * False where there is none.
   */
  grip(): boolean {
    const ends = this.hold?.handles.map(({ name }) => name).filter(isEnd) ?? [];
    const next = ends[ends.findIndex((end) => end === this.gripped) + 1];
    this.gripped = next;
    if (ends.length > 0) this.say(`Arrow keys move ${next ? END_NAMES[next] : 'all of it'}`);
    return ends.length > 0;
  }

  /** Moves what is chosen, or the end of it that is held. */
  nudge(dx: number, dy: number): void {
    const { gripped, hold } = this;
    const at = gripped && hold?.handles.find(({ name }) => name === gripped)?.at;
    if (gripped && hold && at) {
      const to = [at[0] + dx, at[1] + dy] as const;
      this.did(
        this.actions.style(this.selection, endMoved(hold, gripped, to), this.together(gripped)),
        `At ${Math.round(to[0])}, ${Math.round(to[1])}`,
      );
      return;
    }
    if (this.actions.nudge(this.selection, dx, dy, this.together('nudge')) === 0) return;
    const [box] = this.chosen.map((shape) => spanOf(shape, measureText));
    if (box) this.say(`At ${Math.round(box.x)}, ${Math.round(box.y)}`);
  }

  /** Makes what is chosen larger; its left upper corner stays. */
  grow(dx: number, dy: number): void {
    if (this.actions.grow(this.selection, dx, dy, this.together('grow')) === 0) return;
    const [box] = this.chosen.map((shape) => spanOf(shape, measureText));
    if (box) this.say(`${Math.round(box.width)} by ${Math.round(box.height)}`);
  }

  /** How much what is chosen covers, 0 to 1. Throws a RangeError beyond. */
  fade(opacity: number): void {
    if (!(opacity >= 0 && opacity <= 1)) throw new RangeError(`There is no opacity of ${opacity}: 0 to 1`);
    const count = this.actions.style(this.selection, { opacity }, this.together('opacity'));
    this.did(count, `Opacity ${Math.round(opacity * 100)} %`);
  }

  /** Locked shapes cannot be pressed or changed: they are chosen no longer. */
  lock(ids: readonly string[], on: boolean): void {
    if (on) this.#leave(ids);
    this.did(this.actions.flag(ids, 'locked', on), on ? 'Locked' : 'Unlocked');
  }

  /** Hidden shapes are neither seen, pressed nor exported: they are chosen no longer. */
  hide(ids: readonly string[], on: boolean): void {
    if (on) this.#leave(ids);
    this.did(this.actions.flag(ids, 'hidden', on), on ? 'Hidden' : 'Shown');
  }

  /** What is chosen as text for the clipboard; '' where nothing is. */
  copy(): string {
    if (this.selection.length === 0) return '';
    this.say(`Copied ${counted(this.selection.length)}`);
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
    this.#added(ids, ids.length === 0 ? 'There is no room for more shapes' : `Pasted ${counted(ids.length)}`);
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
    this.#added([id], 'Picture added');
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
    this.say(done ? `Cropped to ${width} by ${height}` : 'Nothing was cropped');
  }

  /** Moves the frame of a crop, or makes it larger. */
  nudgeCrop(dx: number, dy: number, size: boolean): void {
    const box = this.cropping;
    if (!box) return;
    const next: Box = size
      ? { ...box, width: Math.max(1, box.width + dx), height: Math.max(1, box.height + dy) }
      : { ...box, x: box.x + dx, y: box.y + dy };
    this.cropping = next;
    this.say(`From ${Math.round(next.x)}, ${Math.round(next.y)}, ${Math.round(next.width)} by ${Math.round(next.height)}`);
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
