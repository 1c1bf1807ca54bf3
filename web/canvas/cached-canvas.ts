import { Canvas, type FabricObject } from 'fabric/es';
import type { Box } from '#shared/canvas/geometry.ts';
import { PixelLayer } from './pixel-layer.ts';
import { LayerPane } from './layer-pane.ts';
import { ShapeObject } from './shape-object.ts';
import type { PixelTiles } from './pixel-tiles.ts';

/** Paint cost (sum of `ShapeObject.weight`) from which a drawing is cached as pixels instead of being repainted in each frame. */
const MIN_CACHED_WEIGHT = 3000;
/** Milliseconds of a frame that painting ahead may take. */
const SLICE_MS = 1;
/** If less than this part of the margin is left, the next area is painted ahead. */
const MIN_SPARE_SHARE = 0.5;

/**
 * Fabric's canvas with a pixel cache for many shapes: a frame then paints the changes and moves the rest. If the view leaves the cached
 * area or its scale changes, the cache is repainted in slices, and the old pixels show until then.
 */
export class CachedCanvas extends Canvas {
  #weight = 0;
  #frontLayer: PixelLayer | undefined;
  #nextLayer: PixelLayer | undefined;
  /** Tiles that the next layer may reuse. */
  #spareTiles: PixelTiles | undefined;
  #color: unknown;
  #hadControls = false;
  #pane: LayerPane | undefined;

  /** Marks an area as changed, in the drawing's coordinates. */
  damage(box: Box): void {
    this.#frontLayer?.damage(box);
    this.#nextLayer?.damage(box);
  }

  /** Marks everything as changed, for example after a change of the sheet. */
  damageAll(): void {
    this.#frontLayer = this.#nextLayer = undefined;
  }

  /** Adds to the paint cost; negative values reduce it. */
  addWeight(weight: number): void {
    this.#weight += weight;
  }

  override _onObjectAdded(object: FabricObject): void {
    super._onObjectAdded(object);
    if (!(object instanceof ShapeObject)) return;
    this.addWeight(object.weight);
    const isOnTop = this._objects.at(-1) === object;
    for (const layer of [this.#frontLayer, this.#nextLayer]) {
      if (isOnTop) layer?.addOnTop(object);
      else layer?.damage(object.area);
    }
  }

  override _onObjectRemoved(object: FabricObject): void {
    if (object instanceof ShapeObject) {
      this.addWeight(-object.weight);
      this.damage(object.area);
    }
    super._onObjectRemoved(object);
  }

  override renderCanvas(context: CanvasRenderingContext2D, objects: FabricObject[]): void {
    // Fabric's own method finishes a disposed canvas when no render is pending.
    if (this.disposed) return super.renderCanvas(context, []);
    if (this.#weight < MIN_CACHED_WEIGHT) {
      this.#discardLayers();
      return super.renderCanvas(context, objects);
    }
    this.calcViewportBoundaries();
    if (!this.#pane || this.#hadControls) this.clearContext(context);
    this.#hadControls = this.getActiveObject() !== undefined;
    if (this.#hadControls) this.drawControls(context);
    this.lowerCanvasEl.style.visibility = this.#hadControls ? '' : 'hidden';
    const front = this.#updateFrontLayer(objects.filter((object) => object instanceof ShapeObject));
    this.#pane ??= new LayerPane(this.wrapperEl);
    this.#pane.show(this, front, (paneContext) => this.#paintBackground(paneContext));
    this.fire('after:render', { ctx: context });
    if (this.#nextLayer) this.requestRenderAll();
  }

  override destroy(): void {
    this.#discardLayers();
    super.destroy();
  }

  #discardLayers(): void {
    this.damageAll();
    this.#pane?.remove();
    this.lowerCanvasEl.style.visibility = '';
    this.#pane = undefined;
  }

  /** The layer closest to the current view, up to date. */
  #updateFrontLayer(shapes: readonly ShapeObject[]): PixelLayer {
    if (this.#color !== this.backgroundColor || !this.#frontLayer?.isSameSize(this)) this.damageAll();
    this.#color = this.backgroundColor;
    const active = this.getActiveObject();
    // While a shape is dragged, its position is that of its handles.
    if (active instanceof ShapeObject) active.reportArea();
    let front = this.#frontLayer;
    if (front) front.repair(this, shapes);
    else {
      front = this.#createLayer(shapes);
      front.paint(Infinity);
    }
    const until = performance.now() + SLICE_MS;
    if (!front.isAligned(this) || !front.isCovering(this, MIN_SPARE_SHARE)) this.#nextLayer ??= this.#createLayer(shapes);
    if (this.#nextLayer?.paint(until)) {
      this.#spareTiles = front.tiles;
      front = this.#nextLayer;
      front.repair(this, shapes);
      this.#nextLayer = front.isAligned(this) ? undefined : this.#createLayer(shapes);
    }
    return (this.#frontLayer = front);
  }

  #createLayer(shapes: readonly ShapeObject[]): PixelLayer {
    const spare = this.#spareTiles;
    this.#spareTiles = undefined;
    return new PixelLayer(this, shapes, (context) => this.#paintBackground(context), spare);
  }

  /** Paints the background of the visible area. */
  #paintBackground(context: CanvasRenderingContext2D): void {
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
