import type { FieldValues } from '#shared/canvas/change.ts';
import { type Kind, LIMITS, type NewShape, type Shape } from '#shared/canvas/shape-fields.ts';
import { normalizeCssColor } from './css-color.ts';
import { type CanvasOptions, DrawableCanvas } from './drawable-canvas.ts';
import { createSheetMap } from './coordinate-map.ts';
import { type GestureHandlers, listenToKeys, listenToPointers, type PointerSample } from './pointer-gestures.ts';
import { installStyles } from './canvas-styles.ts';
import { DRAWING_TOOLS, type Tool, TOOLS } from './drawing-tools.ts';
import { openTextField } from './text-field.ts';

/** Minimum movement of a drag in CSS pixels; less is a press. */
const MIN_DRAG_PX = 3;

/** A canvas that a person draws on with a tool: by mouse, pen, finger or keys. */
export class InteractiveCanvas extends DrawableCanvas {
  readonly #disposal = new AbortController();
  readonly #status: HTMLElement;
  readonly #surface: HTMLElement;
  #tool: Tool = 'pen';
  #color: string;
  #width: number;
  #samples: [PointerSample, ...PointerSample[]] | undefined;
  #base: Shape | undefined;
  #frame = 0;

  constructor(options: CanvasOptions, { color, width }: { color: string; width: number }) {
    super(options);
    this.#color = normalizeCssColor(color);
    this.#width = validateWidth(width);
    installStyles();
    this.element.classList.add('perch-canvas');
    this.#surface = this.stage.surface;
    this.#surface.tabIndex = 0;
    this.#surface.setAttribute('role', 'application');
    this.#surface.setAttribute('aria-label', 'Drawing. Arrow keys move, Enter presses and releases, Escape cancels.');
    const cross = this.element.appendChild(document.createElement('div'));
    cross.className = 'perch-cross';
    cross.hidden = true;
    this.#status = this.element.appendChild(document.createElement('div'));
    this.#status.className = 'perch-said';
    this.#status.setAttribute('role', 'status');
    const { signal } = this.#disposal;
    const listenerOptions = {
      ground: createSheetMap(this.#surface, this.drawing),
      gestures: this.#createGestureHandlers(),
      signal,
      active: () => this.#tool !== 'select',
    };
    listenToPointers(this.#surface, listenerOptions);
    listenToKeys(this.#surface, cross, { ...listenerOptions, drawing: this.drawing, press: ['Enter', ' '] });
    this.#surface.addEventListener('keydown', (event) => this.#handleKey(event), { signal });
  }

  /** Tool of the next gesture: `pen`, `rect`, `circle`, `arrow`, `marker`, `text` or `select`. Throws a RangeError for any other value. */
  get currentTool(): Tool {
    return this.#tool;
  }

  set currentTool(tool: Tool) {
    if (!TOOLS.includes(tool)) throw new RangeError(`Unknown tool "${tool}". Use one of ${TOOLS.join(', ')}`);
    this.#tool = tool;
    this.stage.selectable = tool === 'select';
    this.#notifySettings();
  }

  /** Colour of the shapes drawn next. Throws a TypeError for an invalid colour. */
  get strokeColor(): string {
    return this.#color;
  }

  set strokeColor(color: string) {
    this.#color = normalizeCssColor(color);
    this.#notifySettings();
  }

  /** Line width in CSS pixels. Throws a RangeError outside 0.1 to 1000. */
  get strokeWidth(): number {
    return this.#width;
  }

  set strokeWidth(width: number) {
    this.#width = validateWidth(width);
    this.#notifySettings();
  }

  /** Calls the listener when tool, colour or width change, until the signal aborts. */
  onSettings(listener: () => void, signal?: AbortSignal): void {
    this.element.addEventListener('perch-settings', listener, { signal });
  }

  /** Focuses the drawing surface. */
  focus(): void {
    this.#surface.focus();
  }

  /** Announces a text to screen readers. */
  say(text: string): void {
    this.#status.textContent = text;
  }

  override async dispose(): Promise<void> {
    this.#disposal.abort();
    cancelAnimationFrame(this.#frame);
    await super.dispose();
  }

  #notifySettings(): void {
    this.element.dispatchEvent(new CustomEvent('perch-settings'));
  }

  #createGestureHandlers(): GestureHandlers {
    return {
      begin: (at) => {
        this.#samples = [at];
        this.#base = this.#createShape('draft');
        this.#preview();
      },
      extend: (samples) => {
        this.#samples?.push(...samples);
        if (this.#samples && this.#samples.length > LIMITS.points) this.#samples.length = LIMITS.points;
        this.#preview();
      },
      end: () => this.#finish(),
      cancel: () => this.#resetGesture(),
    };
  }

  /** Fields of the shape that the current gesture would create if it ended now. */
  #computeFields(): FieldValues | undefined {
    if (!this.#samples || !(this.#tool in DRAWING_TOOLS)) return undefined;
    return DRAWING_TOOLS[this.#tool as keyof typeof DRAWING_TOOLS].fields(this.#samples);
  }

  #createShape(id: string): Shape | undefined {
    const tool = this.#tool in DRAWING_TOOLS ? DRAWING_TOOLS[this.#tool as keyof typeof DRAWING_TOOLS] : undefined;
    if (!tool) return undefined;
    const style = { color: this.#color, strokeWidth: this.#width };
    return {
      ...style,
      ...this.#computeFields(),
      id,
      kind: tool.kind,
      opacity: 1,
      rotation: 0,
      radius: 0,
      antiAlias: true,
      hidden: false,
    } as Shape;
  }

  /** Updates the preview, once per frame. */
  #preview(): void {
    if (!this.#base || this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      if (this.#base) this.stage.draft = { ...this.#base, ...this.#computeFields() } as Shape;
    });
  }

  #resetGesture(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#samples = undefined;
    this.#base = undefined;
    this.stage.draft = undefined;
  }

  #finish(): void {
    const [samples, fields] = [this.#samples, this.#computeFields()];
    this.#resetGesture();
    if (!samples) return;
    const [first, last] = [samples[0], samples.at(-1) ?? samples[0]];
    if (this.#tool === 'marker') return this.#addMarker(last);
    if (this.#tool === 'text') return this.#editText(last);
    const tool = DRAWING_TOOLS[this.#tool as keyof typeof DRAWING_TOOLS];
    if (!fields || (!tool.dot && Math.hypot(last.x - first.x, last.y - first.y) < MIN_DRAG_PX)) return;
    this.add(tool.kind, { color: this.#color, strokeWidth: this.#width, ...fields } as unknown as NewShape<Kind>);
    this.say(`${this.#tool} drawn`);
  }

  /** Adds a marker with the next number. */
  #addMarker({ x, y }: PointerSample): void {
    const labels = this.drawing.shapes.flatMap((shape) => (shape.kind === 'marker' ? [Number(shape.label)] : []));
    const label = String(Math.max(0, ...labels.filter(Number.isInteger)) + 1);
    this.add('marker', { x, y, label, color: this.#color });
    this.say(`Marker ${label} added`);
  }

  #editText({ x, y }: PointerSample): void {
    const size = Math.max(16, this.#width * 5);
    const { page } = this.drawing;
    const scale = this.element.clientWidth > 0 ? this.element.clientWidth / page.width : 1;
    const position = { left: `${(x - page.x) * scale}px`, top: `${(y - page.y) * scale}px`, size: size * scale };
    openTextField(this.element, { ...position, color: this.#color, signal: this.#disposal.signal }, (text) => {
      if (text) {
        this.add('text', { x, y, text, size, color: this.#color });
        this.say('Text saved');
      }
      this.focus();
    });
  }

  #handleKey(event: KeyboardEvent): void {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z') {
      const hasChanged = event.shiftKey ? this.redo() : this.undo();
      this.say(event.shiftKey ? (hasChanged ? 'Redone' : 'Nothing to redo') : hasChanged ? 'Undone' : 'Nothing to undo');
    } else if ((event.key === 'Delete' || event.key === 'Backspace') && this.stage.selected !== undefined) {
      this.editor.remove([this.stage.selected]);
      this.say('Deleted');
    } else return;
    event.preventDefault();
  }
}

function validateWidth(width: number): number {
  if (!(width >= 0.1 && width <= 1000)) throw new RangeError(`The line width must be 0.1 to 1000, not ${width}`);
  return width;
}
