import type { FieldValues } from '#shared/canvas/change.ts';
import type { Kind } from '#shared/canvas/shape-fields.ts';
import type { PointerSample } from './pointer-gestures.ts';

/** Drawing tools, and the select tool. */
export const TOOLS = ['select', 'pen', 'rect', 'circle', 'arrow', 'marker', 'text'] as const;
export type Tool = (typeof TOOLS)[number];

/** Converts a gesture to a shape: its kind, and its fields from the first sample and all later ones. */
interface DrawingTool {
  readonly kind: Kind;
  readonly fields: (samples: readonly [PointerSample, ...PointerSample[]]) => FieldValues;
  /** Whether a press without a drag draws too. */
  readonly dot?: boolean;
}

const toBox = (samples: readonly [PointerSample, ...PointerSample[]]) => {
  const [from, to] = [samples[0], samples.at(-1) ?? samples[0]];
  return { x: Math.min(from.x, to.x), y: Math.min(from.y, to.y), width: Math.abs(to.x - from.x), height: Math.abs(to.y - from.y) };
};

/** Tools that draw by dragging. */
export const DRAWING_TOOLS: Readonly<Record<'pen' | 'rect' | 'circle' | 'arrow', DrawingTool>> = {
  pen: { kind: 'pen', dot: true, fields: (samples) => ({ trace: samples.map(({ x, y, pressure }) => [x, y, pressure]) }) },
  rect: { kind: 'rect', fields: (samples) => ({ ...toBox(samples), fill: false }) },
  circle: {
    kind: 'ellipse',
    fields: (samples) => {
      const { x, y, width, height } = toBox(samples);
      return { cx: x + width / 2, cy: y + height / 2, rx: width / 2, ry: height / 2, fill: false };
    },
  },
  arrow: {
    kind: 'arrow',
    fields: (samples) => {
      const [from, to] = [samples[0], samples.at(-1) ?? samples[0]];
      return { x1: from.x, y1: from.y, x2: to.x, y2: to.y };
    },
  },
};
