import type { StaticCanvas } from 'fabric/es';
import type { Page } from '#shared/canvas/fields.ts';
import type { Box } from '#shared/canvas/geometry.ts';
import type { Ground, Place } from '../ground.ts';

/** From 5 % to 4000 %. */
export const ZOOM = { least: 0.05, most: 40, step: 1.25 } as const;
/** Around the sheet where it is fitted in, in CSS pixels. */
const MARGIN = 24;

/** The visible part of a drawing and its zoom. */
export class View implements Ground {
  readonly #fabric: StaticCanvas;
  readonly #element: HTMLElement;
  readonly #page: () => Page;
  readonly #changed: () => void;
  #zoom = 1;
  /** The drawing's origin in CSS pixels from the element's left upper corner. */
  #at: Place = { x: 0, y: 0 };
  #size = { width: 0, height: 0 };
  #fitted = true;

  constructor(fabric: StaticCanvas, element: HTMLElement, page: () => Page, changed: () => void) {
    this.#fabric = fabric;
    this.#element = element;
    this.#page = page;
    this.#changed = changed;
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
    const { x, y } = this.at({ x: 0, y: 0 });
    return { x, y, width: this.#size.width / this.#zoom, height: this.#size.height / this.#zoom };
  }

  /** Takes over another size of the element. Until somebody zooms or pans the sheet stays fitted in. */
  resize(width: number, height: number): void {
    if (width === this.#size.width && height === this.#size.height) return;
    this.#size = { width, height };
    this.#fabric.setDimensions({ width, height });
    if (this.#fitted) this.fit();
    else this.#show();
  }

  /** Shows the whole sheet, in the middle; a small one not larger than it is. */
  fit(): void {
    const { x, y, width, height } = this.#page();
    const room = { width: Math.max(1, this.#size.width - 2 * MARGIN), height: Math.max(1, this.#size.height - 2 * MARGIN) };
    this.#zoom = bounded(Math.min(room.width / width, room.height / height, 1));
    this.#at = {
      x: this.#size.width / 2 - (x + width / 2) * this.#zoom,
      y: this.#size.height / 2 - (y + height / 2) * this.#zoom,
    };
    this.#fitted = true;
    this.#show();
  }

  /** Zooms around `about`, in CSS pixels from the element's left upper corner (default: its middle), which stays in place. */
  zoomTo(zoom: number, about: Place = { x: this.#size.width / 2, y: this.#size.height / 2 }): void {
    const to = bounded(zoom);
    const { x, y } = this.at(about);
    this.#zoom = to;
    this.#at = { x: about.x - x * to, y: about.y - y * to };
    this.#fitted = false;
    this.#show();
  }

  /** Pans the view, in CSS pixels of the page. */
  pan(dx: number, dy: number): void {
    this.#at = { x: this.#at.x + dx, y: this.#at.y + dy };
    this.#fitted = false;
    this.#show();
  }

  /** Moves as little as needed for a box of the drawing to be seen. */
  reveal({ x, y, width, height }: Box): void {
    const seen = this.box;
    const by = (from: number, length: number, start: number, room: number): number =>
      from < start ? start - from : from + length > start + room ? Math.max(start + room - from - length, start - from) : 0;
    const [dx, dy] = [by(x, width, seen.x, seen.width), by(y, height, seen.y, seen.height)];
    if (dx !== 0 || dy !== 0) this.pan(dx * this.#zoom, dy * this.#zoom);
  }

  /** A place from the element's left upper corner as one of the drawing. */
  at({ x, y }: Place): Place {
    return { x: (x - this.#at.x) / this.#zoom, y: (y - this.#at.y) / this.#zoom };
  }

  /** A place of the drawing from the element's left upper corner, in CSS pixels. */
  on({ x, y }: Place): Place {
    return { x: x * this.#zoom + this.#at.x, y: y * this.#zoom + this.#at.y };
  }

  /** A place of the page from the element's left upper corner. */
  within(clientX: number, clientY: number): Place {
    const { left, top } = this.#element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  toDrawing(clientX: number, clientY: number): Place {
    return this.at(this.within(clientX, clientY));
  }

  toElement(at: Place): { left: string; top: string } {
    const { x, y } = this.on(at);
    return { left: `${x}px`, top: `${y}px` };
  }

  #show(): void {
    this.#fabric.setViewportTransform([this.#zoom, 0, 0, this.#zoom, this.#at.x, this.#at.y]);
    this.#fabric.requestRenderAll();
    this.#changed();
  }
}

const bounded = (zoom: number): number => Math.min(ZOOM.most, Math.max(ZOOM.least, zoom));
