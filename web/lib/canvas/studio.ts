import type { FieldValues } from '#shared/canvas/change.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import { shapeAt, sheetOf } from '#shared/canvas/geometry.ts';
import { handleAt, isHeld, spanOf } from '#shared/canvas/handles.ts';
import { measureText } from '../../paint/measure.ts';
import { cssColor } from './css-color.ts';
import type { Place } from './ground.ts';
import { type Held, NOTHING_HELD } from './pointing.ts';
import { type Look, reachOf } from './studio/bench.ts';
import { cropHold } from './studio/crop.ts';
import { StudioActions } from './studio/actions.ts';
import { pressKey } from './studio/keys.ts';
import { beginText } from './studio/press.ts';
import { STUDIO_TOOLS, type StudioTool } from './studio/tools.ts';
import { ENGLISH, type StudioWords } from './studio/words.ts';

export { STUDIO_TOOLS, type StudioTool, TOOL_NAMES } from './studio/tools.ts';
export { ZOOM } from './studio/view.ts';

/**
 * A drawing to annotate: every tool, by mouse, pen, finger and keys alone (ux.md, Canvas). It changes the drawing by its own editor, whose
 * steps it takes back; what others change shows at once. Lengths are CSS pixels of the drawing.
 */
export class Studio extends StudioActions {
  #tool: StudioTool = 'select';
  #spaced = false;
  /** Whether Tab leaves the drawing: after Escape, until it is come back to. */
  #leaving = false;
  #look: Look = { color: '#d92d20', strokeWidth: 3, fill: false, fontSize: 20 };
  #straight = false;
  #snaps = true;
  readonly #seen = new WeakSet<KeyboardEvent>();

  /** `words`: what it says to those who read the screen by ear, in English at first. */
  constructor(drawing: Drawing, words: StudioWords = ENGLISH) {
    super(drawing, words);
    const { signal } = this.ended;
    this.surface.addEventListener('keydown', (event) => this.key(event), { signal });
    this.surface.addEventListener('dblclick', (event) => this.#tool === 'select' && this.#writeAt(event), { signal });
    for (const type of ['focus', 'pointerdown']) this.surface.addEventListener(type, () => (this.#leaving = false), { signal });
    this.surface.addEventListener('pointermove', (event) => event.buttons === 0 && this.#hover(event), { signal });
    addEventListener('keyup', ({ key }) => key === ' ' && this.#space(false), { signal });
    addEventListener('blur', () => this.#space(false), { signal });
    this.#cursor();
  }

  /** What the next press is for; `select` at first. Throws a RangeError for one that there is not. */
  get tool(): StudioTool {
    return this.#tool;
  }

  set tool(tool: StudioTool) {
    if (!STUDIO_TOOLS.includes(tool)) throw new RangeError(`Unknown tool "${tool}". Use one of ${STUDIO_TOOLS.join(', ')}`);
    if (tool === this.#tool) return;
    this.giveUp();
    this.polygon.stop(this);
    this.#tool = tool;
    this.cropping = tool === 'crop' ? sheetOf(this.drawing.page) : undefined;
    if (tool !== 'select') this.select([]);
    this.#cursor();
    this.say(this.words.tool(tool));
    this.told();
  }

  protected get inHand(): StudioTool {
    return this.#spaced ? 'hand' : this.#tool;
  }

  /** Whether pointers draw squares, circles and straight lines, and choose several, as with Shift; false at first. For who has no keys. */
  get straight(): boolean {
    return this.#straight;
  }

  set straight(straight: boolean) {
    this.#straight = straight;
    this.told();
  }

  /** Whether what is moved or resized snaps to what is near, unless Mod is held; true at first. */
  get snaps(): boolean {
    return this.#snaps;
  }

  set snaps(snaps: boolean) {
    this.#snaps = snaps;
    this.told();
  }

  protected held({ shift, mod, touch }: Held): Held {
    return { shift: shift || this.#straight, mod: mod || !this.#snaps, touch };
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
    if (!(strokeWidth >= 0.1 && strokeWidth <= 1000)) throw new RangeError(`The line width must be 0.1 to 1000, not ${strokeWidth}`);
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
    if (!(fontSize >= 1 && fontSize <= 4000)) throw new RangeError(`The text size must be 1 to 4000, not ${fontSize}`);
    this.#restyle({ fontSize }, { size: fontSize }, ({ kind }) => kind !== 'marker');
  }

  /** 1 shows a CSS pixel of the drawing as one of the page; 0.05 to 40. */
  get zoom(): number {
    return this.view.zoom;
  }

  /** Zooms; `about`, in CSS pixels from the element's left upper corner (default: its middle), stays where it is. */
  zoomTo(zoom: number, about?: Place): void {
    this.view.zoomTo(zoom, about);
    this.say(this.words.zoom(this.zoom));
  }

  /** Moves what is seen, in CSS pixels of the page. */
  pan(dx: number, dy: number): void {
    this.view.pan(dx, dy);
  }

  /** Shows the whole sheet. */
  fit(): void {
    this.view.fit();
    this.say(this.words.wholeSheet(this.zoom));
  }

  get canUndo(): boolean {
    return this.editor.canUndo;
  }

  get canRedo(): boolean {
    return this.editor.canRedo;
  }

  /** Takes the last step back; false where there is none. */
  undo(): boolean {
    const done = this.#step('undo');
    this.did(done, this.words.happened(done ? 'undone' : 'nothingToUndo'));
    return done;
  }

  /** Does again what was taken back; false where there is nothing. */
  redo(): boolean {
    const done = this.#step('redo');
    this.did(done, this.words.happened(done ? 'redone' : 'nothingToRedo'));
    return done;
  }

  /** Chooses the next shape of the pile (1) or the one before (-1), and says what it is. False past the last: then the focus goes on. */
  selectNext(by: 1 | -1): boolean {
    if (this.#tool !== 'select' || this.#leaving) return false;
    const all = this.drawing.shapes.filter(({ hidden, locked }) => !hidden && !locked);
    const now = all.findIndex(({ id }) => id === this.selection.at(-1));
    const at = now < 0 ? (by > 0 ? 0 : all.length - 1) : now + by;
    const shape = all[at];
    this.select(shape ? [shape.id] : []);
    if (!shape) return false;
    this.view.reveal(spanOf(shape, measureText));
    this.say(this.words.place(this.words.shape(shape), at + 1, all.length));
    return true;
  }

  /** Chooses what lies at a place of the page, as a press would, but not alone where more was chosen with it. */
  pick(clientX: number, clientY: number): void {
    this.giveUp();
    const { x, y } = this.view.toDrawing(clientX, clientY);
    const hit = shapeAt(this.drawing.shapes, [x, y], reachOf(this, NOTHING_HELD) / 2, measureText);
    this.tool = 'select';
    if (!hit || !this.selection.includes(hit.id)) this.select(hit ? [hit.id] : []);
  }

  /** What Enter does: applies a crop, closes a polygon, writes in the text that is chosen. */
  enter(): boolean {
    if (this.#tool === 'crop') return (this.applyCrop(), true);
    if (this.polygon.closable) return (this.polygon.close(this), true);
    const [only] = this.chosen;
    if (this.#tool !== 'select' || this.selection.length !== 1 || only === undefined) return false;
    if (only.kind === 'marker' && this.onNote) return (this.onNote(only.id), true);
    return this.editText(only.id);
  }

  /** What Escape does: gives up what is under way, then the crop, then an end that is held, then what is chosen, then the tool. */
  escape(): boolean {
    if (this.giveUp()) return (this.say(this.words.happened('givenUp')), true);
    if (this.polygon.begun) return (this.polygon.stop(this), this.say(this.words.happened('givenUp')), true);
    this.#leaving = true;
    if (this.gripped) return ((this.gripped = undefined), this.say(this.words.gripped(undefined)), true);
    if (this.selection.length > 0) return (this.select([]), this.say(this.words.happened('noneSelected')), true);
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

  /** In the text that was pressed; where nothing is, a new one begins. */
  #writeAt({ clientX, clientY }: MouseEvent): void {
    if (this.enter() || this.selection.length > 0) return;
    beginText(this, { ...this.view.toDrawing(clientX, clientY), pressure: 0 }, NOTHING_HELD).end();
  }

  #restyle(look: Partial<Look>, fields: FieldValues, of: (shape: Shape) => boolean = () => true): void {
    this.#look = { ...this.#look, ...look };
    const ids = this.chosen.filter(of).map(({ id }) => id);
    const [what] = Object.keys(look) as (keyof Look)[];
    const count = this.actions.style(ids, fields, this.together(String(what)));
    if (what) this.did(count, this.words.restyled(what, this.words.shapes(count)));
  }

  /** Where the sheet is cropped or turned by it all of it is shown, as when that was done. */
  #step(way: 'undo' | 'redo'): boolean {
    this.giveUp();
    const sheet = (): string => JSON.stringify(sheetOf(this.drawing.page));
    const before = sheet();
    const done = this.editor[way]();
    if (sheet() !== before) this.view.fit();
    return done;
  }

  #space(on: boolean): void {
    if (this.#spaced === on) return;
    this.#spaced = on;
    this.#cursor();
  }

  #cursor(): void {
    this.surface.style.cursor = { select: 'default', hand: 'grab' }[this.inHand as string] ?? 'crosshair';
  }

  /** Shows what a handle does before it is pressed. */
  #hover(event: PointerEvent): void {
    const hold = this.inHand === 'select' ? this.hold : this.inHand === 'crop' && this.cropping ? cropHold(this.cropping) : undefined;
    if (!hold) return this.#cursor();
    const { x, y } = this.view.toDrawing(event.clientX, event.clientY);
    const handle = handleAt(hold, [x, y], reachOf(this, NOTHING_HELD));
    const inside = handle === undefined && isHeld(hold, [x, y]);
    if (handle === undefined && !inside) return this.#cursor();
    this.surface.style.cursor =
      handle === undefined ? 'move' : handle.length > 2 || hold.rotation % 180 !== 0 ? 'pointer' : `${handle}-resize`;
  }
}

/** What is written in, or takes letters as a list does; buttons, switches and sliders do not. */
const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('textarea, select, input:not([type=radio], [type=checkbox], [type=range], [type=color])'));
