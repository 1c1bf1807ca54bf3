import type { Box } from '#shared/canvas/geometry.ts';

/** Side of a tile in pixels. */
const TILE_PX = 256;
/** Overlap of neighbouring tiles in pixels, so that no gaps show when they are scaled. */
const OVERLAP_PX = 1;

interface Tile extends Box {
  /** Context of its element, created when it is first shown: creating all of them takes longer than a frame. */
  bitmapContext?: ImageBitmapRenderingContext;
}

/**
 * Pixels to paint on, shown in tiles. Browsers without a GPU copy a paintable canvas in each frame, but a tile only when its content
 * changes.
 */
export class PixelTiles {
  readonly element = document.createElement('div');
  readonly width: number;
  readonly height: number;
  /** Context to paint all pixels, which are shown by `present`. */
  readonly context: OffscreenCanvasRenderingContext2D;
  readonly #tiles: Tile[] = [];
  readonly #copyContext = createContext(TILE_PX + OVERLAP_PX, TILE_PX + OVERLAP_PX);
  readonly #staleTiles: Set<Tile>;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.context = createContext(width, height);
    for (let y = 0; y < height; y += TILE_PX)
      for (let x = 0; x < width; x += TILE_PX) this.#tiles.push({ x, y, width: TILE_PX + OVERLAP_PX, height: TILE_PX + OVERLAP_PX });
    this.#staleTiles = new Set(this.#tiles);
  }

  /** Clears all pixels. */
  clear(): void {
    this.context.reset();
    for (const tile of this.#tiles) this.#staleTiles.add(tile);
  }

  /** Marks the tiles of a painted box to be shown again. */
  markStale({ x, y, width, height }: Box): void {
    const isTouched = (tile: Tile): boolean =>
      tile.x < x + width && x < tile.x + tile.width && tile.y < y + height && y < tile.y + tile.height;
    for (const tile of this.#tiles) if (isTouched(tile)) this.#staleTiles.add(tile);
  }

  /** Shows painted pixels until a time of `performance.now()`. Returns whether all are shown. */
  present(until = Infinity): boolean {
    for (const tile of this.#staleTiles) {
      if (performance.now() > until) return false;
      this.#presentTile(tile);
      this.#staleTiles.delete(tile);
    }
    return true;
  }

  #presentTile(tile: Tile): void {
    this.#copyContext.drawImage(this.context.canvas, -tile.x, -tile.y);
    tile.bitmapContext ??= this.#getTileContext(tile);
    tile.bitmapContext.transferFromImageBitmap(this.#copyContext.canvas.transferToImageBitmap());
  }

  #getTileContext({ x, y, width, height }: Box): ImageBitmapRenderingContext {
    const element = document.createElement('canvas');
    Object.assign(element, { width, height });
    element.style.left = toPercent(x, this.width);
    element.style.top = toPercent(y, this.height);
    element.style.width = toPercent(width, this.width);
    element.style.height = toPercent(height, this.height);
    this.element.append(element);
    const tileContext = element.getContext('bitmaprenderer');
    if (!tileContext) throw new Error('This browser does not support ImageBitmapRenderingContext');
    return tileContext;
  }
}

/** Formats a length as a CSS percentage of another. */
export const toPercent = (length: number, total: number): string => `${(100 * length) / total}%`;

function createContext(width: number, height: number): OffscreenCanvasRenderingContext2D {
  const context = new OffscreenCanvas(width, height).getContext('2d');
  if (!context) throw new Error('This browser does not support OffscreenCanvas');
  return context;
}
