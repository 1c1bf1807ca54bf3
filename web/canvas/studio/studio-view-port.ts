import type { StaticCanvas } from 'fabric/es';
import type { Page } from '#shared/canvas/shape-fields.ts';
import type { Box } from '#shared/canvas/geometry.ts';
import type { CoordinateMap, CanvasPoint } from '../coordinate-map.ts';

/** Range of the zoom, 5 % to 4000 %, and the factor of a step. */
export const ZOOM_RANGE = { least: 0.05, most: 40, step: 1.25 } as const;
/** Margins around the fitted sheet, in CSS pixels. */
export interface FitMargins {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
}
const DEFAULT_MARGINS: FitMargins = { top: 24, right: 24, bottom: 24, left: 24 };

/** The visible part of a drawing and its zoom. */
export class StudioViewport implements CoordinateMap {
  readonly #fabric: StaticCanvas;
  readonly #element: HTMLElement;
  readonly #page: () => Page;
  readonly #onChange: () => void;
  #zoom = 1;
  /** The drawing's origin in CSS pixels from the element's left upper corner. */
  #origin: CanvasPoint = { x: 0, y: 0 };
  #size = { width: 0, height: 0 };
  #margins = DEFAULT_MARGINS;
  #isFitted = true;

  constructor(fabric: StaticCanvas, element: HTMLElement, page: () => Page, onChange: () => void) {
    this.#fabric = fabric;
    this.#element = element;
    this.#page = page;
    this.#onChange = onChange;
  }

  /** 1 shows a CSS pixel of the drawing as one of the page. */
  get zoom(): number {
    return this.#zoom;
  }

  get size(): { readonly width: number; readonly height: number } {
    return this.#size;
  }

  /** The visible part of the drawing. */
  get box(): Box {
    const { x, y } = this.toDrawingPoint({ x: 0, y: 0 });
    return { x, y, width: this.#size.width / this.#zoom, height: this.#size.height / this.#zoom };
  }

  /** The middle of the visible part of the drawing. */
  get center(): CanvasPoint {
    return this.toDrawingPoint({ x: this.#size.width / 2, y: this.#size.height / 2 });
  }

  /** Applies a new size of the element. The sheet stays fitted until the view is zoomed or panned. */
  resize(width: number, height: number): void {
    if (width === this.#size.width && height === this.#size.height) return;
    this.#size = { width, height };
    this.#fabric.setDimensions({ width, height });
    if (this.#isFitted) this.fit();
    else this.#applyTransform();
  }

  /** Keeps margins free when the sheet is fitted. */
  setMargins(margins: FitMargins): void {
    this.#margins = margins;
    if (this.#isFitted) this.fit();
  }

  /** Shows the whole sheet centred between the margins, without enlarging it. */
  fit(): void {
    const { x, y, width, height } = this.#page();
    const { top, right, bottom, left } = this.#margins;
    const room = { width: Math.max(1, this.#size.width - left - right), height: Math.max(1, this.#size.height - top - bottom) };
    this.#zoom = clampZoom(Math.min(room.width / width, room.height / height, 1));
    this.#origin = {
      x: left + room.width / 2 - (x + width / 2) * this.#zoom,
      y: top + room.height / 2 - (y + height / 2) * this.#zoom,
    };
    this.#isFitted = true;
    this.#applyTransform();
  }

  /** Zooms around `about`, in CSS pixels from the element's left upper corner (default: its middle), which stays in place. */
  zoomTo(zoom: number, about: CanvasPoint = { x: this.#size.width / 2, y: this.#size.height / 2 }): void {
    const to = clampZoom(zoom);
    const { x, y } = this.toDrawingPoint(about);
    this.#zoom = to;
    this.#origin = { x: about.x - x * to, y: about.y - y * to };
    this.#isFitted = false;
    this.#applyTransform();
  }

  /** Pans the view, in CSS pixels of the page. */
  pan(dx: number, dy: number): void {
    this.#origin = { x: this.#origin.x + dx, y: this.#origin.y + dy };
    this.#isFitted = false;
    this.#applyTransform();
  }

  /** Pans as little as needed to show a box of the drawing. */
  scrollIntoView({ x, y, width, height }: Box): void {
    const visibleBox = this.box;
    const by = (from: number, length: number, start: number, room: number): number =>
      from < start ? start - from : from + length > start + room ? Math.max(start + room - from - length, start - from) : 0;
    const [dx, dy] = [by(x, width, visibleBox.x, visibleBox.width), by(y, height, visibleBox.y, visibleBox.height)];
    if (dx !== 0 || dy !== 0) this.pan(dx * this.#zoom, dy * this.#zoom);
  }

  /** Converts a position from the element's left upper corner to one in the drawing. */
  toDrawingPoint({ x, y }: CanvasPoint): CanvasPoint {
    return { x: (x - this.#origin.x) / this.#zoom, y: (y - this.#origin.y) / this.#zoom };
  }

  /** Converts a position in the drawing to CSS pixels from the element's left upper corner. */
  toElementPoint({ x, y }: CanvasPoint): CanvasPoint {
    return { x: x * this.#zoom + this.#origin.x, y: y * this.#zoom + this.#origin.y };
  }

  /** Converts a position on the page to CSS pixels from the element's left upper corner. */
  toElementOffset(clientX: number, clientY: number): CanvasPoint {
    const { left, top } = this.#element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  toDrawing(clientX: number, clientY: number): CanvasPoint {
    return this.toDrawingPoint(this.toElementOffset(clientX, clientY));
  }

  toElement(at: CanvasPoint): { left: string; top: string } {
    const { x, y } = this.toElementPoint(at);
    return { left: `${x}px`, top: `${y}px` };
  }

  #applyTransform(): void {
    this.#fabric.setViewportTransform([this.#zoom, 0, 0, this.#zoom, this.#origin.x, this.#origin.y]);
    this.#fabric.requestRenderAll();
    this.#onChange();
  }
}

const clampZoom = (zoom: number): number => Math.min(ZOOM_RANGE.most, Math.max(ZOOM_RANGE.least, zoom));
