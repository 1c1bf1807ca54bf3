import { Drawing } from '#shared/canvas/drawing.ts';
import { Editor } from '#shared/canvas/editor.ts';
import { type Kind, type NewShape, DEFAULT_PAINT_STYLE, type Shape } from '#shared/canvas/shape-fields.ts';
import type { PathElement } from '#shared/canvas/path.ts';
import { z } from '#shared/rpc/zod.ts';
import { normalizeCssColor } from './css-color.ts';
import { exportImage, exportSvg, type ImageOptions } from '../paint/export-image.ts';
import { type Paint, toPaintStyle } from './paint-style.ts';
import { type PointLike, toPoints } from './points.ts';
import { toShapeError } from './shape-error.ts';
import type { DrawingScreen } from './drawing-screen.ts';
import { Stage } from './stage.ts';

export interface CanvasOptions {
  /** CSS pixels. */
  readonly width: number;
  /** CSS pixels. */
  readonly height: number;
  /** Any CSS colour; null, the default, is transparent. */
  readonly background?: string | null;
}

/**
 * A canvas to draw on by code. Insert its `element` into the page.
 * All lengths are CSS pixels from the left upper corner; a colour is any CSS colour or a `PaintStyle`. Methods throw a TypeError for an
 * invalid colour, and a RangeError that names the argument for a value that a drawing cannot hold.
 *
 * ```ts
 * const canvas = new DrawableCanvas(640, 480);
 * document.body.append(canvas.element);
 * canvas.drawRect(20, 20, 200, 100, 'tomato');
 * const png = await canvas.capturePng();
 * ```
 */
export class DrawableCanvas {
  /** Element to insert into the page. */
  readonly element: HTMLElement;
  /** The list of shapes and source of truth: it can be stored as JSON, merged with other replicas, and observed. */
  readonly drawing: Drawing;
  /** Changes the list so that it can be undone. */
  readonly editor: Editor;
  protected readonly stage: DrawingScreen;

  /** `width` and `height` in CSS pixels, or both in an object. */
  constructor(width: number, height: number);
  constructor(options: CanvasOptions);
  constructor(first: number | CanvasOptions, second?: number);
  constructor(first: number | CanvasOptions, second = 150) {
    const { width, height, background = null } = typeof first === 'number' ? { width: first, height: second } : first;
    this.drawing = new Drawing({ width, height, background: background === null ? null : normalizeCssColor(background) });
    this.editor = new Editor(this.drawing);
    this.element = document.createElement('div');
    this.element.style.cssText = 'position:relative;display:inline-block;vertical-align:top;max-width:100%';
    this.stage = new Stage(this.editor, this.element);
  }

  /** A rectangle, filled with the colour (default `#000000`) or outlined by 1 pixel. */
  drawRect(x: number, y: number, w: number, h: number, color: Paint = DEFAULT_PAINT_STYLE.color, fill?: boolean): Shape<'rect'> {
    const style = toPaintStyle(color);
    return this.draw('rect', { x, y, width: w, height: h, ...style, fill: fill ?? style.fill }, { width: 'w', height: 'h' });
  }

  /** A filled circle about (cx, cy). */
  drawCircle(cx: number, cy: number, r: number, color: Paint = DEFAULT_PAINT_STYLE.color): Shape<'ellipse'> {
    return this.draw('ellipse', { cx, cy, rx: r, ry: r, ...toPaintStyle(color) }, { rx: 'r', ry: 'r' });
  }

  /** A straight line, `width` wide (default 1). */
  drawLine(x1: number, y1: number, x2: number, y2: number, color: Paint = DEFAULT_PAINT_STYLE.color, width?: number): Shape<'line'> {
    const { color: stroke, strokeWidth, antiAlias } = toPaintStyle(color);
    return this.draw('line', { x1, y1, x2, y2, color: stroke, antiAlias, strokeWidth: width ?? strokeWidth }, { strokeWidth: 'width' });
  }

  /** Text with its left upper corner at (x, y), its letters `size` high (default 16); `\n` begins a new line. */
  drawText(x: number, y: number, text: string, color: Paint = DEFAULT_PAINT_STYLE.color, size = 16): Shape<'text'> {
    const { color: ink, antiAlias } = toPaintStyle(color);
    return this.add('text', { x, y, text, size, color: ink, antiAlias });
  }

  /** A filled polygon through points of the form `[x, y]` or `{ x, y }`. */
  drawPolygon(points: readonly PointLike[], color: Paint = DEFAULT_PAINT_STYLE.color): Shape<'polygon'> {
    return this.add('polygon', { points: toPoints(points), ...toPaintStyle(color) });
  }

  /** A filled star with `points` spikes (2 to 500) of the radius `outer`, and `inner` between them; the first points up. */
  drawStar(cx: number, cy: number, outer: number, inner: number, points: number, color: Paint = DEFAULT_PAINT_STYLE.color): Shape<'star'> {
    return this.draw('star', { cx, cy, outer, inner, spikes: points, ...toPaintStyle(color) }, { spikes: 'points' });
  }

  /**
   * Draws a path of `MoveTo`, `LineTo`, `CubicTo`, `QuadraticTo` and `ClosePath`, filled; with a `PaintStyle` whose `fill` is false,
   * outlined.
   */
  drawPath(elements: readonly PathElement[], color: Paint = DEFAULT_PAINT_STYLE.color): Shape<'path'> {
    return this.add('path', { elements: [...elements], ...toPaintStyle(color) });
  }

  /** Removes all shapes, as one undo step. */
  clear(): void {
    this.editor.remove(this.drawn.map(({ id }) => id));
  }

  /** Removes the last (uppermost) shape and returns it; undefined if there is none. */
  popShape(): Shape | undefined {
    const last = this.drawn.at(-1);
    if (last) this.editor.remove([last.id]);
    return last;
  }

  /** Removes a shape that a method returned. Returns false if it was already removed. */
  removeShape(shape: Pick<Shape, 'id'>): boolean {
    return this.editor.remove([shape.id]) > 0;
  }

  /** Undoes the last step. Returns false if there is none. */
  undo(): boolean {
    return this.editor.undo();
  }

  /** Redoes the last undone step. Returns false if there is none. */
  redo(): boolean {
    return this.editor.redo();
  }

  /**
   * Exports the drawing as a PNG of width × height × `scale` (default: `devicePixelRatio`, as on the screen). Throws a RangeError if it
   * would be larger than browsers support.
   */
  async capturePng({ scale = devicePixelRatio }: Pick<ImageOptions, 'scale'> = {}): Promise<Uint8Array<ArrayBuffer>> {
    return exportImage(this.drawing, { scale, type: 'image/png' });
  }

  /** Exports the drawing as an SVG, without redacted content. */
  async captureSvg(options: Pick<ImageOptions, 'scale'> = {}): Promise<string> {
    return exportSvg(this.drawing, options);
  }

  /** Releases its resources. Call it when the element leaves the page permanently. */
  async dispose(): Promise<void> {
    await this.stage.dispose();
    this.element.remove();
  }

  /** Adds a shape of any kind on top. Throws a RangeError that names an invalid field. */
  add<K extends Kind>(kind: K, shape: NewShape<K>): Shape<K> {
    return this.draw(kind, shape);
  }

  /** Adds a shape for a method whose arguments are named differently from the fields. */
  protected draw<K extends Kind>(kind: K, shape: NewShape<K>, names: Readonly<Record<string, string>> = {}): Shape<K> {
    try {
      return this.editor.add(kind, shape);
    } catch (error) {
      throw error instanceof z.ZodError ? toShapeError(kind, error, names) : error;
    }
  }

  /** The shapes that `clear` and `popShape` remove. */
  protected get drawn(): readonly Shape[] {
    return this.drawing.shapes.filter(({ locked }) => !locked);
  }
}
