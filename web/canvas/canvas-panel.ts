import { createCanvasToolbar } from './canvas-toolbar.ts';
import { InteractiveCanvas } from './interactive-canvas.ts';
import { toOptions, type AnySpelling } from './spelling-options.ts';
import { createGap, createToolButton } from './toolbar.ts';
import { type Tool, TOOLS } from './drawing-tools.ts';

export interface CanvasPanelOptions {
  /** CSS pixels; 640. */
  readonly width: number;
  /** CSS pixels; 480. */
  readonly height: number;
  /** Any colour of CSS; `#ffffff`. */
  readonly canvasBgcolor?: string;
  /** Called with the bytes of a PNG when Export is pressed. Without it there is no Export button. */
  readonly onExport?: (pngBytes: Uint8Array<ArrayBuffer>) => void;
}

/** A canvas with a toolbar; base of both panels. */
class BaseCanvasPanel {
  /** Element to insert into the page. */
  readonly element: HTMLElement;
  readonly canvas: InteractiveCanvas;
  readonly #disposal = new AbortController();

  constructor(canvas: InteractiveCanvas, tools: readonly Tool[], extraButtons: readonly HTMLElement[]) {
    this.canvas = canvas;
    this.element = document.createElement('div');
    this.element.className = 'perch-panel';
    this.element.append(createCanvasToolbar(canvas, tools, { signal: this.#disposal.signal, more: extraButtons }), canvas.element);
  }

  /** `pen`, `rect`, `circle`, `arrow`, `marker`, `text` or `select`. Throws a RangeError for any other value. */
  get currentTool(): Tool {
    return this.canvas.currentTool;
  }

  set currentTool(tool: Tool) {
    this.canvas.currentTool = tool;
  }

  /** Any CSS colour. Throws a TypeError for an invalid colour. */
  get strokeColor(): string {
    return this.canvas.strokeColor;
  }

  set strokeColor(color: string) {
    this.canvas.strokeColor = color;
  }

  /** Releases its resources. Call it when the element leaves the page permanently. */
  async dispose(): Promise<void> {
    this.#disposal.abort();
    await this.canvas.dispose();
    this.element.remove();
  }
}

/** A canvas with all tools and an export button. */
export class CanvasPanel extends BaseCanvasPanel {
  /** `width`, `height`, `canvasBgcolor`, `onExport`, or an object of them. Throws a TypeError for an invalid colour. */
  constructor(width: number, height: number, canvasBgcolor?: string, onExport?: CanvasPanelOptions['onExport']);
  constructor(options: AnySpelling<CanvasPanelOptions>);
  constructor(...args: readonly unknown[]) {
    const {
      width = 640,
      height = 480,
      canvasBgcolor = '#ffffff',
      onExport,
    } = toOptions<CanvasPanelOptions>(['width', 'height', 'canvasBgcolor', 'onExport'], args);
    const canvas = new InteractiveCanvas({ width, height, background: canvasBgcolor }, { color: '#000000', width: 3 });
    const save = createToolButton('save', 'Export as PNG', () => void canvas.capturePng().then(onExport));
    super(canvas, TOOLS, onExport ? [createGap(), save] : []);
  }
}

/** A canvas with a pen, its colour and width, undo, redo and clear: small enough for a form. */
export class SimpleCanvasPanel extends BaseCanvasPanel {
  /** `width` and `height` in CSS pixels, or both in an object. */
  constructor(width: number, height: number);
  constructor(options: { readonly width: number; readonly height: number });
  constructor(...args: readonly unknown[]) {
    const { width = 320, height = 200 } = toOptions<{ width: number; height: number }>(['width', 'height'], args);
    super(new InteractiveCanvas({ width, height, background: '#ffffff' }, { color: '#000000', width: 3 }), ['pen'], []);
  }
}
