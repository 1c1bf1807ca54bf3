import { Canvas, type FabricObject } from 'fabric/es';
import type { Box } from '#shared/canvas/geometry.ts';
import { Layer } from './layer.ts';
import { LayerPane } from './layer-pane.ts';
import { ShapeObject } from './shape-object.ts';
import type { Tiles } from './tiles.ts';

/** Paint cost (sum of `ShapeObject.weight`) from which a drawing is cached as pixels instead of being repainted in each frame. */
const HEAVY = 3000;
/** Milliseconds of a frame that painting ahead may take. */
const SLICE_MS = 1;
/** If less than this part of the margin is left, the next area is painted ahead. */
const SPARE = 0.5;

/**
 * Fabric's canvas with a pixel cache for many shapes: a frame then paints the changes and moves the rest. If the view leaves the cached
 * area or its scale changes, the cache is repainted in slices, and the old pixels show until then.
 */
export class PaintedCanvas extends Canvas {
  #weight = 0;
  #front: Layer | undefined;
  #next: Layer | undefined;
  /** Tiles that the next layer may reuse. */
  #spare: Tiles | undefined;
  #color: unknown;
  #hadControls = false;
  #pane: LayerPane | undefined;

  /** Something has changed there, in the drawing's coordinates. */
  damage(box: Box): void {
    this.#front?.damage(box);
    this.#next?.damage(box);
  }

  /** Something has changed everywhere, such as the sheet. */
  damageAll(): void {
    this.#front = this.#next = undefined;
  }

  /** There is more to paint, or less. */
  weigh(more: number): void {
    this.#weight += more;
  }

  override _onObjectAdded(object: FabricObject): void {
    super._onObjectAdded(object);
    if (!(object instanceof ShapeObject)) return;
    this.weigh(object.weight);
    const isOnTop = this._objects.at(-1) === object;
    for (const layer of [this.#front, this.#next]) {
      if (isOnTop) layer?.addOnTop(object);
      else layer?.damage(object.area);
    }
  }

  override _onObjectRemoved(object: FabricObject): void {
    if (object instanceof ShapeObject) {
      this.weigh(-object.weight);
      this.damage(object.area);
    }
    super._onObjectRemoved(object);
  }

  override renderCanvas(context: CanvasRenderingContext2D, objects: FabricObject[]): void {
    // Fabric's own method finishes a disposed canvas when no render is pending.
    if (this.disposed) return super.renderCanvas(context, []);
    if (this.#weight < HEAVY) {
      this.#keepNothing();
      return super.renderCanvas(context, objects);
    }
    this.calcViewportBoundaries();
    if (!this.#pane || this.#hadControls) this.clearContext(context);
    this.#hadControls = this.getActiveObject() !== undefined;
    if (this.#hadControls) this.drawControls(context);
    this.lowerCanvasEl.style.visibility = this.#hadControls ? '' : 'hidden';
    const front = this.#painted(objects.filter((object) => object instanceof ShapeObject));
    this.#pane ??= new LayerPane(this.wrapperEl);
    this.#pane.show(this, front, (beside) => this.#ground(beside));
    this.fire('after:render', { ctx: context });
    if (this.#next) this.requestRenderAll();
  }

  override destroy(): void {
    this.#keepNothing();
    super.destroy();
  }

  #keepNothing(): void {
    this.damageAll();
    this.#pane?.remove();
    this.lowerCanvasEl.style.visibility = '';
    this.#pane = undefined;
  }

  /** The layer closest to the current view, up to date. */
  #painted(shapes: readonly ShapeObject[]): Layer {
    if (this.#color !== this.backgroundColor || !this.#front?.fits(this)) this.damageAll();
    this.#color = this.backgroundColor;
    const active = this.getActiveObject();
    // While a shape is dragged, its position is that of its handles.
    if (active instanceof ShapeObject) active.follow();
    let front = this.#front;
    if (front) front.repair(this, shapes);
    else {
      front = this.#layer(shapes);
      front.paint(Infinity);
    }
    const until = performance.now() + SLICE_MS;
    if (!front.suits(this) || !front.covers(this, SPARE)) this.#next ??= this.#layer(shapes);
    if (this.#next?.paint(until)) {
      this.#spare = front.tiles;
      front = this.#next;
      front.repair(this, shapes);
      this.#next = front.suits(this) ? undefined : this.#layer(shapes);
    }
    return (this.#front = front);
  }

  #layer(shapes: readonly ShapeObject[]): Layer {
    const spare = this.#spare;
    this.#spare = undefined;
    return new Layer(this, shapes, (context) => this.#ground(context), spare);
  }

  /** The background fills whatever is seen. */
  #ground(context: CanvasRenderingContext2D): void {
    if (typeof this.backgroundColor === 'string' && this.backgroundColor !== '') {
      context.save();
      context.resetTransform();
      context.fillStyle = this.backgroundColor;
      context.fillRect(0, 0, context.canvas.width, context.canvas.height);
      context.restore();
    }
    this.fire('before:render', { ctx: context });
  }
}
