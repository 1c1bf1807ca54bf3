import { snapToAngle, toSquareCorner } from '#shared/canvas/constrain.ts';
import { type Kind, LIMITS, type NewShape, type Shape, createShapeFields } from '#shared/canvas/shape-fields.ts';
import type { Box } from '#shared/canvas/geometry.ts';
import type { Point } from '#shared/canvas/path.ts';
import type { GestureModifiers, PointerSample } from '../pointer-gestures.ts';
import { type BeginGesture, MIN_DRAG_PX, type DrawStyle } from './tool-context.ts';

type SampleList = readonly [PointerSample, ...PointerSample[]];
interface DragState {
  readonly from: Point;
  readonly to: Point;
  readonly samples: SampleList;
  /** Whether Shift is held. */
  readonly isStraight: boolean;
  readonly look: DrawStyle;
}

/** Conversion of a drag to a shape. */
interface DragShape<K extends Kind> {
  readonly kind: K;
  readonly fields: (drag: DragState) => NewShape<K>;
  /** Constrains the end of the drag while Shift is held. */
  readonly constrainEnd?: (from: Point, to: Point) => Point;
  /** Whether a press without a drag draws too. */
  readonly drawsDot?: boolean;
  /** Whether its text is edited immediately. */
  readonly isTextEdited?: boolean;
}

const toBox = ({ from: [x1, y1], to: [x2, y2] }: Pick<DragState, 'from' | 'to'>): Box => ({
  x: Math.min(x1, x2),
  y: Math.min(y1, y2),
  width: Math.abs(x2 - x1),
  height: Math.abs(y2 - y1),
});
const toEndpoints = ({ from: [x1, y1], to: [x2, y2] }: DragState) => ({ x1, y1, x2, y2 });
const toLineStyle = ({ color, strokeWidth }: DrawStyle) => ({ color, strokeWidth });
const toFillStyle = ({ color, strokeWidth, fill }: DrawStyle) => ({ color, strokeWidth, fill });
/** The path of the pointer, or a straight line. */
const toPath = <P>({ samples, from, to, isStraight }: DragState, point: (sample: PointerSample) => P): P[] =>
  isStraight
    ? [from, to].map(([x, y]) => point({ x, y, pressure: samples[0].pressure }))
    : samples.slice(0, LIMITS.points).map((sample) => point(sample));

/** Default size of a callout's box, in letter heights. */
const CALLOUT_SIZE = { width: 9, height: 3.2 };

export const DRAG_SHAPES: {
  readonly [K in 'pen' | 'highlighter' | 'rect' | 'ellipse' | 'line' | 'arrow' | 'star' | 'callout' | 'redact' | 'blur']: BeginGesture;
} = {
  pen: createDrawGesture({
    kind: 'pen',
    drawsDot: true,
    constrainEnd: snapToAngle,
    fields: (drag) => ({ ...toLineStyle(drag.look), trace: toPath(drag, ({ x, y, pressure }) => [x, y, pressure]) }),
  }),
  highlighter: createDrawGesture({
    kind: 'highlighter',
    drawsDot: true,
    constrainEnd: snapToAngle,
    fields: (drag) => ({
      color: drag.look.color,
      strokeWidth: Math.max(12, drag.look.strokeWidth * 4),
      points: toPath(drag, ({ x, y }) => [x, y]),
    }),
  }),
  rect: createDrawGesture({
    kind: 'rect',
    constrainEnd: toSquareCorner,
    fields: (drag) => ({ ...toBox(drag), ...toFillStyle(drag.look) }),
  }),
  ellipse: createDrawGesture({
    kind: 'ellipse',
    constrainEnd: toSquareCorner,
    fields: (drag) => {
      const { x, y, width, height } = toBox(drag);
      return { cx: x + width / 2, cy: y + height / 2, rx: width / 2, ry: height / 2, ...toFillStyle(drag.look) };
    },
  }),
  line: createDrawGesture({
    kind: 'line',
    constrainEnd: snapToAngle,
    fields: (drag) => ({ ...toEndpoints(drag), ...toLineStyle(drag.look) }),
  }),
  arrow: createDrawGesture({
    kind: 'arrow',
    constrainEnd: snapToAngle,
    fields: (drag) => ({ ...toEndpoints(drag), ...toLineStyle(drag.look) }),
  }),
  star: createDrawGesture({
    kind: 'star',
    constrainEnd: toSquareCorner,
    fields: (drag) => {
      const { x, y, width, height } = toBox(drag);
      const outer = Math.max(width, height) / 2;
      return { cx: x + width / 2, cy: y + height / 2, outer, inner: outer * 0.45, spikes: 5, ...toFillStyle(drag.look) };
    },
  }),
  callout: createDrawGesture({
    kind: 'callout',
    drawsDot: true,
    isTextEdited: true,
    fields: ({ from, to, look }) => {
      const [width, height] = [look.fontSize * CALLOUT_SIZE.width, look.fontSize * CALLOUT_SIZE.height];
      // A press without a drag points at that position, with the box above it.
      const [cx, cy] = from[0] === to[0] && from[1] === to[1] ? [to[0], to[1] - height * 1.4] : to;
      const box = { x: cx - width / 2, y: cy - height / 2, width, height };
      return { ...box, ...toLineStyle(look), tipX: from[0], tipY: from[1], text: '', size: look.fontSize };
    },
  }),
  redact: createDrawGesture({ kind: 'redaction', constrainEnd: toSquareCorner, fields: toBox }),
  blur: createDrawGesture({ kind: 'blur', constrainEnd: toSquareCorner, fields: toBox }),
};

/** A gesture that previews its shape and adds it when it ends. */
function createDrawGesture<K extends Kind>({
  kind,
  fields,
  constrainEnd,
  drawsDot = false,
  isTextEdited = false,
}: DragShape<K>): BeginGesture {
  return (bench, first) => {
    const samples: [PointerSample, ...PointerSample[]] = [first];
    const from: Point = [first.x, first.y];
    let isStraight = false;
    const { drawStyle } = bench;
    const createFields = (): NewShape<K> => {
      const last = samples.at(-1) ?? first;
      const at: Point = [last.x, last.y];
      return fields({ from, to: isStraight && constrainEnd ? constrainEnd(from, at) : at, samples, isStraight, look: drawStyle });
    };
    const base = { ...createShapeFields(kind, createFields(), 'a0'), id: 'draft' };
    const createShape = (): Shape => ({ ...base, ...createFields() }) as Shape;
    const stop = (): void => {
      bench.gestureDisplay.draft = undefined;
      bench.requestRepaint();
    };
    bench.gestureDisplay.draft = createShape;
    bench.requestRepaint();
    return {
      extend(newSamples, modifiers: GestureModifiers) {
        for (const sample of newSamples) if (samples.length < LIMITS.points || constrainEnd !== undefined) samples.push(sample);
        isStraight = modifiers.shift;
        bench.requestRepaint();
      },
      end() {
        stop();
        const last = samples.at(-1) ?? first;
        if (!drawsDot && Math.hypot(last.x - from[0], last.y - from[1]) * bench.view.zoom < MIN_DRAG_PX) return;
        if (isTextEdited) return bench.openTextField(createShape());
        bench.editor.add(kind, createFields());
        bench.announce(bench.texts.drawn(kind));
      },
      cancel: stop,
    };
  };
}
