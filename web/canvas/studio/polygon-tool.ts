import { snapToAngle } from '#shared/canvas/constrain.ts';
import { type Shape, createShapeFields } from '#shared/canvas/shape-fields.ts';
import type { Point } from '#shared/canvas/path.ts';
import { type ToolContext, type Gesture, getHitMargin } from './tool-context.ts';
import type { GestureModifiers, PointerSample } from '../pointer-gestures.ts';

/** Polygon in progress: each press adds a corner. A press on the first or last corner closes it, and so does Enter. */
export class PolygonTool {
  #corners: Point[] = [];
  #pointer: Point | undefined;

  /** Whether a polygon is in progress. */
  get isStarted(): boolean {
    return this.#corners.length > 0;
  }

  /** Whether it has enough corners to be closed. */
  get isClosable(): boolean {
    return this.#corners.length >= 3;
  }

  begin(bench: ToolContext, first: PointerSample, modifiers: GestureModifiers): Gesture {
    const hitMargin = getHitMargin(bench, modifiers);
    const constrainPoint = ({ x, y }: PointerSample, { shift }: GestureModifiers): Point => {
      const last = this.#corners.at(-1);
      return shift && last ? snapToAngle(last, [x, y]) : [x, y];
    };
    this.#pointer = constrainPoint(first, modifiers);
    bench.gestureDisplay.draft = () => this.#createShape(bench);
    bench.requestRepaint();
    return {
      extend: (samples, newModifiers) => {
        const last = samples.at(-1);
        if (last) this.#pointer = constrainPoint(last, newModifiers);
        bench.requestRepaint();
      },
      end: () => {
        const at = this.#pointer;
        this.#pointer = undefined;
        if (!at) return;
        const isOnCorner = [this.#corners[0], this.#corners.at(-1)].some(
          (corner) => corner && Math.hypot(corner[0] - at[0], corner[1] - at[1]) <= hitMargin,
        );
        if (isOnCorner) this.close(bench);
        else {
          this.#corners.push(at);
          bench.announce(bench.texts.corner(this.#corners.length));
          bench.requestRepaint();
        }
      },
      cancel: () => this.abort(bench),
    };
  }

  /** Adds the polygon to the drawing, unless it has fewer than three corners. */
  close(bench: ToolContext): void {
    const { isClosable } = this;
    const points = this.#corners;
    this.abort(bench);
    if (!isClosable) return;
    const { color, strokeWidth, fill } = bench.drawStyle;
    bench.editor.add('polygon', { points: points.map(([x, y]): [number, number] => [x, y]), color, strokeWidth, fill });
    bench.announce(bench.texts.drawn('polygon'));
  }

  abort(bench: ToolContext): void {
    this.#corners = [];
    this.#pointer = undefined;
    bench.gestureDisplay.draft = undefined;
    bench.requestRepaint();
  }

  #createShape({ drawStyle: { color, strokeWidth } }: ToolContext): Shape {
    const points = [...this.#corners, ...(this.#pointer ? [this.#pointer] : [])];
    return {
      id: 'draft',
      ...createShapeFields('highlighter', { points: points.map(([x, y]) => [x, y]), color, strokeWidth, opacity: 1 }, 'a0'),
    };
  }
}
