import type { Edge } from '#shared/canvas/arrange.ts';
import type { FieldValues } from '#shared/canvas/change.ts';
import { shapesToText } from '#shared/canvas/clipboard.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import type { Move } from '#shared/canvas/editor.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import { type Box, sheetOf } from '#shared/canvas/geometry.ts';
import { spanOf } from '#shared/canvas/handles.ts';
import type { Axis } from '#shared/canvas/transform.ts';
import { measureText } from '../../paint/measure.ts';
import { cssColor } from './css-color.ts';
import type { Place } from './ground.ts';
import type { Look } from './studio/bench.ts';
import { StudioCore } from './studio/core.ts';
import { pressKey } from './studio/keys.ts';
import { counted, shapeName } from './studio/speech.ts';
import { STUDIO_TOOLS, type StudioTool, TOOL_NAMES } from './studio/tools.ts';

export { STUDIO_TOOLS, type StudioTool, TOOL_NAMES } from './studio/tools.ts';
export { kindName, shapeName } from './studio/speech.ts';
export { ZOOM } from './studio/view.ts';

/** What comes within this many milliseconds with the same thing is one step of undo: a colour that is dragged, a key that is held. */
const TOGETHER = 800;

/**
 * A drawing to annotate: every tool, by mouse, pen, finger and keys alone (ux.md, Canvas). It changes the drawing by its own editor, whose
 * steps it takes back; what others change shows at once. Lengths are CSS pixels of the drawing.
 */
export class Studio extends StudioCore {
  #tool: StudioTool = 'select';
  #spaced = false;
  #look: Look = { color: '#d92d20', strokeWidth: 3, fill: false, fontSize: 20 };
  #gesture = { name: '', at: 0, number: 0 };
  readonly #seen = new WeakSet<KeyboardEvent>();

  constructor(drawing: Drawing) {
    super(drawing);
    const { signal } = this.ended;
    this.surface.addEventListener('keydown', (event) => this.key(event), { signal });
    this.surface.addEventListener('dblclick', () => this.#tool === 'select' && this.enter(), { signal });
    addEventListener('keyup', ({ key }) => key === ' ' && this.#space(false), { signal });
    addEventListener('blur', () => this.#space(false), { signal });
    this.#cursor();
  }

  /** What the next press is for; `select` at first. Throws a RangeError for one that there is not. */
  get tool(): StudioTool {
    return this.#tool;
  }

  set tool(tool: StudioTool) {
    if (!STUDIO_TOOLS.includes(tool)) throw new RangeError(`There is no tool "${tool}": there are ${STUDIO_TOOLS.join(', ')}`);
    if (tool === this.#tool) return;
    this.giveUp();
    this.polygon.stop(this);
    this.#tool = tool;
    this.cropping = tool === 'crop' ? sheetOf(this.drawing.page) : undefined;
    if (tool !== 'select') this.select([]);
    this.#cursor();
    this.say(`Tool: ${TOOL_NAMES[tool].name}${tool === 'crop' ? '. Enter applies, Escape gives up.' : ''}`);
    this.told();
  }

  protected get inHand(): StudioTool {
    return this.#spaced ? 'hand' : this.#tool;
  }

  get look(): Look {
    return this.#look;
  }

  /** Of what is drawn next, and of what is chosen; any of CSS, `#d92d20` at first. Throws a TypeError where it is none. */
  get color(): string {
    return this.#look.color;
  }

  set color(color: string) {
    const hex = cssColor(color);
    this.#restyle({ color: hex }, { color: hex });
  }

  /** How wide lines are, 0.1 to 1000 CSS pixels; 3 at first. Throws a RangeError beyond. */
  get strokeWidth(): number {
    return this.#look.strokeWidth;
  }

  set strokeWidth(strokeWidth: number) {
    if (!(strokeWidth >= 0.1 && strokeWidth <= 1000)) throw new RangeError(`A line of ${strokeWidth} pixels cannot be drawn: 0.1 to 1000`);
    this.#restyle({ strokeWidth }, { strokeWidth });
  }

  /** Whether shapes are filled rather than outlined; false at first. */
  get fill(): boolean {
    return this.#look.fill;
  }

  set fill(fill: boolean) {
    this.#restyle({ fill }, { fill });
  }

  /** How high letters are, 1 to 4000 CSS pixels; 20 at first. Throws a RangeError beyond. */
  get fontSize(): number {
    return this.#look.fontSize;
  }

  set fontSize(fontSize: number) {
    if (!(fontSize >= 1 && fontSize <= 4000)) throw new RangeError(`Letters ${fontSize} pixels high cannot be drawn: 1 to 4000`);
    this.#restyle({ fontSize }, { size: fontSize }, ({ kind }) => kind !== 'marker');
  }

  /** 1 shows a CSS pixel of the drawing as one of the page; 0.05 to 40. */
  get zoom(): number {
    return this.view.zoom;
  }

  /** Zooms; `about`, in CSS pixels from the element's left upper corner (default: its middle), stays where it is. */
  zoomTo(zoom: number, about?: Place): void {
    this.view.zoomTo(zoom, about);
    this.say(`Zoom ${Math.round(this.zoom * 100)} %`);
  }

  /** Moves what is seen, in CSS pixels of the page. */
  pan(dx: number, dy: number): void {
    this.view.pan(dx, dy);
  }

  /** Shows the whole sheet. */
  fit(): void {
    this.view.fit();
    this.say(`Whole sheet, zoom ${Math.round(this.zoom * 100)} %`);
  }

  get canUndo(): boolean {
    return this.editor.canUndo;
  }

  get canRedo(): boolean {
    return this.editor.canRedo;
  }

  /** Takes the last step back; false where there is none. */
  undo(): boolean {
    this.giveUp();
    const done = this.editor.undo();
    this.#did(done, done ? 'Taken back' : 'Nothing to take back');
    return done;
  }

  /** Does again what was taken back; false where there is nothing. */
  redo(): boolean {
    this.giveUp();
    const done = this.editor.redo();
    this.#did(done, done ? 'Done again' : 'Nothing to do again');
    return done;
  }

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
    this.#did(this.actions.order(this.selection, move), said[move]);
  }

  align(edge: Edge): void {
    this.#did(this.actions.align(this.selection, edge), `Aligned: ${edge}`);
  }

  distribute(axis: Axis): void {
    this.#did(this.actions.distribute(this.selection, axis), axis === 'x' ? 'Spaced evenly across' : 'Spaced evenly down');
  }

  /** Mirrors what is chosen, or the whole sheet where nothing is; `x`: left becomes right. */
  flip(axis: Axis): void {
    this.#did(this.actions.flip(this.selection, axis), axis === 'x' ? 'Flipped left to right' : 'Flipped upside down');
  }

  /** Turns what is chosen clockwise; where nothing is, the whole sheet by quarters. Throws a RangeError for another angle of the sheet. */
  rotate(degrees: number): void {
    if (this.selection.length > 0) return this.turn(degrees);
    if (degrees % 90 !== 0) throw new RangeError(`The sheet is turned by quarters, not by ${degrees}°`);
    this.actions.turnSheet(degrees / 90);
    this.view.fit();
    if (this.#tool === 'crop') this.cropping = sheetOf(this.drawing.page);
    this.say(`Turned the sheet by ${degrees}°`);
  }

  /** Turns what is chosen clockwise. */
  turn(degrees: number): void {
    this.#did(this.actions.turn(this.selection, degrees, this.#together('turn')), `Turned by ${degrees}°`);
  }

  /** Moves what is chosen. */
  nudge(dx: number, dy: number): void {
    if (this.actions.nudge(this.selection, dx, dy, this.#together('nudge')) === 0) return;
    const [box] = this.chosen.map((shape) => spanOf(shape, measureText));
    if (box) this.say(`At ${Math.round(box.x)}, ${Math.round(box.y)}`);
  }

  /** Makes what is chosen larger; its left upper corner stays. */
  grow(dx: number, dy: number): void {
    if (this.actions.grow(this.selection, dx, dy, this.#together('grow')) === 0) return;
    const [box] = this.chosen.map((shape) => spanOf(shape, measureText));
    if (box) this.say(`${Math.round(box.width)} by ${Math.round(box.height)}`);
  }

  /** Locked shapes cannot be pressed or changed. */
  lock(ids: readonly string[], on: boolean): void {
    this.#did(this.actions.flag(ids, 'locked', on), on ? 'Locked' : 'Unlocked');
  }

  hide(ids: readonly string[], on: boolean): void {
    this.#did(this.actions.flag(ids, 'hidden', on), on ? 'Hidden' : 'Shown');
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

  /** Puts a picture (a data URL of pixels) on top, its middle at a point or in the middle of the sheet, and chooses it. Returns its id. */
  addImage(src: string, width: number, height: number, at?: Place): string {
    const { page } = this.drawing;
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

  /** Chooses the next shape of the pile (1) or the one before (-1), and says what it is. False past the last: then the focus goes on. */
  selectNext(by: 1 | -1): boolean {
    if (this.#tool !== 'select') return false;
    const all = this.drawing.shapes.filter(({ hidden, locked }) => !hidden && !locked);
    const now = all.findIndex(({ id }) => id === this.selection.at(-1));
    const at = now < 0 ? (by > 0 ? 0 : all.length - 1) : now + by;
    const shape = all[at];
    this.select(shape ? [shape.id] : []);
    if (!shape) return false;
    this.view.reveal(spanOf(shape, measureText));
    this.say(`${shapeName(shape)}, ${at + 1} of ${all.length}`);
    return true;
  }

  /** What Enter does: applies a crop, closes a polygon, writes in the text that is chosen. */
  enter(): boolean {
    if (this.#tool === 'crop') return (this.applyCrop(), true);
    const [only] = this.chosen;
    return this.#tool === 'select' && this.selection.length === 1 && only !== undefined && this.editText(only.id);
  }

  /** What Escape does: gives up what is under way, then the crop, then what is chosen, then the tool. */
  escape(): boolean {
    if (this.giveUp()) return (this.say('Given up'), true);
    if (this.polygon.begun) return (this.polygon.stop(this), this.say('Given up'), true);
    if (this.selection.length > 0) return (this.select([]), this.say('Nothing selected'), true);
    if (this.#tool === 'select') return false;
    this.tool = 'select';
    return true;
  }

  /** The hand, as long as the space bar is held. */
  holdHand(): boolean {
    this.#space(true);
    return true;
  }

  /**
   * Does what a key is for, and keeps the browser from doing something else. The element hears its own keys; give it those that are pressed
   * elsewhere in the page. Returns whether it was one of ours; a key that goes into a field never is.
   */
  key(event: KeyboardEvent): boolean {
    if (this.#seen.has(event)) return true;
    if (event.defaultPrevented || event.isComposing || isField(event.target)) return false;
    const onDrawing = event.target === this.surface || event.target === document.body;
    if (!pressKey(this, event, onDrawing)) return false;
    this.#seen.add(event);
    event.preventDefault();
    return true;
  }

  /** What is chosen, the lowest first. */
  #pile(): Shape[] {
    const wanted = new Set(this.selection);
    return this.drawing.shapes.filter(({ id }) => wanted.has(id));
  }

  #did(done: number | boolean, said: string): void {
    if (done !== 0) this.say(said);
    this.told();
  }

  #added(ids: readonly string[], said: string): void {
    this.tool = 'select';
    this.select(ids);
    this.say(said);
  }

  #restyle(look: Partial<Look>, fields: FieldValues, of: (shape: Shape) => boolean = () => true): void {
    this.#look = { ...this.#look, ...look };
    const ids = this.chosen.filter(of).map(({ id }) => id);
    this.actions.style(ids, fields, this.#together(Object.keys(look).join()));
    this.told();
  }

  /** The name of a gesture that goes on as long as it is repeated soon, on the same shapes. */
  #together(what: string): string {
    const [name, now] = [`${what} ${this.selection.join()}`, performance.now()];
    const same = this.#gesture.name === name && now - this.#gesture.at < TOGETHER;
    this.#gesture = { name, at: now, number: this.#gesture.number + (same ? 0 : 1) };
    return `${name} ${this.#gesture.number}`;
  }

  #space(on: boolean): void {
    if (this.#spaced === on) return;
    this.#spaced = on;
    this.#cursor();
  }

  #cursor(): void {
    this.surface.style.cursor = { select: 'default', hand: 'grab' }[this.inHand as string] ?? 'crosshair';
  }
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
