import type { Canvas, TMat2D } from 'fabric/es';
import { type Box, isOverlapping } from '#shared/canvas/geometry.ts';
import { toPercent, PixelTiles } from './pixel-tiles.ts';

/** Margin around the view, in CSS pixels: how far the view can move over painted pixels. */
const MARGIN_PX = 256;
/** Maximum number of changed boxes; more are merged into one. */
const MAX_DAMAGE_BOXES = 8;
/** Number of shapes painted between two checks of the clock. */
const SHAPES_PER_CLOCK_CHECK = 16;

/** View of a drawing. */
export type LayerView = Pick<Canvas, 'width' | 'height' | 'viewportTransform' | 'getRetinaScaling'>;

/** Something that can be painted. */
export interface Paintable {
  /** Painted area, in the drawing's coordinates. */
  readonly area: Box;
  /** Whether it repaints everything below it. */
  readonly readsBelow: boolean;
  render(context: CanvasRenderingContext2D): void;
}

/** The pixels of a drawing for one view and a margin around it. */
export class PixelLayer {
  readonly tiles: PixelTiles;
  readonly #view: TMat2D;
  readonly #ratio: number;
  readonly #margin: number;
  readonly #size: { readonly width: number; readonly height: number };
  readonly #context: CanvasRenderingContext2D;
  readonly #background: (context: CanvasRenderingContext2D) => void;
  #remaining: Paintable[];
  #damage: Box[] = [];
  #addedOnTop: Paintable[] = [];

  /**
   * `background` paints below all shapes, with the view's current origin as the context's origin. `shapes` are ordered from lowest to
   * highest. `spare` are tiles that are no longer shown.
   */
  constructor(view: LayerView, shapes: readonly Paintable[], background: (context: CanvasRenderingContext2D) => void, spare?: PixelTiles) {
    this.#view = [...view.viewportTransform];
    this.#ratio = view.getRetinaScaling();
    this.#margin = Math.round(MARGIN_PX * this.#ratio);
    this.#size = { width: view.width, height: view.height };
    this.#background = background;
    const [width, height] = [view.width, view.height].map((length) => Math.ceil(length * this.#ratio) + 2 * this.#margin) as [
      number,
      number,
    ];
    if (spare?.width === width && spare.height === height) {
      this.tiles = spare;
      spare.clear();
    } else this.tiles = new PixelTiles(width, height);
    // Fabric only types contexts of elements; it calls the same methods on this one.
    this.#context = this.tiles.context as unknown as CanvasRenderingContext2D;
    this.#paintBackground(view, this.#bounds);
    const visibleBox = this.#toDrawingBox(this.#bounds);
    this.#remaining = shapes.filter(({ area }) => isTouching(area, visibleBox)).reverse();
  }

  get #bounds(): Box {
    const { width, height } = this.tiles;
    return { x: 0, y: 0, width, height };
  }

  /** Marks an area as changed. */
  damage(box: Box): void {
    this.#damage.push(box);
  }

  /** Adds a shape above all others. */
  addOnTop(shape: Paintable): void {
    this.#addedOnTop.push(shape);
  }

  /** Whether the layer was created for a view of this size. */
  isSameSize(view: LayerView): boolean {
    return view.width === this.#size.width && view.height === this.#size.height && view.getRetinaScaling() === this.#ratio;
  }

  /** Whether the layer covers the view, with `spare` of its margin, 0 to 1, around it. */
  isCovering(view: LayerView, spare = 0): boolean {
    const { scale, x, y } = this.#getOffset(view);
    const { width, height } = this.tiles;
    const sparePx = spare * this.#margin;
    const covers = (from: number, length: number, visible: number): boolean =>
      from <= -sparePx && from + scale * length >= visible * this.#ratio + sparePx;
    return covers(x, width, view.width) && covers(y, height, view.height);
  }

  /** Whether the layer covers the view and its pixels match those of the screen. Smooth edges may be rounded differently. */
  isAligned(view: LayerView): boolean {
    const { scale, x, y } = this.#getOffset(view);
    return scale === 1 && isInteger(x) && isInteger(y) && this.isCovering(view);
  }

  /** Moves and scales its element to match the view. */
  position(view: LayerView): void {
    const { scale, x, y } = this.#getOffset(view);
    const isExact = this.isAligned(view);
    const { width, height, element } = this.tiles;
    const [left, top] = isExact ? [Math.round(x), Math.round(y)] : [x, y];
    element.style.width = toPercent(width, view.width * this.#ratio);
    element.style.height = toPercent(height, view.height * this.#ratio);
    element.style.transform = `translate(${toPercent(left, width)}, ${toPercent(top, height)}) scale(${scale})`;
  }

  /** Paints and shows until a time of `performance.now()`. Returns whether everything is painted. */
  paint(until: number): boolean {
    this.#inDrawingSpace(() => {
      for (let painted = 1; this.#remaining.length > 0; painted++) {
        this.#remaining.pop()?.render(this.#context);
        if (painted % SHAPES_PER_CLOCK_CHECK === 0 && this.#isPast(until)) return;
      }
    });
    return this.#remaining.length === 0 && this.tiles.present(until);
  }

  /** Repaints changed areas. `shapes`: all shapes, the lowest first. */
  repair(view: LayerView, shapes: readonly Paintable[]): void {
    const [damage, onTop] = [this.#damage, this.#addedOnTop];
    this.#damage = [];
    this.#addedOnTop = [];
    if (damage.length > 0) this.#repairAll(view, [...damage, ...onTop.map(({ area }) => area)], shapes);
    else this.#inDrawingSpace(() => onTop.forEach((shape) => shape.render(this.#context)));
    for (const { area } of onTop) this.tiles.markStale(this.#toPixels(area));
    this.tiles.present();
  }

  #repairAll(view: LayerView, boxes: readonly Box[], shapes: readonly Paintable[]): void {
    const readers = shapes.filter(({ readsBelow }) => readsBelow).map(({ area }) => this.#toPixels(area));
    const pixelBoxes = boxes.map((box) => this.#toPixels(box));
    for (const pixelBox of pixelBoxes.length > MAX_DAMAGE_BOXES ? [getBounds(pixelBoxes)] : pixelBoxes)
      this.#repairBox(view, expandToReaders(pixelBox, readers), shapes);
  }

  #repairBox(view: LayerView, pixelBox: Box, shapes: readonly Paintable[]): void {
    const context = this.#context;
    context.save();
    context.resetTransform();
    context.beginPath();
    context.rect(pixelBox.x, pixelBox.y, pixelBox.width, pixelBox.height);
    context.clip();
    context.clearRect(pixelBox.x, pixelBox.y, pixelBox.width, pixelBox.height);
    this.#paintBackground(view, pixelBox);
    const visibleBox = this.#toDrawingBox(pixelBox);
    this.#inDrawingSpace(() => {
      for (const shape of shapes) if (isTouching(shape.area, visibleBox)) shape.render(context);
    });
    context.restore();
    this.tiles.markStale(pixelBox);
  }

  #paintBackground(view: LayerView, { x, y, width, height }: Box): void {
    const context = this.#context;
    const [scale, , , , left, top] = view.viewportTransform;
    const by = this.#view[0] / scale;
    const getOrigin = (ownOffset: number, viewOffset: number): number => this.#ratio * (ownOffset - by * viewOffset) + this.#margin;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.setTransform(this.#ratio * by, 0, 0, this.#ratio * by, getOrigin(this.#view[4], left), getOrigin(this.#view[5], top));
    this.#background(context);
    context.restore();
  }

  /** Runs with the context in the drawing's coordinates. */
  #inDrawingSpace(run: () => void): void {
    const [a, b, c, d, e, f] = this.#view.map((value) => value * this.#ratio) as TMat2D;
    this.#context.save();
    this.#context.setTransform(a, b, c, d, e + this.#margin, f + this.#margin);
    run();
    this.#context.restore();
  }

  /** The pixels of this layer that a box of the drawing touches, and their neighbours. */
  #toPixels({ x, y, width, height }: Box): Box {
    const by = this.#view[0] * this.#ratio;
    const [left, top] = [x * by + this.#view[4] * this.#ratio + this.#margin, y * by + this.#view[5] * this.#ratio + this.#margin];
    const [fromX, fromY] = [Math.floor(left) - 2, Math.floor(top) - 2];
    return { x: fromX, y: fromY, width: Math.ceil(left + width * by) + 2 - fromX, height: Math.ceil(top + height * by) + 2 - fromY };
  }

  /** Converts a box of pixels to a box of the drawing, including shapes that are thin or close enough to colour these pixels. */
  #toDrawingBox({ x, y, width, height }: Box): Box {
    const by = this.#view[0] * this.#ratio;
    const marginLength = 2 / by;
    return {
      x: (x - this.#margin) / by - this.#view[4] / this.#view[0] - marginLength,
      y: (y - this.#margin) / by - this.#view[5] / this.#view[0] - marginLength,
      width: width / by + 2 * marginLength,
      height: height / by + 2 * marginLength,
    };
  }

  /** Position of the left upper corner of the layer on the screen, in pixels, and its scale. */
  #getOffset({ viewportTransform: [scale, , , , x, y] }: LayerView): { scale: number; x: number; y: number } {
    const by = scale / this.#view[0];
    return {
      scale: by,
      x: (x - by * this.#view[4]) * this.#ratio - by * this.#margin,
      y: (y - by * this.#view[5]) * this.#ratio - by * this.#margin,
    };
  }

  /** Whether the time has passed. Reads a pixel first, as browsers execute recorded paint calls only then. */
  #isPast(until: number): boolean {
    if (until === Infinity) return false;
    this.#context.getImageData(0, 0, 1, 1);
    return performance.now() > until;
  }
}

/** Like `isOverlapping`, but boxes without width touch too. */
const isTouching = (a: Box, b: Box): boolean =>
  a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;

const isInteger = (value: number): boolean => Math.abs(value - Math.round(value)) < 0.001;

function getBounds(boxes: readonly Box[]): Box {
  const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  return { x, y, width: right - x, height: Math.max(...boxes.map((box) => box.y + box.height)) - y };
}

/** Expands a box to shapes that would otherwise read pixels that are only partly repainted. */
function expandToReaders(pixelBox: Box, readers: readonly Box[]): Box {
  const expanded = getBounds([pixelBox, ...readers.filter((reader) => isOverlapping(reader, pixelBox))]);
  return expanded.width > pixelBox.width || expanded.height > pixelBox.height ? expandToReaders(expanded, readers) : expanded;
}
