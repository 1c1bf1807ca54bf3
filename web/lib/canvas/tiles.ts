import type { Box } from '#shared/canvas/geometry.ts';

/** Pixels to a side. */
const SIDE = 256;
/** Pixels by which a tile lies under its neighbours, so that no gaps show when they are scaled. */
const LAP = 1;

interface Tile extends Box {
  /** Context of its element, created when it is first shown: creating all of them takes longer than a frame. */
  shown?: ImageBitmapRenderingContext;
}

/**
 * Pixels to paint on, shown in tiles. Browsers without a GPU copy a paintable canvas in each frame, but a tile only when its content
 * changes.
 */
export class Tiles {
  readonly element = document.createElement('div');
  readonly width: number;
  readonly height: number;
  /** Of all pixels. What is painted is seen once it is shown. */
  readonly context: OffscreenCanvasRenderingContext2D;
  readonly #tiles: Tile[] = [];
  readonly #copy = contextOf(SIDE + LAP, SIDE + LAP);
  readonly #stale: Set<Tile>;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.context = contextOf(width, height);
    for (let y = 0; y < height; y += SIDE)
      for (let x = 0; x < width; x += SIDE) this.#tiles.push({ x, y, width: SIDE + LAP, height: SIDE + LAP });
    this.#stale = new Set(this.#tiles);
  }

  /** Nothing is painted on it any longer. */
  clear(): void {
    this.context.reset();
    for (const tile of this.#tiles) this.#stale.add(tile);
  }

  /** Something has been painted there. */
  touch({ x, y, width, height }: Box): void {
    const isTouched = (tile: Tile): boolean =>
      tile.x < x + width && x < tile.x + tile.width && tile.y < y + height && y < tile.y + tile.height;
    for (const tile of this.#tiles) if (isTouched(tile)) this.#stale.add(tile);
  }

  /** Shows what has been painted, until a time of `performance.now()`; whether all of it is shown. */
  show(until = Infinity): boolean {
    for (const tile of this.#stale) {
      if (performance.now() > until) return false;
      this.#present(tile);
      this.#stale.delete(tile);
    }
    return true;
  }

  #present(tile: Tile): void {
    this.#copy.drawImage(this.context.canvas, -tile.x, -tile.y);
    tile.shown ??= this.#shown(tile);
    tile.shown.transferFromImageBitmap(this.#copy.canvas.transferToImageBitmap());
  }

  #shown({ x, y, width, height }: Box): ImageBitmapRenderingContext {
    const element = document.createElement('canvas');
    Object.assign(element, { width, height });
    element.style.left = part(x, this.width);
    element.style.top = part(y, this.height);
    element.style.width = part(width, this.width);
    element.style.height = part(height, this.height);
    this.element.append(element);
    const shown = element.getContext('bitmaprenderer');
    if (!shown) throw new Error('This browser does not support ImageBitmapRenderingContext');
    return shown;
  }
}

/** A length as a part of another, for CSS. */
export const part = (length: number, of: number): string => `${(100 * length) / of}%`;

function contextOf(width: number, height: number): OffscreenCanvasRenderingContext2D {
  const context = new OffscreenCanvas(width, height).getContext('2d');
  if (!context) throw new Error('This browser does not support OffscreenCanvas');
  return context;
}
