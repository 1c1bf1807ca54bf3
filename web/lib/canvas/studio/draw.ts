import { angledTo, squareTo } from '#shared/canvas/constrain.ts';
import { type Kind, LIMITS, type NewShape, type Shape, shapeFields } from '#shared/canvas/fields.ts';
import type { Box } from '#shared/canvas/geometry.ts';
import type { Point } from '#shared/canvas/path.ts';
import type { Held, Sample } from '../pointing.ts';
import { type Begin, DRAG, type Look } from './bench.ts';

type Samples = readonly [Sample, ...Sample[]];
interface Dragged {
  readonly from: Point;
  readonly to: Point;
  readonly samples: Samples;
  /** Whether Shift is held. */
  readonly straight: boolean;
  readonly look: Look;
}

/** How a drag becomes a shape. */
interface Drawn<K extends Kind> {
  readonly kind: K;
  readonly fields: (drag: Dragged) => NewShape<K>;
  /** Constrains the end of the drag while Shift is held. */
  readonly constrain?: (from: Point, to: Point) => Point;
  /** Whether a press without a drag draws too. */
  readonly dot?: boolean;
  /** Whether it is written in at once. */
  readonly written?: boolean;
}

const boxOf = ({ from: [x1, y1], to: [x2, y2] }: Pick<Dragged, 'from' | 'to'>): Box => ({
  x: Math.min(x1, x2),
  y: Math.min(y1, y2),
  width: Math.abs(x2 - x1),
  height: Math.abs(y2 - y1),
});
const ends = ({ from: [x1, y1], to: [x2, y2] }: Dragged) => ({ x1, y1, x2, y2 });
const lined = ({ color, strokeWidth }: Look) => ({ color, strokeWidth });
const filled = ({ color, strokeWidth, fill }: Look) => ({ color, strokeWidth, fill });
/** All that was passed, or a straight line. */
const passed = <P>({ samples, from, to, straight }: Dragged, point: (sample: Sample) => P): P[] =>
  straight
    ? [from, to].map(([x, y]) => point({ x, y, pressure: samples[0].pressure }))
    : samples.slice(0, LIMITS.points).map((sample) => point(sample));

/** Default size of a callout's box, in letter heights. */
const BUBBLE = { width: 9, height: 3.2 };

export const DRAWN: {
  readonly [K in 'pen' | 'highlighter' | 'rect' | 'ellipse' | 'line' | 'arrow' | 'star' | 'callout' | 'redact' | 'blur']: Begin;
} = {
  pen: drawing({
    kind: 'pen',
    dot: true,
    constrain: angledTo,
    fields: (drag) => ({ ...lined(drag.look), trace: passed(drag, ({ x, y, pressure }) => [x, y, pressure]) }),
  }),
  highlighter: drawing({
    kind: 'highlighter',
    dot: true,
    constrain: angledTo,
    fields: (drag) => ({
      color: drag.look.color,
      strokeWidth: Math.max(12, drag.look.strokeWidth * 4),
      points: passed(drag, ({ x, y }) => [x, y]),
    }),
  }),
  rect: drawing({ kind: 'rect', constrain: squareTo, fields: (drag) => ({ ...boxOf(drag), ...filled(drag.look) }) }),
  ellipse: drawing({
    kind: 'ellipse',
    constrain: squareTo,
    fields: (drag) => {
      const { x, y, width, height } = boxOf(drag);
      return { cx: x + width / 2, cy: y + height / 2, rx: width / 2, ry: height / 2, ...filled(drag.look) };
    },
  }),
  line: drawing({ kind: 'line', constrain: angledTo, fields: (drag) => ({ ...ends(drag), ...lined(drag.look) }) }),
  arrow: drawing({ kind: 'arrow', constrain: angledTo, fields: (drag) => ({ ...ends(drag), ...lined(drag.look) }) }),
  star: drawing({
    kind: 'star',
    constrain: squareTo,
    fields: (drag) => {
      const { x, y, width, height } = boxOf(drag);
      const outer = Math.max(width, height) / 2;
      return { cx: x + width / 2, cy: y + height / 2, outer, inner: outer * 0.45, spikes: 5, ...filled(drag.look) };
    },
  }),
  callout: drawing({
    kind: 'callout',
    dot: true,
    written: true,
    fields: ({ from, to, look }) => {
      const [width, height] = [look.fontSize * BUBBLE.width, look.fontSize * BUBBLE.height];
      // A press without a drag points at that position, with the box above it.
      const [cx, cy] = from[0] === to[0] && from[1] === to[1] ? [to[0], to[1] - height * 1.4] : to;
      const box = { x: cx - width / 2, y: cy - height / 2, width, height };
      return { ...box, ...lined(look), tipX: from[0], tipY: from[1], text: '', size: look.fontSize };
    },
  }),
  redact: drawing({ kind: 'redaction', constrain: squareTo, fields: boxOf }),
  blur: drawing({ kind: 'blur', constrain: squareTo, fields: boxOf }),
};

/** A gesture that previews its shape and adds it when it ends. */
function drawing<K extends Kind>({ kind, fields, constrain, dot = false, written = false }: Drawn<K>): Begin {
  return (bench, first) => {
    const samples: [Sample, ...Sample[]] = [first];
    const from: Point = [first.x, first.y];
    let straight = false;
    const { look } = bench;
    const given = (): NewShape<K> => {
      const last = samples.at(-1) ?? first;
      const at: Point = [last.x, last.y];
      return fields({ from, to: straight && constrain ? constrain(from, at) : at, samples, straight, look });
    };
    const base = { ...shapeFields(kind, given(), 'a0'), id: 'draft' };
    const shape = (): Shape => ({ ...base, ...given() }) as Shape;
    const stop = (): void => {
      bench.showing.draft = undefined;
      bench.request();
    };
    bench.showing.draft = shape;
    bench.request();
    return {
      extend(more, held: Held) {
        for (const sample of more) if (samples.length < LIMITS.points || constrain !== undefined) samples.push(sample);
        straight = held.shift;
        bench.request();
      },
      end() {
        stop();
        const last = samples.at(-1) ?? first;
        if (!dot && Math.hypot(last.x - from[0], last.y - from[1]) * bench.view.zoom < DRAG) return;
        if (written) return bench.write(shape());
        bench.editor.add(kind, given());
        bench.say(bench.words.drawn(kind));
      },
      cancel: stop,
    };
  };
}
