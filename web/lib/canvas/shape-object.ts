import { FabricObject, type Point } from 'fabric/es';
import type { FieldValues } from '#shared/canvas/change.ts';
import type { Shape } from '#shared/canvas/fields.ts';
import { boundsOf, fitted, frameOf, isHit, overlap, rotationOf } from '#shared/canvas/geometry.ts';
import type { Images } from '../../paint/images.ts';
import { measureText } from '../../paint/measure.ts';
import { paintAbout } from '../../paint/paint.ts';

/** Around a shape, in pixels of the screen: what still hits it. */
const REACH = 6;

/** A shape as Fabric holds it: Fabric knows where it is and has the handles, what it looks like is painted as everywhere. */
export class ShapeObject extends FabricObject {
  readonly #images: () => Images;
  shape: Shape;

  constructor(shape: Shape, images: () => Images) {
    super({ objectCaching: false, strokeWidth: 0, originX: 'center', originY: 'center' });
    this.#images = images;
    this.shape = shape;
    this.show(shape);
  }

  /** Takes over what the list says of it. */
  show(shape: Shape): void {
    this.shape = shape;
    const { x, y, width, height } = frameOf(shape, measureText);
    const turns = 'rotation' in shape;
    this.set({
      left: x + width / 2,
      top: y + height / 2,
      width,
      height,
      scaleX: 1,
      scaleY: 1,
      flipX: false,
      flipY: false,
      angle: rotationOf(shape),
      visible: !shape.hidden,
      evented: !shape.locked && !shape.hidden,
      lockRotation: !turns,
    });
    this.setControlVisible('mtr', turns);
    this.setCoords();
  }

  /** The fields that make of the shape what Fabric's handles made of this. */
  moved(): FieldValues {
    const { x, y } = this.getCenterPoint();
    const [sx, sy] = [this.scaleX * (this.flipX ? -1 : 1), this.scaleY * (this.flipY ? -1 : 1)];
    const [width, height] = [this.width * sx, this.height * sy];
    const to = { x: x - width / 2, y: y - height / 2, width, height };
    const from = frameOf(this.shape, measureText);
    const rotation = 'rotation' in this.shape ? { rotation: this.angle % 360 } : {};
    return {
      ...fitted(this.shape, from, { ...to, width: from.width === 0 ? 0 : width, height: from.height === 0 ? 0 : height }),
      ...rotation,
    };
  }

  override _render(context: CanvasRenderingContext2D): void {
    paintAbout(context, this.shape, this.#images());
  }

  /** By what is painted, not by its box: a line is hit on the line. */
  override containsPoint({ x, y }: Point): boolean {
    return isHit(this.shape, [x, y], REACH / (this.canvas?.getZoom() ?? 1), measureText);
  }

  override isOnScreen(): boolean {
    const corners = this.canvas?.vptCoords;
    // While it is dragged it is where the handles have it.
    if (!corners || this.isMoving || this.canvas?.getActiveObject() === this) return true;
    const { tl, br } = corners;
    const { x, y, width, height } = boundsOf(this.shape, measureText);
    return overlap(
      { x: x - 1, y: y - 1, width: width + 2, height: height + 2 },
      { x: tl.x, y: tl.y, width: br.x - tl.x, height: br.y - tl.y },
    );
  }
}
