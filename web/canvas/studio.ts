import type { FieldValues } from '#shared/canvas/change.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import { findShapeAt, getPageBox } from '#shared/canvas/geometry.ts';
import { findHandleAt, isInFrame, getSpan } from '#shared/canvas/handles.ts';
import { measureText } from '../paint/measure-text.ts';
import { normalizeCssColor } from './css-color.ts';
import type { CanvasPoint } from './coordinate-map.ts';
import { type GestureModifiers, NO_MODIFIERS } from './pointer-gestures.ts';
import { type DrawStyle, getHitMargin } from './studio/tool-context.ts';
import { createCropHandles } from './studio/crop-handles.ts';
import { StudioActions } from './studio/studio-actions.ts';
import type { FitMargins } from './studio/studio-view-port.ts';
import { pressKey } from './studio/studio-keys.ts';
import { beginText } from './studio/press-gestures.ts';
import { STUDIO_TOOLS, type StudioTool } from './studio/studio-tools.ts';
import { ENGLISH_TEXTS, type StudioTexts } from './studio/studio-texts.ts';

export { STUDIO_TOOLS, type StudioTool, TOOL_NAMES } from './studio/studio-tools.ts';
export { type FitMargins, ZOOM_RANGE } from './studio/studio-view-port.ts';

/**
 * An editor for annotations with every tool, by mouse, pen, finger or keyboard. It changes the drawing with its own editor and undoes only
 * its own steps; changes of others show at once. Lengths are CSS pixels of the drawing.
 */
export class Studio extends StudioActions {
  #tool: StudioTool = 'select';
  #isSpaceHeld = false;
  /** Whether Tab leaves the drawing: after Escape, until it gets the focus again. */
  #isTabLeaving = false;
  #drawStyle: DrawStyle = { color: '#d92d20', strokeWidth: 3, fill: false, fontSize: 20 };
  #isStraight = false;
  #isSnapping = true;
  #isZoomAware = false;
  readonly #handledEvents = new WeakSet<KeyboardEvent>();

  /** `texts`: the texts for screen readers, English by default. */
  constructor(drawing: Drawing, texts: StudioTexts = ENGLISH_TEXTS) {
    super(drawing, texts);
    const { signal } = this.ended;
    this.surface.addEventListener('keydown', (event) => this.handleKey(event), { signal });
    this.surface.addEventListener('dblclick', (event) => this.#tool === 'select' && this.#editTextAt(event), { signal });
    for (const type of ['focus', 'pointerdown']) this.surface.addEventListener(type, () => (this.#isTabLeaving = false), { signal });
    this.surface.addEventListener('pointermove', (event) => event.buttons === 0 && this.#updateHoverCursor(event), { signal });
    addEventListener('keyup', ({ key }) => key === ' ' && this.#setSpaceHeld(false), { signal });
    addEventListener('blur', () => this.#setSpaceHeld(false), { signal });
    this.#updateCursor();
  }

  /** Tool of the next press; `select` by default. Throws a RangeError for an unknown tool. */
  get tool(): StudioTool {
    return this.#tool;
  }

  set tool(tool: StudioTool) {
    if (!STUDIO_TOOLS.includes(tool)) throw new RangeError(`Unknown tool "${tool}". Use one of ${STUDIO_TOOLS.join(', ')}`);
    if (tool === this.#tool) return;
    this.cancelGesture();
    this.polygon.abort(this);
    this.#tool = tool;
    this.cropFrame = tool === 'crop' ? getPageBox(this.drawing.page) : undefined;
    if (tool !== 'select') this.select([]);
    this.#updateCursor();
    this.announce(this.texts.tool(tool));
    this.scheduleNotify();
  }

  protected get activeTool(): StudioTool {
    return this.#isSpaceHeld ? 'hand' : this.#tool;
  }

  /**
   * Whether pointers act as if Shift were held: squares, circles, straight lines and multiple selection; false by default. For devices
   * without a keyboard.
   */
  get isStraight(): boolean {
    return this.#isStraight;
  }

  set isStraight(isStraight: boolean) {
    this.#isStraight = isStraight;
    this.scheduleNotify();
  }

  /** Whether moved and resized shapes snap to nearby edges, unless Mod is held; true by default. */
  get isSnapping(): boolean {
    return this.#isSnapping;
  }

  set isSnapping(isSnapping: boolean) {
    this.#isSnapping = isSnapping;
    this.scheduleNotify();
  }

  protected withHeldModifiers({ shift, mod, touch }: GestureModifiers): GestureModifiers {
    return { shift: shift || this.#isStraight, mod: mod || !this.#isSnapping, touch };
  }

  get drawStyle(): DrawStyle {
    const { strokeWidth, fontSize, ...style } = this.#drawStyle;
    return { ...style, ...this.#toDrawingLengths({ strokeWidth, fontSize }) };
  }

  /**
   * Whether widths and text sizes are those of the page while the view is smaller than the drawing: 3 CSS pixels at a zoom of 0.6 draw a
   * line of 5. False by default.
   */
  get isZoomAware(): boolean {
    return this.#isZoomAware;
  }

  set isZoomAware(isZoomAware: boolean) {
    this.#isZoomAware = isZoomAware;
    this.scheduleNotify();
  }

  get styleZoom(): number {
    return this.#isZoomAware ? Math.min(1, this.view.zoom) : 1;
  }

  /**
   * Colour of the selection and of the shapes drawn next: any CSS colour, `#d92d20` by default. Throws a TypeError for an invalid colour.
   */
  get color(): string {
    return this.#drawStyle.color;
  }

  set color(color: string) {
    const hex = normalizeCssColor(color);
    this.#restyle({ color: hex }, { color: hex });
  }

  /** Line width, 0.1 to 1000 CSS pixels; 3 by default. Throws a RangeError for other values. */
  get strokeWidth(): number {
    return this.#drawStyle.strokeWidth;
  }

  set strokeWidth(strokeWidth: number) {
    if (!(strokeWidth >= 0.1 && strokeWidth <= 1000)) throw new RangeError(`The line width must be 0.1 to 1000, not ${strokeWidth}`);
    this.#restyle({ strokeWidth }, { strokeWidth: this.#toDrawingLengths({ strokeWidth, fontSize: 1 }).strokeWidth });
  }

  /** Whether shapes are filled rather than outlined; false by default. */
  get fill(): boolean {
    return this.#drawStyle.fill;
  }

  set fill(fill: boolean) {
    this.#restyle({ fill }, { fill });
  }

  /** Font size, 1 to 4000 CSS pixels; 20 by default. Throws a RangeError for other values. */
  get fontSize(): number {
    return this.#drawStyle.fontSize;
  }

  set fontSize(fontSize: number) {
    if (!(fontSize >= 1 && fontSize <= 4000)) throw new RangeError(`The text size must be 1 to 4000, not ${fontSize}`);
    const { fontSize: size } = this.#toDrawingLengths({ strokeWidth: 1, fontSize });
    this.#restyle({ fontSize }, { size }, ({ kind }) => kind !== 'marker');
  }

  /** 1 shows a CSS pixel of the drawing as one of the page; 0.05 to 40. */
  get zoom(): number {
    return this.view.zoom;
  }

  /** Zooms around `about`, in CSS pixels from the element's left upper corner (default: its middle), which stays in place. */
  zoomTo(zoom: number, about?: CanvasPoint): void {
    this.view.zoomTo(zoom, about);
    this.announce(this.texts.zoom(this.zoom));
  }

  /** Pans the view, in CSS pixels of the page. */
  pan(dx: number, dy: number): void {
    this.view.pan(dx, dy);
  }

  /** Shows the whole sheet. */
  fit(): void {
    this.view.fit();
    this.announce(this.texts.wholeSheet(this.zoom));
  }

  /** Keeps margins free when the sheet is fitted, for controls above it; 24 CSS pixels on each side by default. */
  setFitMargins(margins: FitMargins): void {
    this.view.setMargins(margins);
  }

  get canUndo(): boolean {
    return this.editor.canUndo;
  }

  get canRedo(): boolean {
    return this.editor.canRedo;
  }

  /** Undoes the last step. Returns false if there is none. */
  undo(): boolean {
    const done = this.#applyHistoryStep('undo');
    this.announceChange(done, this.texts.event(done ? 'undone' : 'nothingToUndo'));
    return done;
  }

  /** Redoes the last undone step. Returns false if there is none. */
  redo(): boolean {
    const done = this.#applyHistoryStep('redo');
    this.announceChange(done, this.texts.event(done ? 'redone' : 'nothingToRedo'));
    return done;
  }

  /**
   * Selects the next (1) or previous (-1) shape of the stack and announces it. Returns false past the last one, so that the focus moves on.
   */
  selectNext(by: 1 | -1): boolean {
    if (this.#tool !== 'select' || this.#isTabLeaving) return false;
    const selectable = this.drawing.shapes.filter(({ hidden, locked }) => !hidden && !locked);
    const currentIndex = selectable.findIndex(({ id }) => id === this.selection.at(-1));
    const at = currentIndex < 0 ? (by > 0 ? 0 : selectable.length - 1) : currentIndex + by;
    const shape = selectable[at];
    this.select(shape ? [shape.id] : []);
    if (!shape) return false;
    this.view.scrollIntoView(getSpan(shape, measureText));
    this.announce(this.texts.stackPosition(this.texts.shape(shape), at + 1, selectable.length));
    return true;
  }

  /** Selects the shape at a position of the page as a press would, but keeps a multiple selection that contains it. */
  selectAt(clientX: number, clientY: number): void {
    this.cancelGesture();
    const { x, y } = this.view.toDrawing(clientX, clientY);
    const hit = findShapeAt(this.drawing.shapes, [x, y], getHitMargin(this, NO_MODIFIERS) / 2, measureText);
    this.tool = 'select';
    if (!hit || !this.selection.includes(hit.id)) this.select(hit ? [hit.id] : []);
  }

  /** Handles Enter: applies a crop, closes a polygon, or edits the selected text. */
  handleEnter(): boolean {
    if (this.#tool === 'crop') return (this.applyCrop(), true);
    if (this.polygon.isClosable) return (this.polygon.close(this), true);
    const [only] = this.selectedShapes;
    if (this.#tool !== 'select' || this.selection.length !== 1 || only === undefined) return false;
    if (only.kind === 'marker' && this.onNote) return (this.onNote(only.id), true);
    return this.editText(only.id);
  }

  /** Handles Escape: cancels the gesture, then the crop, then a gripped end, then the selection, then the tool. */
  handleEscape(): boolean {
    if (this.cancelGesture()) return (this.announce(this.texts.event('givenUp')), true);
    if (this.polygon.isStarted) return (this.polygon.abort(this), this.announce(this.texts.event('givenUp')), true);
    this.#isTabLeaving = true;
    if (this.grippedEnd) return ((this.grippedEnd = undefined), this.announce(this.texts.gripped(undefined)), true);
    if (this.selection.length > 0) return (this.select([]), this.announce(this.texts.event('noneSelected')), true);
    if (this.#tool === 'select') return false;
    this.tool = 'select';
    return true;
  }

  /** Activates the hand tool while the space bar is held. */
  startHandTool(): boolean {
    this.#setSpaceHeld(true);
    return true;
  }

  /**
   * Handles a key and prevents the browser's default action. The element listens to its own keys; pass those pressed elsewhere in the page.
   * Returns whether the key was handled; keys for a field never are.
   */
  handleKey(event: KeyboardEvent): boolean {
    if (this.#handledEvents.has(event)) return true;
    if (event.defaultPrevented || event.isComposing || isTextField(event.target)) return false;
    const onDrawing = event.target === this.surface || event.target === document.body;
    if (!pressKey(this, event, onDrawing)) return false;
    this.#handledEvents.add(event);
    event.preventDefault();
    return true;
  }

  /** Edits the pressed text, or begins a new one. */
  #editTextAt({ clientX, clientY }: MouseEvent): void {
    if (this.handleEnter() || this.selection.length > 0) return;
    beginText(this, { ...this.view.toDrawing(clientX, clientY), pressure: 0 }, NO_MODIFIERS).end();
  }

  /** Converts lengths of the style to CSS pixels of the drawing. */
  #toDrawingLengths({ strokeWidth, fontSize }: Pick<DrawStyle, 'strokeWidth' | 'fontSize'>): Pick<DrawStyle, 'strokeWidth' | 'fontSize'> {
    const convert = (length: number, max: number): number => Math.min(max, Math.round((length / this.styleZoom) * 100) / 100);
    return { strokeWidth: convert(strokeWidth, 1000), fontSize: convert(fontSize, 4000) };
  }

  #restyle(style: Partial<DrawStyle>, fields: FieldValues, isAffected: (shape: Shape) => boolean = () => true): void {
    this.#drawStyle = { ...this.#drawStyle, ...style };
    const ids = this.selectedShapes.filter(isAffected).map(({ id }) => id);
    const [property] = Object.keys(style) as (keyof DrawStyle)[];
    const count = this.actions.setStyle(ids, fields, this.getCoalesceKey(String(property)));
    if (property) this.announceChange(count, this.texts.restyled(property, this.texts.shapes(count)));
  }

  /** If the step crops or turns the sheet, the view then fits the whole sheet, as after cropping or turning it. */
  #applyHistoryStep(step: 'undo' | 'redo'): boolean {
    this.cancelGesture();
    const getSheet = (): string => JSON.stringify(getPageBox(this.drawing.page));
    const before = getSheet();
    const done = this.editor[step]();
    if (getSheet() !== before) this.view.fit();
    return done;
  }

  #setSpaceHeld(on: boolean): void {
    if (this.#isSpaceHeld === on) return;
    this.#isSpaceHeld = on;
    this.#updateCursor();
  }

  #updateCursor(): void {
    this.surface.style.cursor = { select: 'default', hand: 'grab' }[this.activeTool as string] ?? 'crosshair';
  }

  /** Shows what a handle does before it is pressed. */
  #updateHoverCursor(event: PointerEvent): void {
    const frame =
      this.activeTool === 'select'
        ? this.selectionFrame
        : this.activeTool === 'crop' && this.cropFrame
          ? createCropHandles(this.cropFrame)
          : undefined;
    if (!frame) return this.#updateCursor();
    const { x, y } = this.view.toDrawing(event.clientX, event.clientY);
    const handle = findHandleAt(frame, [x, y], getHitMargin(this, NO_MODIFIERS));
    const isInside = handle === undefined && isInFrame(frame, [x, y]);
    if (handle === undefined && !isInside) return this.#updateCursor();
    this.surface.style.cursor =
      handle === undefined ? 'move' : handle.length > 2 || frame.rotation % 180 !== 0 ? 'pointer' : `${handle}-resize`;
  }
}

/** Whether an element takes letters: text fields and lists do; buttons, switches and sliders do not. */
const isTextField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('textarea, select, input:not([type=radio], [type=checkbox], [type=range], [type=color])'));
