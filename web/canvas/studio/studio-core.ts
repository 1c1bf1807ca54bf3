import { DrawingActions } from '#shared/canvas/drawing-actions.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import { Editor } from '#shared/canvas/editor.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import type { Box } from '#shared/canvas/geometry.ts';
import { type EndHandle, type SelectionFrame, computeSelectionFrame } from '#shared/canvas/handles.ts';
import { measureText } from '../../paint/measure-text.ts';
import { type GestureHandlers, type GestureModifiers, listenToKeys, listenToPointers, type PointerSample } from '../pointer-gestures.ts';
import { Stage } from '../stage.ts';
import { installStyles } from '../canvas-styles.ts';
import type { ToolContext, Gesture, DrawStyle, GestureDisplay } from './tool-context.ts';
import { createCropHandles } from './crop-handles.ts';
import { paintSheet } from './paint-sheet.ts';
import { getBeginGesture } from './begin-gesture.ts';
import { StudioOverlay } from './studio-overlay.ts';
import { listenToMiddleButton, listenToPinch, listenToWheel } from './view-gestures.ts';
import { PolygonTool } from './polygon-tool.ts';
import type { StudioTool } from './studio-tools.ts';
import { StudioViewport } from './studio-view-port.ts';
import type { StudioTexts } from './studio-texts.ts';
import { editShapeText, type EditableShape } from './edit-text.ts';

/** Distance of the rotate handle, in CSS pixels of the page. */
const ROTATE_HANDLE_GAP_PX = 28;

/** The parts of the studio: the drawing on the screen, the overlay, and the listeners for pointers and keys. */
export abstract class StudioCore implements ToolContext {
  /** Element to insert into the page; it fills its parent. */
  readonly element: HTMLElement;
  readonly drawing: Drawing;
  readonly texts: StudioTexts;
  readonly editor: Editor;
  readonly actions: DrawingActions;
  readonly view: StudioViewport;
  readonly gestureDisplay: GestureDisplay = { draft: undefined, guides: [], band: undefined };
  /** Called at most once per frame with the shape being drawn; undefined when there is none any longer. */
  onDraft: ((shape: Shape | undefined) => void) | undefined;
  /** Called with the id of a marker to open its note: a new one, or by Enter or a click on it. */
  onNote: ((id: string) => void) | undefined;
  protected readonly ended = new AbortController();
  protected readonly polygon = new PolygonTool();
  readonly #stage: Stage;
  readonly #overlay: StudioOverlay;
  readonly #status: HTMLElement;
  readonly #remoteDrafts = new Map<string, Shape>();
  readonly #listeners = new Set<() => void>();
  readonly #cancelPointer: () => void;
  #selection: readonly string[] = [];
  #cropping: Box | undefined;
  #grippedEnd: EndHandle | undefined;
  #gesture: Gesture | undefined;
  #previewedIds: readonly string[] = [];
  #repositionField: (() => void) | undefined;
  #isNotifyPending = false;

  constructor(drawing: Drawing, texts: StudioTexts) {
    this.drawing = drawing;
    this.texts = texts;
    this.editor = new Editor(drawing);
    this.actions = new DrawingActions(this.editor, measureText);
    installStyles();
    this.element = document.createElement('div');
    this.element.className = 'perch-studio';
    this.#stage = new Stage(this.editor, this.element, true);
    const { fabric } = this.#stage;
    this.view = new StudioViewport(
      fabric,
      this.element,
      () => drawing.page,
      () => this.#onViewChange(),
    );
    this.element.append(paintSheet(fabric, this.view, () => drawing.page));
    this.#overlay = new StudioOverlay({
      view: this.view,
      measure: measureText,
      paint: (context, shape) => this.#stage.paint(context, shape),
      getState: () => ({
        ...this.gestureDisplay,
        selectedShapes: this.selectedShapes,
        selectionFrame: this.selectionFrame,
        grippedHandle: this.#grippedEnd,
        crop: this.#cropping && createCropHandles(this.#cropping),
      }),
      getRemoteDrafts: () => this.#remoteDrafts.values(),
      onDraft: (shape) => this.onDraft?.(shape),
    });
    this.#status = document.createElement('div');
    this.#status.className = 'perch-said';
    this.#status.setAttribute('role', 'status');
    const cross = document.createElement('div');
    cross.className = 'perch-cross';
    cross.hidden = true;
    this.element.append(this.surface, cross, this.#status);
    this.#cancelPointer = this.#listenToInput(cross);
  }

  abstract readonly drawStyle: DrawStyle;
  abstract readonly styleZoom: number;
  /** Tool of the next press. */
  protected abstract readonly activeTool: StudioTool;
  /** Adds modifiers that count as held. */
  protected abstract withHeldModifiers(modifiers: GestureModifiers): GestureModifiers;

  /** Element that receives pointers and focus. */
  get surface(): HTMLCanvasElement {
    return this.#overlay.canvas;
  }

  /** Ids of the selected shapes, in the order of their selection. */
  get selection(): readonly string[] {
    return this.#selection;
  }

  get selectedShapes(): readonly Shape[] {
    return this.#selection.flatMap((id) => this.drawing.shape(id) ?? []);
  }

  get selectionFrame(): SelectionFrame | undefined {
    return computeSelectionFrame(this.selectedShapes, ROTATE_HANDLE_GAP_PX / this.view.zoom, measureText);
  }

  /** Crop frame in CSS pixels of the drawing while the crop tool is active. */
  get cropFrame(): Box | undefined {
    return this.#cropping;
  }

  set cropFrame(box: Box | undefined) {
    this.#cropping = box;
    this.requestRepaint();
    this.scheduleNotify();
  }

  /** The end of the selected shape that keys move. */
  protected get grippedEnd(): EndHandle | undefined {
    return this.#grippedEnd;
  }

  protected set grippedEnd(end: EndHandle | undefined) {
    this.#grippedEnd = end;
    this.requestRepaint();
  }

  /** Selects shapes; unknown ids are ignored. */
  select(ids: readonly string[]): void {
    const knownIds = [...new Set(ids)].filter((id) => this.drawing.shape(id));
    if (knownIds.length === this.#selection.length && knownIds.every((id, index) => id === this.#selection[index])) return;
    this.#selection = knownIds;
    this.#grippedEnd = undefined;
    this.requestRepaint();
    this.scheduleNotify();
  }

  /** Announces a text to screen readers. */
  announce(text: string): void {
    this.#status.textContent = text;
  }

  requestRepaint(): void {
    this.#overlay.request();
  }

  previewShapes(shapes: readonly Shape[] | undefined): void {
    const previewIds = new Set(shapes?.map(({ id }) => id));
    const originals = this.#previewedIds.filter((id) => !previewIds.has(id)).flatMap((id) => this.drawing.shape(id) ?? []);
    this.#previewedIds = [...previewIds];
    this.#stage.showOverrides([...originals, ...(shapes ?? [])]);
    this.requestRepaint();
  }

  /** Opens a field for an existing or new text or callout. A text that is left empty is removed. */
  openTextField(shape: Shape): void {
    if ((shape.kind !== 'text' && shape.kind !== 'callout') || this.#repositionField) return;
    const existing = this.drawing.shape(shape.id);
    if (existing?.kind === 'callout') this.previewShapes([{ ...existing, text: '' }]);
    else if (existing) this.previewShapes([{ ...existing, hidden: true }]);
    else this.gestureDisplay.draft = () => shape;
    this.requestRepaint();
    this.#repositionField = editShapeText(this.element, {
      shape,
      label: (byTouch) => this.texts.textField(byTouch),
      view: this.view,
      signal: this.ended.signal,
      onDone: (text) => this.#onTextEdited(shape, text),
    });
  }

  openNote(id: string): void {
    this.onNote?.(id);
  }

  /** Shows the stroke in progress of another person; undefined once it has ended. */
  setRemoteDraft(sender: string, shape: Shape | undefined): void {
    if (shape) this.#remoteDrafts.set(sender, shape);
    else this.#remoteDrafts.delete(sender);
    this.requestRepaint();
  }

  /** Calls the listener when tool, style, selection, zoom or undo history change. Returns a function that stops it. */
  onStateChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Focuses the surface, where keys draw and move. */
  focus(): void {
    this.surface.focus();
  }

  /** Releases its resources. Call it when the element leaves the page permanently. */
  async dispose(): Promise<void> {
    this.ended.abort();
    this.#overlay.dispose();
    this.#listeners.clear();
    await this.#stage.dispose();
    this.element.remove();
  }

  /** Cancels the current pointer gesture. Returns false if there is none. */
  protected cancelGesture(): boolean {
    const hadGesture = this.#gesture !== undefined;
    this.#cancelPointer();
    return hadGesture;
  }

  protected scheduleNotify(): void {
    if (this.#isNotifyPending) return;
    this.#isNotifyPending = true;
    queueMicrotask(() => {
      this.#isNotifyPending = false;
      for (const listener of this.#listeners) listener();
    });
  }

  #listenToInput(cross: HTMLElement): () => void {
    const { surface, view } = this;
    const { signal } = this.ended;
    surface.tabIndex = 0;
    surface.setAttribute('role', 'application');
    surface.setAttribute('aria-label', this.texts.surface());
    surface.setAttribute('aria-roledescription', this.texts.surfaceKind());
    const isPinching = listenToPinch(surface, { view, signal, onBegin: () => this.#cancelPointer() });
    listenToWheel(surface, { view, signal });
    listenToMiddleButton(surface, { view, signal });
    const listenerOptions = { ground: view, gestures: this.#createHandlers(), signal };
    const cancelPointer = listenToPointers(surface, { ...listenerOptions, active: () => !isPinching() });
    const isDrawingTool = (): boolean => !['select', 'hand', 'crop'].includes(this.activeTool);
    // While a polygon is drawn by mouse there is no visible cross that Enter could press at: Enter closes the polygon.
    const closesPolygon = ({ key }: KeyboardEvent): boolean => key === 'Enter' && cross.hidden && this.polygon.isClosable;
    listenToKeys(surface, cross, {
      ...listenerOptions,
      drawing: this.drawing,
      active: (event) => isDrawingTool() && !closesPolygon(event),
      press: ['Enter'],
    });
    const resizeObserver = new ResizeObserver(([entry]) => {
      if (entry) view.resize(Math.round(entry.contentRect.width), Math.round(entry.contentRect.height));
    });
    resizeObserver.observe(this.element);
    const unsubscribe = this.drawing.onChange(({ ids }) => {
      if (this.#selection.some((id) => ids.has(id))) this.#selection = this.#selection.filter((id) => this.drawing.shape(id));
      this.requestRepaint();
      this.scheduleNotify();
    });
    signal.addEventListener('abort', () => {
      resizeObserver.disconnect();
      unsubscribe();
    });
    return cancelPointer;
  }

  #createHandlers(): GestureHandlers {
    const finish = (method: 'end' | 'cancel'): void => {
      const gesture = this.#gesture;
      this.#gesture = undefined;
      gesture?.[method]();
    };
    return {
      begin: (at: PointerSample, pressed: GestureModifiers) => {
        const modifiers = this.withHeldModifiers(pressed);
        this.#gesture =
          this.activeTool === 'polygon' ? this.polygon.begin(this, at, modifiers) : getBeginGesture(this.activeTool)(this, at, modifiers);
      },
      extend: (samples, modifiers) => this.#gesture?.extend(samples, this.withHeldModifiers(modifiers)),
      end: () => finish('end'),
      cancel: () => finish('cancel'),
    };
  }

  #onViewChange(): void {
    this.#repositionField?.();
    this.requestRepaint();
    this.scheduleNotify();
  }

  #onTextEdited(shape: EditableShape, text: string): void {
    this.#repositionField = undefined;
    this.gestureDisplay.draft = undefined;
    this.previewShapes(undefined);
    const existing = this.drawing.shape(shape.id);
    if (text === '' && existing) {
      this.actions.remove([shape.id]);
      this.announce(this.texts.event('textGone'));
    } else if (text !== '' && text !== shape.text) {
      const { id: _, order: __, ...fields } = shape;
      if (existing) this.actions.setStyle([shape.id], { text });
      else if (fields.kind === 'text') this.select([this.editor.add('text', { ...fields, text }).id]);
      else this.select([this.editor.add('callout', { ...fields, text }).id]);
      this.announce(this.texts.event('textWritten'));
    }
    this.focus();
  }
}
