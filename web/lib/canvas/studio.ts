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
 * An editor for annotations with every tool, by mouse, pen, finger or keyboard. It changes the drawing with its own editor and undoes only
 * its own steps; changes of others show at once. Lengths are CSS pixels of the drawing.
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

  /** `words`: the texts for screen readers, English by default. */
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

  /** Tool of the next press; `select` by default. Throws a RangeError for an unknown tool. */
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

  /**
   * Whether pointers act as if Shift were held: squares, circles, straight lines and multiple selection; false by default. For devices
   * without a keyboard.
   */
  get straight(): boolean {
    return this.#straight;
  }

  set straight(straight: boolean) {
    this.#straight = straight;
    this.told();
  }

  /** Whether moved and resized shapes snap to nearby edges, unless Mod is held; true by default. */
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

  /**
   * Colour of the selection and of the shapes drawn next: any CSS colour, `#d92d20` by default. Throws a TypeError for an invalid colour.
   */
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

  /** Zooms around `about`, in CSS pixels from the element's left upper corner (default: its middle), which stays in place. */
  zoomTo(zoom: number, about?: Place): void {
    this.view.zoomTo(zoom, about);
    this.say(this.words.zoom(this.zoom));
  }

  /** Pans the view, in CSS pixels of the page. */
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

  /** Undoes the last step. Returns false if there is none. */
  undo(): boolean {
    const done = this.#step('undo');
    this.did(done, this.words.happened(done ? 'undone' : 'nothingToUndo'));
    return done;
  }

  /** Redoes the last undone step. Returns false if there is none. */
  redo(): boolean {
    const done = this.#step('redo');
    this.did(done, this.words.happened(done ? 'redone' : 'nothingToRedo'));
    return done;
  }

  /**
   * Selects the next (1) or previous (-1) shape of the stack and announces it. Returns false past the last one, so that the focus moves on.
   */
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

  /** Selects the shape at a position of the page as a press would, but keeps a multiple selection that contains it. */
  pick(clientX: number, clientY: number): void {
    this.giveUp();
    const { x, y } = this.view.toDrawing(clientX, clientY);
    const hit = shapeAt(this.drawing.shapes, [x, y], reachOf(this, NOTHING_HELD) / 2, measureText);
    this.tool = 'select';
    if (!hit || !this.selection.includes(hit.id)) this.select(hit ? [hit.id] : []);
  }

  /** Handles Enter: applies a crop, closes a polygon, or edits the selected text. */
  enter(): boolean {
    if (this.#tool === 'crop') return (this.applyCrop(), true);
    if (this.polygon.closable) return (this.polygon.close(this), true);
    const [only] = this.chosen;
    if (this.#tool !== 'select' || this.selection.length !== 1 || only === undefined) return false;
    if (only.kind === 'marker' && this.onNote) return (this.onNote(only.id), true);
    return this.editText(only.id);
  }

  /** Handles Escape: cancels the gesture, then the crop, then a gripped end, then the selection, then the tool. */
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
   * Handles a key and prevents the browser's default action. The element listens to its own keys; pass those pressed elsewhere in the page.
   * Returns whether the key was handled; keys for a field never are.
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

  /** Edits the pressed text, or begins a new one. */
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

  /** If the step crops or turns the sheet, the view then fits the whole sheet, as after cropping or turning it. */
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

/** Whether an element takes letters: text fields and lists do; buttons, switches and sliders do not. */
const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('textarea, select, input:not([type=radio], [type=checkbox], [type=range], [type=color])'));
