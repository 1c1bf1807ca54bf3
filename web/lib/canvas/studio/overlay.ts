import type { Shape } from '#shared/canvas/fields.ts';
import { type Box, cornersOf, frameOf, rotationOf, turned } from '#shared/canvas/geometry.ts';
import type { Handle, Hold } from '#shared/canvas/handles.ts';
import type { Measure } from '#shared/canvas/marks.ts';
import type { Point } from '#shared/canvas/path.ts';
import type { Guide } from '#shared/canvas/snap.ts';
import { hideEmpty } from '../styles.ts';
import type { View } from './view.ts';

/** State shown above a drawing that is not part of it. */
export interface Above {
  /** Returns the shape that would be drawn now; called once per frame. */
  readonly draft?: (() => Shape | undefined) | undefined;
  readonly chosen: readonly Shape[];
  readonly hold: Hold | undefined;
  /** Handle that keys move. */
  readonly gripped?: Handle | undefined;
  readonly guides: readonly Guide[];
  /** Selection rectangle. */
  readonly band?: Box | undefined;
  /** Crop frame of the sheet, and its handles. */
  readonly crop?: Hold | undefined;
}

interface Shown {
  readonly view: View;
  readonly measure: Measure;
  readonly paint: (context: CanvasRenderingContext2D, shape: Shape) => void;
  readonly above: () => Above;
  readonly others: () => Iterable<Shape>;
  /** Called in each frame with the shape being drawn; undefined when there is none any longer. */
  readonly drafted: (shape: Shape | undefined) => void;
}

const ACCENT = '#0b57d0';
const GUIDE = '#d6249f';
/** Of a handle, in CSS pixels of the page. */
const HANDLE = 9;

/** The canvas above the drawing, painted at most once a frame. */
export class Overlay {
  readonly canvas: HTMLCanvasElement;
  readonly #shown: Shown;
  #frame = 0;
  #drafting = false;

  constructor(shown: Shown) {
    this.#shown = shown;
    this.canvas = document.createElement('canvas');
    this.canvas.className = 'perch-over';
  }

  /** Paints again with the next frame. */
  request(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#paint());
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame);
  }

  #paint(): void {
    this.#frame = 0;
    const { view, paint, above, others, drafted } = this.#shown;
    const context = this.canvas.getContext('2d');
    if (!context) return;
    const ratio = devicePixelRatio;
    const [width, height] = [Math.round(view.size.width * ratio), Math.round(view.size.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.size.width, view.size.height);
    const drafts = [...others()];
    for (const shape of drafts) paint(context, shape);
    const { draft, chosen, hold, gripped, guides, band, crop } = above();
    const drawn = draft?.();
    if (drawn) paint(context, drawn);
    if (drawn || this.#drafting) drafted(drawn);
    this.#drafting = drawn !== undefined;
    if (chosen.length > 1) for (const shape of chosen) this.#frameOf(context, shape);
    if (hold) this.#hold(context, hold, gripped);
    if (crop) this.#crop(context, crop);
    if (band) this.#band(context, band);
    for (const guide of guides) this.#guide(context, guide);
    hideEmpty(this.canvas, drafts.length + chosen.length + guides.length === 0 && !drawn && !hold && !crop && !band);
  }

  #line(context: CanvasRenderingContext2D, points: readonly Point[], closed = true): void {
    context.beginPath();
    for (const [x, y] of points) {
      const at = this.#shown.view.on({ x, y });
      context.lineTo(at.x, at.y);
    }
    if (closed) context.closePath();
  }

  #frameOf(context: CanvasRenderingContext2D, shape: Shape): void {
    const frame = frameOf(shape, this.#shown.measure);
    context.strokeStyle = ACCENT;
    context.lineWidth = 1;
    this.#line(
      context,
      cornersOf(frame).map((corner) => turned(corner, frame, rotationOf(shape))),
    );
    context.globalAlpha = 0.5;
    context.stroke();
    context.globalAlpha = 1;
  }

  #hold(context: CanvasRenderingContext2D, { box, rotation, handles }: Hold, gripped?: Handle): void {
    context.strokeStyle = ACCENT;
    context.lineWidth = 1.5;
    const line = handles.some(({ name }) => name === 'start');
    if (!line) {
      this.#line(
        context,
        cornersOf(box).map((corner) => turned(corner, box, rotation)),
      );
      context.stroke();
    }
    for (const { name, at } of handles) {
      const { x, y } = this.#shown.view.on({ x: at[0], y: at[1] });
      context.beginPath();
      if (name.length > 2) context.arc(x, y, HANDLE / 2 + 0.5, 0, 2 * Math.PI);
      else context.rect(x - HANDLE / 2, y - HANDLE / 2, HANDLE, HANDLE);
      context.fillStyle = name === gripped ? ACCENT : '#ffffff';
      context.fill();
      context.stroke();
    }
  }

  #crop(context: CanvasRenderingContext2D, hold: Hold): void {
    const { view } = this.#shown;
    const at = view.on(hold.box);
    context.beginPath();
    context.rect(0, 0, view.size.width, view.size.height);
    context.rect(at.x, at.y, hold.box.width * view.zoom, hold.box.height * view.zoom);
    context.fillStyle = '#00000080';
    context.fill('evenodd');
    this.#hold(context, hold);
  }

  #band(context: CanvasRenderingContext2D, band: Box): void {
    this.#line(context, cornersOf(band));
    context.fillStyle = `${ACCENT}1a`;
    context.fill();
    context.strokeStyle = ACCENT;
    context.lineWidth = 1;
    context.stroke();
  }

  #guide(context: CanvasRenderingContext2D, { axis, at, from, to }: Guide): void {
    this.#line(
      context,
      [from, to].map((along): Point => (axis === 'x' ? [at, along] : [along, at])),
      false,
    );
    context.strokeStyle = GUIDE;
    context.lineWidth = 1;
    context.stroke();
  }
}
