import { Canvas, type FabricObject } from 'fabric/es';
import type { Box } from '#shared/canvas/geometry.ts';
import { Layer } from './layer.ts';
import { LayerPane } from './layer-pane.ts';
import { ShapeObject } from './shape-object.ts';
import type { Tiles } from './tiles.ts';

/** From so much to paint (`ShapeObject.weight`) on a drawing is kept as pixels, instead of being painted anew in each frame. */
const HEAVY = 3000;
/** Milliseconds of a frame that painting ahead may take. */
const SLICE_MS = 1;
/** Where less of the margin is left, what comes next is painted ahead. */
const SPARE = 0.5;

/**
 * Fabric's canvas, which with many shapes keeps what it has painted: a frame then paints what has changed, and moves the rest. Where the
 * view leaves what is there, or is scaled otherwise, that is painted anew in slices, and what there is is shown until then.
 */
export class PaintedCanvas extends Canvas {
  #weight = 0;
  #front: Layer | undefined;
  #next: Layer | undefined;
  /** What the next one may be painted on. */
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
    // Fabric's own ends what is disposed of, once nothing waits to be rendered.
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

  /** What comes nearest to the present view, and is up to date. */
  #painted(shapes: readonly ShapeObject[]): Layer {
    if (this.#color !== this.backgroundColor || !this.#front?.fits(this)) this.damageAll();
    this.#color = this.backgroundColor;
    const active = this.getActiveObject();
    // While it is dragged it is where the handles have it.
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
