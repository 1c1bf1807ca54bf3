import { angledTo } from '#shared/canvas/constrain.ts';
import { type Shape, shapeFields } from '#shared/canvas/fields.ts';
import type { Point } from '#shared/canvas/path.ts';
import { type Bench, type Gesture, reachOf } from './bench.ts';
import type { Held, Sample } from '../pointing.ts';

/** A polygon under way: each press adds a corner; one on the first corner, or a second on the last, closes it, and so does Enter. */
export class PolygonTool {
  #corners: Point[] = [];
  #at: Point | undefined;

  /** Whether there is one under way. */
  get begun(): boolean {
    return this.#corners.length > 0;
  }

  /** Whether its corners make one already. */
  get closable(): boolean {
    return this.#corners.length >= 3;
  }

  begin(bench: Bench, first: Sample, held: Held): Gesture {
    const near = reachOf(bench, held);
    const place = ({ x, y }: Sample, { shift }: Held): Point => {
      const last = this.#corners.at(-1);
      return shift && last ? angledTo(last, [x, y]) : [x, y];
    };
    this.#at = place(first, held);
    bench.showing.draft = () => this.#shape(bench);
    bench.request();
    return {
      extend: (samples, now) => {
        const last = samples.at(-1);
        if (last) this.#at = place(last, now);
        bench.request();
      },
      end: () => {
        const at = this.#at;
        this.#at = undefined;
        if (!at) return;
        const closes = [this.#corners[0], this.#corners.at(-1)].some(
          (corner) => corner && Math.hypot(corner[0] - at[0], corner[1] - at[1]) <= near,
        );
        if (closes) this.close(bench);
        else {
          this.#corners.push(at);
          bench.say(bench.words.corner(this.#corners.length));
          bench.request();
        }
      },
      cancel: () => this.stop(bench),
    };
  }

  /** Makes a polygon of the corners; of fewer than three, none. */
  close(bench: Bench): void {
    const { closable } = this;
    const points = this.#corners;
    this.stop(bench);
    if (!closable) return;
    const { color, strokeWidth, fill } = bench.look;
    bench.editor.add('polygon', { points: points.map(([x, y]): [number, number] => [x, y]), color, strokeWidth, fill });
    bench.say(bench.words.drawn('polygon'));
  }

  stop(bench: Bench): void {
    this.#corners = [];
    this.#at = undefined;
    bench.showing.draft = undefined;
    bench.request();
  }

  #shape({ look: { color, strokeWidth } }: Bench): Shape {
    const points = [...this.#corners, ...(this.#at ? [this.#at] : [])];
    return {
      id: 'draft',
      ...shapeFields('highlighter', { points: points.map(([x, y]) => [x, y]), color, strokeWidth, opacity: 1 }, 'a0'),
    };
  }
}
