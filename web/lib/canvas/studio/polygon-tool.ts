import { snapToAngle } from '#shared/canvas/constrain.ts';
import { type Shape, createShapeFields } from '#shared/canvas/shape-fields.ts';
import type { Point } from '#shared/canvas/path.ts';
import { type ToolContext, type Gesture, getHitMargin } from './tool-context.ts';
import type { GestureModifiers, PointerSample } from '../pointer-gestures.ts';

/** A polygon under way: each press adds a corner; one on the first corner, or a second on the last, closes it, and so does Enter. */
export class PolygonTool {
  #corners: Point[] = [];
  #pointer: Point | undefined;

  /** Whether there is one under way. */
  get isStarted(): boolean {
    return this.#corners.length > 0;
  }

  /** Whether its corners make one already. */
  get isClosable(): boolean {
    return this.#corners.length >= 3;
  }

  begin(bench: ToolContext, first: PointerSample, modifiers: GestureModifiers): Gesture {
    const near = getHitMargin(bench, modifiers);
    const constrainPoint = ({ x, y }: PointerSample, { shift }: GestureModifiers): Point => {
      const last = this.#corners.at(-1);
      return shift && last ? snapToAngle(last, [x, y]) : [x, y];
    };
    this.#pointer = constrainPoint(first, modifiers);
    bench.gestureDisplay.draft = () => this.#createShape(bench);
    bench.requestRepaint();
    return {
      extend: (samples, now) => {
        const last = samples.at(-1);
        if (last) this.#pointer = constrainPoint(last, now);
        bench.requestRepaint();
      },
      end: () => {
        const at = this.#pointer;
        this.#pointer = undefined;
        if (!at) return;
        const closes = [this.#corners[0], this.#corners.at(-1)].some(
          (corner) => corner && Math.hypot(corner[0] - at[0], corner[1] - at[1]) <= near,
        );
        if (closes) this.close(bench);
        else {
          this.#corners.push(at);
          bench.announce(bench.texts.corner(this.#corners.length));
          bench.requestRepaint();
        }
      },
      cancel: () => this.abort(bench),
    };
  }

  /** Makes a polygon of the corners; of fewer than three, none. */
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
