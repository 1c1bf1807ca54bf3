import { FabricObject, type Point } from 'fabric/es';
import type { FieldValues } from '#shared/canvas/change.ts';
import type { Shape } from '#shared/canvas/shape-fields.ts';
import { type Box, fitShape, isHit, getRotation } from '#shared/canvas/geometry.ts';
import type { DecodedImages } from '../paint/decode-images.ts';
import { measureText } from '../paint/measure-text.ts';
import { type ShapeLook, getShapeLook } from '../paint/shape-look.ts';
import { paintCentered, paintShape } from '../paint/paint-picture.ts';
import type { Paintable } from './pixel-layer.ts';
import type { CachedCanvas } from './cached-canvas.ts';

/** Margin around a shape, in pixels of the screen, in which it is still hit. */
const HIT_MARGIN_PX = 6;

/** A shape as a Fabric object: Fabric handles its position and handles; the painting is shared with all other renderers. */
export class ShapeObject extends FabricObject implements Paintable {
  declare canvas?: CachedCanvas;
  readonly #images: () => DecodedImages;
  shape: Shape;
  #style: ShapeLook;
  /** Painted area, in the drawing's coordinates. */
  area: Box = { x: 0, y: 0, width: 0, height: 0 };

  constructor(shape: Shape, images: () => DecodedImages) {
    super({ objectCaching: false, strokeWidth: 0, originX: 'center', originY: 'center' });
    this.#images = images;
    this.shape = shape;
    this.#style = getShapeLook(shape);
    this.setShape(shape);
  }

  /** Applies a changed shape of the drawing. */
  setShape(shape: Shape): void {
    this.canvas?.damage(this.area);
    this.canvas?.addWeight(-this.weight);
    this.shape = shape;
    this.#style = getShapeLook(shape);
    this.area = this.#style.bounds;
    const { x, y, width, height } = this.#style.frame;
    const isRotatable = 'rotation' in shape;
    this.set({
      left: x + width / 2,
      top: y + height / 2,
      width,
      height,
      scaleX: 1,
      scaleY: 1,
      flipX: false,
      flipY: false,
      angle: getRotation(shape),
      visible: !shape.hidden,
      evented: !shape.locked && !shape.hidden,
      lockRotation: !isRotatable,
    });
    this.setControlVisible('mtr', isRotatable);
    this.setCoords();
    this.canvas?.addWeight(this.weight);
    this.canvas?.damage(this.area);
  }

  get readsBelow(): boolean {
    return this.shape.kind === 'blur';
  }

  /** Approximate paint cost: the steps of its paths, plus a constant for each mark. */
  get weight(): number {
    return this.#style.marks.reduce((sum, mark) => sum + (mark.type === 'path' ? mark.elements.length : 20) + 4, 0);
  }

  /** Reports its current position under the handles to the canvas. */
  reportArea(): void {
    const { frame, bounds } = this.#style;
    if (!this.#isTransformed && this.area === bounds) return;
    this.canvas?.damage(this.area);
    // A square that contains the shape at any rotation about its centre.
    const [cx, cy] = [frame.x + frame.width / 2, frame.y + frame.height / 2];
    const farX = Math.max(cx - bounds.x, bounds.x + bounds.width - cx);
    const farY = Math.max(cy - bounds.y, bounds.y + bounds.height - cy);
    const reach = Math.hypot(farX, farY) * Math.max(Math.abs(this.scaleX), Math.abs(this.scaleY));
    const { x, y } = this.getCenterPoint();
    this.area = this.#isTransformed ? { x: x - reach, y: y - reach, width: 2 * reach, height: 2 * reach } : bounds;
    this.canvas?.damage(this.area);
  }

  /** Whether its handles have changed it relative to the drawing. */
  get #isTransformed(): boolean {
    const { x, y, width, height } = this.#style.frame;
    const isMoved = this.left !== x + width / 2 || this.top !== y + height / 2 || this.angle !== getRotation(this.shape);
    return isMoved || this.scaleX !== 1 || this.scaleY !== 1 || this.flipX || this.flipY;
  }

  /** Fields of the shape after the transformation by Fabric's handles. */
  toFields(): FieldValues {
    const { x, y } = this.getCenterPoint();
    const [sx, sy] = [this.scaleX * (this.flipX ? -1 : 1), this.scaleY * (this.flipY ? -1 : 1)];
    const [width, height] = [this.width * sx, this.height * sy];
    const to = { x: x - width / 2, y: y - height / 2, width, height };
    const from = this.#style.frame;
    const rotation = 'rotation' in this.shape ? { rotation: this.angle % 360 } : {};
    return {
      ...fitShape(this.shape, from, { ...to, width: from.width === 0 ? 0 : width, height: from.height === 0 ? 0 : height }),
      ...rotation,
    };
  }

  override render(context: CanvasRenderingContext2D): void {
    if (this.#isTransformed) super.render(context);
    else if (!this.shape.hidden) paintShape(context, this.shape, this.#images());
  }

  override _render(context: CanvasRenderingContext2D): void {
    paintCentered(context, this.shape, this.#images());
  }

  /** Hit-tests the painted pixels, not the box: a line is hit only on the line. */
  override containsPoint({ x, y }: Point): boolean {
    return isHit(this.shape, [x, y], HIT_MARGIN_PX / (this.canvas?.getZoom() ?? 1), measureText);
  }

  /** Always true: Fabric asks only for the active object, and the canvas culls all others. */
  override isOnScreen(): boolean {
    return true;
  }
}
