import { Actions } from '#shared/canvas/actions.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import { Editor } from '#shared/canvas/editor.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import type { Box } from '#shared/canvas/geometry.ts';
import { type End, type Hold, holdOf } from '#shared/canvas/handles.ts';
import { measureText } from '../../../paint/measure.ts';
import { type Gestures, type Held, listenToKeys, listenToPointers, type Sample } from '../pointing.ts';
import { Stage } from '../stage.ts';
import { adoptStyles } from '../styles.ts';
import type { Bench, Gesture, Look, Showing } from './bench.ts';
import { cropHold } from './crop.ts';
import { paintDesk } from './desk.ts';
import { beginWith } from './gestures.ts';
import { Overlay } from './overlay.ts';
import { listenToMiddle, listenToPinch, listenToWheel } from './pinch.ts';
import { PolygonTool } from './polygon.ts';
import type { StudioTool } from './tools.ts';
import { View } from './view.ts';
import type { StudioWords } from './words.ts';
import { writeOver, type Written } from './writing.ts';

/** How far off the handle that turns is, in CSS pixels of the page. */
const TURN_GAP = 28;

/** The parts of the studio: the drawing on the screen, the overlay, and the listeners for pointers and keys. */
export abstract class StudioCore implements Bench {
  /** Element to insert into the page; it fills its parent. */
  readonly element: HTMLElement;
  readonly drawing: Drawing;
  readonly words: StudioWords;
  readonly editor: Editor;
  readonly actions: Actions;
  readonly view: View;
  readonly showing: Showing = { draft: undefined, guides: [], band: undefined };
  /** Called at most once per frame with the shape being drawn; undefined when there is none any longer. */
  onDraft: ((shape: Shape | undefined) => void) | undefined;
  /** Called with the id of a marker to open its note, by Enter or a double click on it. */
  onNote: ((id: string) => void) | undefined;
  protected readonly ended = new AbortController();
  protected readonly polygon = new PolygonTool();
  readonly #stage: Stage;
  readonly #overlay: Overlay;
  readonly #status: HTMLElement;
  readonly #others = new Map<string, Shape>();
  readonly #listeners = new Set<() => void>();
  readonly #giveUpPointer: () => void;
  #selection: readonly string[] = [];
  #cropping: Box | undefined;
  #gripped: End | undefined;
  #gesture: Gesture | undefined;
  #previewed: readonly string[] = [];
  #moveField: (() => void) | undefined;
  #telling = false;

  constructor(drawing: Drawing, words: StudioWords) {
    this.drawing = drawing;
    this.words = words;
    this.editor = new Editor(drawing);
    this.actions = new Actions(this.editor, measureText);
    adoptStyles();
    this.element = document.createElement('div');
    this.element.className = 'perch-studio';
    this.#stage = new Stage(this.editor, this.element, true);
    const { fabric } = this.#stage;
    this.view = new View(
      fabric,
      this.element,
      () => drawing.page,
      () => this.#moved(),
    );
    this.element.append(paintDesk(fabric, this.view, () => drawing.page));
    this.#overlay = new Overlay({
      view: this.view,
      measure: measureText,
      paint: (context, shape) => this.#stage.paint(context, shape),
      above: () => ({
        ...this.showing,
        chosen: this.chosen,
        hold: this.hold,
        gripped: this.#gripped,
        crop: this.#cropping && cropHold(this.#cropping),
      }),
      others: () => this.#others.values(),
      drafted: (shape) => this.onDraft?.(shape),
    });
    this.#status = document.createElement('div');
    this.#status.className = 'perch-said';
    this.#status.setAttribute('role', 'status');
    const cross = document.createElement('div');
    cross.className = 'perch-cross';
    cross.hidden = true;
    this.element.append(this.surface, cross, this.#status);
    this.#giveUpPointer = this.#listen(cross);
  }

  abstract readonly look: Look;
  /** The tool that a press is for now. */
  protected abstract readonly inHand: StudioTool;
  /** Adds modifiers that count as held. */
  protected abstract held(held: Held): Held;

  /** Element that receives pointers and focus. */
  get surface(): HTMLCanvasElement {
    return this.#overlay.canvas;
  }

  /** Ids of the selected shapes, in the order of their selection. */
  get selection(): readonly string[] {
    return this.#selection;
  }

  get chosen(): readonly Shape[] {
    return this.#selection.flatMap((id) => this.drawing.shape(id) ?? []);
  }

  get hold(): Hold | undefined {
    return holdOf(this.chosen, TURN_GAP / this.view.zoom, measureText);
  }

  /** Crop frame in CSS pixels of the drawing while the crop tool is active. */
  get cropping(): Box | undefined {
    return this.#cropping;
  }

  set cropping(box: Box | undefined) {
    this.#cropping = box;
    this.request();
    this.told();
  }

  /** The end of the selected shape that keys move. */
  protected get gripped(): End | undefined {
    return this.#gripped;
  }

  protected set gripped(end: End | undefined) {
    this.#gripped = end;
    this.request();
  }

  /** Selects shapes; unknown ids are ignored. */
  select(ids: readonly string[]): void {
    const there = [...new Set(ids)].filter((id) => this.drawing.shape(id));
    if (there.length === this.#selection.length && there.every((id, nth) => id === this.#selection[nth])) return;
    this.#selection = there;
    this.#gripped = undefined;
    this.request();
    this.told();
  }

  /** Announces a text to screen readers. */
  say(text: string): void {
    this.#status.textContent = text;
  }

  request(): void {
    this.#overlay.request();
  }

  preview(shapes: readonly Shape[] | undefined): void {
    const shown = new Set(shapes?.map(({ id }) => id));
    const back = this.#previewed.filter((id) => !shown.has(id)).flatMap((id) => this.drawing.shape(id) ?? []);
    this.#previewed = [...shown];
    this.#stage.show([...back, ...(shapes ?? [])]);
    this.request();
  }

  /** Opens a field for an existing or new text or callout. A text that is left empty is removed. */
  write(shape: Shape): void {
    if ((shape.kind !== 'text' && shape.kind !== 'callout') || this.#moveField) return;
    const there = this.drawing.shape(shape.id);
    if (there?.kind === 'callout') this.preview([{ ...there, text: '' }]);
    else if (there) this.preview([{ ...there, hidden: true }]);
    else this.showing.draft = () => shape;
    this.request();
    this.#moveField = writeOver(this.element, {
      shape,
      label: (byTouch) => this.words.writing(byTouch),
      view: this.view,
      signal: this.ended.signal,
      done: (text) => this.#written(shape, text),
    });
  }

  /** Shows what another is drawing; undefined once they no longer do. */
  showDraft(who: string, shape: Shape | undefined): void {
    if (shape) this.#others.set(who, shape);
    else this.#others.delete(who);
    this.request();
  }

  /** Calls when tool, colours, selection, zoom, or what can be undone change, until the returned function is called. */
  onState(listener: () => void): () => void {
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
  protected giveUp(): boolean {
    const under = this.#gesture !== undefined;
    this.#giveUpPointer();
    return under;
  }

  protected told(): void {
    if (this.#telling) return;
    this.#telling = true;
    queueMicrotask(() => {
      this.#telling = false;
      for (const listener of this.#listeners) listener();
    });
  }

  #listen(cross: HTMLElement): () => void {
    const { surface, view } = this;
    const { signal } = this.ended;
    surface.tabIndex = 0;
    surface.setAttribute('role', 'application');
    surface.setAttribute('aria-label', this.words.surface());
    surface.setAttribute('aria-roledescription', this.words.surfaceKind());
    const pinching = listenToPinch(surface, { view, signal, begun: () => this.#giveUpPointer() });
    listenToWheel(surface, { view, signal });
    listenToMiddle(surface, { view, signal });
    const pointed = { ground: view, gestures: this.#gestures(), signal };
    const giveUp = listenToPointers(surface, { ...pointed, active: () => !pinching() });
    const drawn = (): boolean => !['select', 'hand', 'crop'].includes(this.inHand);
    // While a polygon is drawn by mouse there is no visible cross that Enter could press at: Enter closes the polygon.
    const closes = ({ key }: KeyboardEvent): boolean => key === 'Enter' && cross.hidden && this.polygon.closable;
    listenToKeys(surface, cross, { ...pointed, drawing: this.drawing, active: (event) => drawn() && !closes(event), press: ['Enter'] });
    const sized = new ResizeObserver(([entry]) => {
      if (entry) view.resize(Math.round(entry.contentRect.width), Math.round(entry.contentRect.height));
    });
    sized.observe(this.element);
    const unsubscribe = this.drawing.onChange(({ ids }) => {
      if (this.#selection.some((id) => ids.has(id))) this.#selection = this.#selection.filter((id) => this.drawing.shape(id));
      this.request();
      this.told();
    });
    signal.addEventListener('abort', () => {
      sized.disconnect();
      unsubscribe();
    });
    return giveUp;
  }

  #gestures(): Gestures {
    const finish = (how: 'end' | 'cancel'): void => {
      const gesture = this.#gesture;
      this.#gesture = undefined;
      gesture?.[how]();
    };
    return {
      begin: (at: Sample, pressed: Held) => {
        const held = this.held(pressed);
        this.#gesture = this.inHand === 'polygon' ? this.polygon.begin(this, at, held) : beginWith(this.inHand)(this, at, held);
      },
      extend: (samples, pressed) => this.#gesture?.extend(samples, this.held(pressed)),
      end: () => finish('end'),
      cancel: () => finish('cancel'),
    };
  }

  #moved(): void {
    this.#moveField?.();
    this.request();
    this.told();
  }

  #written(shape: Written, text: string): void {
    this.#moveField = undefined;
    this.showing.draft = undefined;
    this.preview(undefined);
    const there = this.drawing.shape(shape.id);
    if (text === '' && there) {
      this.actions.remove([shape.id]);
      this.say(this.words.happened('textGone'));
    } else if (text !== '' && text !== shape.text) {
      const { id: _, order: __, ...fields } = shape;
      if (there) this.actions.style([shape.id], { text });
      else if (fields.kind === 'text') this.select([this.editor.add('text', { ...fields, text }).id]);
      else this.select([this.editor.add('callout', { ...fields, text }).id]);
      this.say(this.words.happened('textWritten'));
    }
    this.focus();
  }
}
