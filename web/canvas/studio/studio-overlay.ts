import type { Shape } from '#shared/canvas/shape-fields.ts';
import { type Box, getCorners, getFrame, getRotation, rotatePoint } from '#shared/canvas/geometry.ts';
import type { Handle, SelectionFrame } from '#shared/canvas/handles.ts';
import type { MeasureText } from '#shared/canvas/marks.ts';
import type { Point } from '#shared/canvas/path.ts';
import type { Guide } from '#shared/canvas/snap.ts';
import { hideEmpty } from '../canvas-styles.ts';
import type { StudioViewport } from './studio-view-port.ts';

/** State shown above a drawing that is not part of it. */
interface OverlayState {
  /** Returns the shape that would be drawn now; called once per frame. */
  readonly draft?: (() => Shape | undefined) | undefined;
  readonly selectedShapes: readonly Shape[];
  readonly selectionFrame: SelectionFrame | undefined;
  /** Handle that keys move. */
  readonly grippedHandle?: Handle | undefined;
  readonly guides: readonly Guide[];
  /** Selection rectangle. */
  readonly band?: Box | undefined;
  /** Crop frame of the sheet, and its handles. */
  readonly crop?: SelectionFrame | undefined;
}

interface OverlaySource {
  readonly view: StudioViewport;
  readonly measure: MeasureText;
  readonly paint: (context: CanvasRenderingContext2D, shape: Shape) => void;
  readonly getState: () => OverlayState;
  readonly getRemoteDrafts: () => Iterable<Shape>;
  /** Called in each frame with the shape being drawn; undefined when there is none any longer. */
  readonly onDraft: (shape: Shape | undefined) => void;
}

const ACCENT_COLOR = '#0b57d0';
const GUIDE_COLOR = '#d6249f';
/** Size of a handle in CSS pixels of the page. */
const HANDLE_PX = 9;

/** The canvas above the drawing, painted at most once a frame. */
export class StudioOverlay {
  readonly canvas: HTMLCanvasElement;
  readonly #source: OverlaySource;
  #frame = 0;
  #hasDraft = false;

  constructor(source: OverlaySource) {
    this.#source = source;
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
    const { view, paint, getState, getRemoteDrafts, onDraft } = this.#source;
    const context = this.canvas.getContext('2d');
    if (!context) return;
    const ratio = devicePixelRatio;
    const [width, height] = [Math.round(view.size.width * ratio), Math.round(view.size.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, view.size.width, view.size.height);
    const drafts = [...getRemoteDrafts()];
    for (const shape of drafts) paint(context, shape);
    const { draft, selectedShapes, selectionFrame, grippedHandle, guides, band, crop } = getState();
    const draftShape = draft?.();
    if (draftShape) paint(context, draftShape);
    if (draftShape || this.#hasDraft) onDraft(draftShape);
    this.#hasDraft = draftShape !== undefined;
    if (selectedShapes.length > 1) for (const shape of selectedShapes) this.#paintFrame(context, shape);
    if (selectionFrame) this.#paintSelection(context, selectionFrame, grippedHandle);
    if (crop) this.#paintCrop(context, crop);
    if (band) this.#paintBand(context, band);
    for (const guide of guides) this.#paintGuide(context, guide);
    hideEmpty(this.canvas, drafts.length + selectedShapes.length + guides.length === 0 && !draftShape && !selectionFrame && !crop && !band);
  }

  #paintLine(context: CanvasRenderingContext2D, points: readonly Point[], isClosed = true): void {
    context.beginPath();
    for (const [x, y] of points) {
      const at = this.#source.view.toElementPoint({ x, y });
      context.lineTo(at.x, at.y);
    }
    if (isClosed) context.closePath();
  }

  #paintFrame(context: CanvasRenderingContext2D, shape: Shape): void {
    const frame = getFrame(shape, this.#source.measure);
    context.strokeStyle = ACCENT_COLOR;
    context.lineWidth = 1;
    this.#paintLine(
      context,
      getCorners(frame).map((corner) => rotatePoint(corner, frame, getRotation(shape))),
    );
    context.globalAlpha = 0.5;
    context.stroke();
    context.globalAlpha = 1;
  }

  #paintSelection(context: CanvasRenderingContext2D, { box, rotation, handles }: SelectionFrame, gripped?: Handle): void {
    context.strokeStyle = ACCENT_COLOR;
    context.lineWidth = 1.5;
    const isLine = handles.some(({ name }) => name === 'start');
    if (!isLine) {
      this.#paintLine(
        context,
        getCorners(box).map((corner) => rotatePoint(corner, box, rotation)),
      );
      context.stroke();
    }
    for (const { name, at } of handles) {
      const { x, y } = this.#source.view.toElementPoint({ x: at[0], y: at[1] });
      context.beginPath();
      if (name.length > 2) context.arc(x, y, HANDLE_PX / 2 + 0.5, 0, 2 * Math.PI);
      else context.rect(x - HANDLE_PX / 2, y - HANDLE_PX / 2, HANDLE_PX, HANDLE_PX);
      context.fillStyle = name === gripped ? ACCENT_COLOR : '#ffffff';
      context.fill();
      context.stroke();
    }
  }

  #paintCrop(context: CanvasRenderingContext2D, frame: SelectionFrame): void {
    const { view } = this.#source;
    const at = view.toElementPoint(frame.box);
    context.beginPath();
    context.rect(0, 0, view.size.width, view.size.height);
    context.rect(at.x, at.y, frame.box.width * view.zoom, frame.box.height * view.zoom);
    context.fillStyle = '#00000080';
    context.fill('evenodd');
    this.#paintSelection(context, frame);
  }

  #paintBand(context: CanvasRenderingContext2D, band: Box): void {
    this.#paintLine(context, getCorners(band));
    context.fillStyle = `${ACCENT_COLOR}1a`;
    context.fill();
    context.strokeStyle = ACCENT_COLOR;
    context.lineWidth = 1;
    context.stroke();
  }

  #paintGuide(context: CanvasRenderingContext2D, { axis, at, from, to }: Guide): void {
    this.#paintLine(
      context,
      [from, to].map((along): Point => (axis === 'x' ? [at, along] : [along, at])),
      false,
    );
    context.strokeStyle = GUIDE_COLOR;
    context.lineWidth = 1;
    context.stroke();
  }
}
