import fc from 'fast-check';
import { generateKeyBetween } from 'fractional-indexing';
import { type Kind, type NewShape, type Shape, createShapeFields } from './shape-fields.ts';

/** The smallest PNG: one pixel. */
const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** A sample of each kind, as a caller would pass it. */
export const SAMPLES: { readonly [K in Kind]: NewShape<K> } = {
  rect: { x: 10, y: 20, width: 30, height: 40 },
  ellipse: { cx: 50, cy: 50, rx: 20, ry: 10 },
  line: { x1: 0, y1: 0, x2: 30, y2: 40, strokeWidth: 4 },
  arrow: { x1: 0, y1: 0, x2: 100, y2: 0, strokeWidth: 2 },
  polygon: {
    points: [
      [0, 0],
      [40, 0],
      [20, 30],
    ],
  },
  star: { cx: 50, cy: 50, outer: 30, inner: 12, spikes: 5 },
  path: {
    elements: [
      { type: 'move', x: 0, y: 0 },
      { type: 'quadratic', x1: 20, y1: 40, x: 40, y: 0 },
      { type: 'cubic', x1: 50, y1: -20, x2: 60, y2: 20, x: 70, y: 0 },
      { type: 'line', x: 70, y: 50 },
      { type: 'close' },
    ],
  },
  pen: {
    trace: [
      [0, 0, 0.1],
      [20, 5, 0.5],
      [40, 0, 1],
    ],
    strokeWidth: 10,
  },
  highlighter: {
    points: [
      [0, 0],
      [80, 0],
    ],
  },
  text: { x: 5, y: 5, text: 'Look\nhere', size: 20 },
  marker: { x: 30, y: 30, label: '1', note: 'The button is cut off' },
  callout: { x: 20, y: 20, width: 120, height: 60, tipX: 10, tipY: 150, text: 'This one' },
  image: { x: 0, y: 0, width: 64, height: 32, src: PIXEL },
  redaction: { x: 10, y: 10, width: 40, height: 20 },
  blur: { x: 10, y: 10, width: 40, height: 20 },
};

export const KIND_NAMES = Object.keys(SAMPLES) as Kind[];

/** A shape as a drawing has it. */
export function createSampleShape<K extends Kind>(kind: K, overrides: Partial<NewShape<K>> = {}): Shape<K> {
  return { id: `a-${kind}`, ...createShapeFields(kind, { ...SAMPLES[kind], ...overrides }, generateKeyBetween(null, null)) } as Shape<K>;
}

export const kindArbitrary = fc.constantFrom(...KIND_NAMES);
