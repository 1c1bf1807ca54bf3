import type { Canvas, TMat2D } from 'fabric/es';
import { type Box, overlap } from '#shared/canvas/geometry.ts';
import { part, Tiles } from './tiles.ts';

/** Margin around the view, in CSS pixels: how far the view can move over painted pixels. */
const MARGIN = 256;
/** More places than these that have changed are taken for one. */
const PLACES = 8;
/** So many shapes are painted between two looks at the clock. */
const BETWEEN_LOOKS = 16;

/** How a drawing is seen. */
export type View = Pick<Canvas, 'width' | 'height' | 'viewportTransform' | 'getRetinaScaling'>;

/** Something that can be painted. */
export interface Paintable {
  /** All that it paints, in the drawing's coordinates. */
  readonly area: Box;
  /** Whether it repaints everything below it. */
  readonly readsBelow: boolean;
  render(context: CanvasRenderingContext2D): void;
}

/** A drawing's pixels for one view, and somewhat around it. */
export class Layer {
  readonly tiles: Tiles;
  readonly #view: TMat2D;
  readonly #ratio: number;
  readonly #margin: number;
  readonly #size: { readonly width: number; readonly height: number };
  readonly #context: CanvasRenderingContext2D;
  readonly #background: (context: CanvasRenderingContext2D) => void;
  #left: Paintable[];
  #damage: Box[] = [];
  #onTop: Paintable[] = [];

  /**
   * `background` paints below all shapes, with the view's current origin as the context's origin. `shapes` are ordered from lowest to
   * highest. `spare` are tiles that are no longer shown.
   */
  constructor(view: View, shapes: readonly Paintable[], background: (context: CanvasRenderingContext2D) => void, spare?: Tiles) {
    this.#view = [...view.viewportTransform];
    this.#ratio = view.getRetinaScaling();
    this.#margin = Math.round(MARGIN * this.#ratio);
    this.#size = { width: view.width, height: view.height };
    this.#background = background;
    const [width, height] = [view.width, view.height].map((length) => Math.ceil(length * this.#ratio) + 2 * this.#margin) as [
      number,
      number,
    ];
    if (spare?.width === width && spare.height === height) {
      this.tiles = spare;
      spare.clear();
    } else this.tiles = new Tiles(width, height);
    // Fabric only types contexts of elements; it calls the same methods on this one.
    this.#context = this.tiles.context as unknown as CanvasRenderingContext2D;
    this.#ground(view, this.#all);
    const seen = this.#place(this.#all);
    this.#left = shapes.filter(({ area }) => touches(area, seen)).reverse();
  }

  get #all(): Box {
    const { width, height } = this.tiles;
    return { x: 0, y: 0, width, height };
  }

  /** Something has changed there. */
  damage(box: Box): void {
    this.#damage.push(box);
  }

  /** Something has come that lies above all else. */
  addOnTop(shape: Paintable): void {
    this.#onTop.push(shape);
  }

  /** Whether it was made for a view of that size. */
  fits(view: View): boolean {
    return view.width === this.#size.width && view.height === this.#size.height && view.getRetinaScaling() === this.#ratio;
  }

  /** Whether it has all that is seen, and `spare` of its margin, 0 to 1, around that. */
  covers(view: View, spare = 0): boolean {
    const { scale, x, y } = this.#at(view);
    const { width, height } = this.tiles;
    const around = spare * this.#margin;
    const reaches = (from: number, length: number, seen: number): boolean =>
      from <= -around && from + scale * length >= seen * this.#ratio + around;
    return reaches(x, width, view.width) && reaches(y, height, view.height);
  }

  /** Whether its pixels lie on those of the screen, and are all that is seen. Smooth edges may be rounded otherwise there. */
  suits(view: View): boolean {
    const { scale, x, y } = this.#at(view);
    return scale === 1 && isWhole(x) && isWhole(y) && this.covers(view);
  }

  /** Moves and scales its element to match the view. */
  place(view: View): void {
    const { scale, x, y } = this.#at(view);
    const isExact = this.suits(view);
    const { width, height, element } = this.tiles;
    const [left, top] = isExact ? [Math.round(x), Math.round(y)] : [x, y];
    element.style.width = part(width, view.width * this.#ratio);
    element.style.height = part(height, view.height * this.#ratio);
    element.style.transform = `translate(${part(left, width)}, ${part(top, height)}) scale(${scale})`;
  }

  /** Paints and shows until a time of `performance.now()`. Returns whether everything is painted. */
  paint(until: number): boolean {
    this.#scene(() => {
      for (let painted = 1; this.#left.length > 0; painted++) {
        this.#left.pop()?.render(this.#context);
        if (painted % BETWEEN_LOOKS === 0 && this.#isPast(until)) return;
      }
    });
    return this.#left.length === 0 && this.tiles.show(until);
  }

  /** Paints again what has changed. `shapes`: all there are, the lowest first. */
  repair(view: View, shapes: readonly Paintable[]): void {
    const [damage, onTop] = [this.#damage, this.#onTop];
    this.#damage = [];
    this.#onTop = [];
    if (damage.length > 0) this.#mendAll(view, [...damage, ...onTop.map(({ area }) => area)], shapes);
    else this.#scene(() => onTop.forEach((shape) => shape.render(this.#context)));
    for (const { area } of onTop) this.tiles.touch(this.#pixels(area));
    this.tiles.show();
  }

  #mendAll(view: View, boxes: readonly Box[], shapes: readonly Paintable[]): void {
    const readers = shapes.filter(({ readsBelow }) => readsBelow).map(({ area }) => this.#pixels(area));
    const places = boxes.map((box) => this.#pixels(box));
    for (const place of places.length > PLACES ? [around(places)] : places) this.#mend(view, withReaders(place, readers), shapes);
  }

  #mend(view: View, place: Box, shapes: readonly Paintable[]): void {
    const context = this.#context;
    context.save();
    context.resetTransform();
    context.beginPath();
    context.rect(place.x, place.y, place.width, place.height);
    context.clip();
    context.clearRect(place.x, place.y, place.width, place.height);
    this.#ground(view, place);
    const seen = this.#place(place);
    this.#scene(() => {
      for (const shape of shapes) if (touches(shape.area, seen)) shape.render(context);
    });
    context.restore();
    this.tiles.touch(place);
  }

  #ground(view: View, { x, y, width, height }: Box): void {
    const context = this.#context;
    const [scale, , , , left, top] = view.viewportTransform;
    const by = this.#view[0] / scale;
    const from = (mine: number, its: number): number => this.#ratio * (mine - by * its) + this.#margin;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.setTransform(this.#ratio * by, 0, 0, this.#ratio * by, from(this.#view[4], left), from(this.#view[5], top));
    this.#background(context);
    context.restore();
  }

  /** Runs with the drawing's coordinates. */
  #scene(run: () => void): void {
    const [a, b, c, d, e, f] = this.#view.map((value) => value * this.#ratio) as TMat2D;
    this.#context.save();
    this.#context.setTransform(a, b, c, d, e + this.#margin, f + this.#margin);
    run();
    this.#context.restore();
  }

  /** The pixels of this layer that a box of the drawing touches, and their neighbours. */
  #pixels({ x, y, width, height }: Box): Box {
    const by = this.#view[0] * this.#ratio;
    const [left, top] = [x * by + this.#view[4] * this.#ratio + this.#margin, y * by + this.#view[5] * this.#ratio + this.#margin];
    const [fromX, fromY] = [Math.floor(left) - 2, Math.floor(top) - 2];
    return { x: fromX, y: fromY, width: Math.ceil(left + width * by) + 2 - fromX, height: Math.ceil(top + height * by) + 2 - fromY };
  }

  /** Converts a box of pixels to a box of the drawing, including shapes that are thin or close enough to colour these pixels. */
  #place({ x, y, width, height }: Box): Box {
    const by = this.#view[0] * this.#ratio;
    const near = 2 / by;
    return {
      x: (x - this.#margin) / by - this.#view[4] / this.#view[0] - near,
      y: (y - this.#margin) / by - this.#view[5] / this.#view[0] - near,
      width: width / by + 2 * near,
      height: height / by + 2 * near,
    };
  }

  /** Position of its left upper corner on the screen, in pixels, and its scale there. */
  #at({ viewportTransform: [scale, , , , x, y] }: View): { scale: number; x: number; y: number } {
    const by = scale / this.#view[0];
    return {
      scale: by,
      x: (x - by * this.#view[4]) * this.#ratio - by * this.#margin,
      y: (y - by * this.#view[5]) * this.#ratio - by * this.#margin,
    };
  }

  /** Browsers record paint calls and execute them when pixels are read: that counts as paint time. */
  #isPast(until: number): boolean {
    if (until === Infinity) return false;
    this.#context.getImageData(0, 0, 1, 1);
    return performance.now() > until;
  }
}

/** Like `overlap`, but boxes without width touch too. */
const touches = (a: Box, b: Box): boolean => a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;

const isWhole = (value: number): boolean => Math.abs(value - Math.round(value)) < 0.001;

function around(boxes: readonly Box[]): Box {
  const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  return { x, y, width: right - x, height: Math.max(...boxes.map((box) => box.y + box.height)) - y };
}

/** With all of what would read pixels that are half old, half new. */
function withReaders(place: Box, readers: readonly Box[]): Box {
  const all = around([place, ...readers.filter((reader) => overlap(reader, place))]);
  return all.width > place.width || all.height > place.height ? withReaders(all, readers) : all;
}
