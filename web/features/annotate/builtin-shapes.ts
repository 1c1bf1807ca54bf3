import { generateNKeysBetween } from 'fractional-indexing';
import type { LibraryItem } from '#shared/canvas/shape-library.ts';
import { createShapeFields, type Kind, type NewShape, type Shape } from '#shared/canvas/shape-fields.ts';
import { m } from '#app/i18n/messages.ts';

type ShapeInput = { [K in Kind]: { kind: K } & NewShape<K> }[Kind];

const INK = '#1f1e1b';
const PAPER = '#ffffff';
const GREY = '#d9d5cd';
const BLUE = '#1d6fd8';
const outline = { color: INK, strokeWidth: 3, fill: false } as const;

const box = (x: number, y: number, width: number, height: number, style: Partial<NewShape<'rect'>> = {}): ShapeInput => ({
  kind: 'rect',
  x,
  y,
  width,
  height,
  ...outline,
  ...style,
});
const paper = (x: number, y: number, width: number, height: number, radius = 0, color = PAPER): ShapeInput =>
  box(x, y, width, height, { color, fill: true, radius });
const line = (x1: number, y1: number, x2: number, y2: number, color = INK): ShapeInput => ({
  kind: 'line',
  x1,
  y1,
  x2,
  y2,
  color,
  strokeWidth: 3,
});
const dot = (cx: number, cy: number, radius: number, color: string): ShapeInput => ({
  kind: 'ellipse',
  cx,
  cy,
  rx: radius,
  ry: radius,
  color,
  fill: true,
});
const label = (x: number, y: number, text: string, size = 18, color = INK): ShapeInput => ({ kind: 'text', x, y, text, size, color });

/** Shapes that every library has, drawn from the kinds of a drawing. */
const BUILTIN_SHAPES: readonly { readonly id: string; readonly name: () => string; readonly draw: () => ShapeInput[] }[] = [
  {
    id: 'browser',
    name: () => m.annotate_item_browser(),
    draw: () => [
      paper(0, 0, 480, 320, 10),
      paper(0, 0, 480, 40, 10, GREY),
      paper(0, 20, 480, 20, 0, GREY),
      box(0, 0, 480, 320, { radius: 10 }),
      line(0, 40, 480, 40),
      ...['#d92d20', '#e8a30c', '#1f9d55'].map((color, index) => dot(22 + index * 20, 20, 6, color)),
      paper(96, 9, 360, 22, 11),
    ],
  },
  {
    id: 'phone',
    name: () => m.annotate_item_phone(),
    draw: () => [
      paper(0, 0, 190, 380, 26),
      box(0, 0, 190, 380, { radius: 26 }),
      paper(65, 14, 60, 10, 5, INK),
      paper(60, 362, 70, 5, 2, GREY),
    ],
  },
  {
    id: 'bubble',
    name: () => m.annotate_item_bubble(),
    draw: () => [
      {
        kind: 'callout',
        x: 0,
        y: 0,
        width: 220,
        height: 80,
        tipX: 50,
        tipY: 120,
        text: m.annotate_item_text(),
        size: 18,
        color: INK,
        background: PAPER,
        strokeWidth: 3,
      },
    ],
  },
  {
    id: 'note',
    name: () => m.annotate_item_sticky_note(),
    draw: () => [paper(0, 0, 170, 170, 4, '#ffe27a'), label(16, 14, m.annotate_item_text())],
  },
  {
    id: 'button',
    name: () => m.annotate_item_button(),
    draw: () => [paper(0, 0, 150, 46, 10, BLUE), label(24, 12, m.annotate_item_button(), 18, PAPER)],
  },
  {
    id: 'field',
    name: () => m.annotate_item_field(),
    draw: () => [paper(0, 0, 260, 46, 8), box(0, 0, 260, 46, { radius: 8 }), label(14, 12, m.annotate_item_text(), 18, '#6d665b')],
  },
  {
    id: 'checkbox',
    name: () => m.annotate_item_checkbox(),
    draw: () => [
      paper(0, 0, 28, 28, 5),
      box(0, 0, 28, 28, { radius: 5 }),
      {
        kind: 'path',
        elements: [
          { type: 'move', x: 7, y: 15 },
          { type: 'line', x: 12, y: 20 },
          { type: 'line', x: 22, y: 8 },
        ],
        ...outline,
        strokeWidth: 4,
      },
      label(40, 3, m.annotate_item_text()),
    ],
  },
  {
    id: 'arrows',
    name: () => m.annotate_item_double_arrow(),
    draw: () => [
      { kind: 'arrow', x1: 100, y1: 20, x2: 200, y2: 20, color: INK, strokeWidth: 4 },
      { kind: 'arrow', x1: 100, y1: 20, x2: 0, y2: 20, color: INK, strokeWidth: 4 },
    ],
  },
  {
    id: 'decision',
    name: () => m.annotate_item_decision(),
    draw: () => {
      const points: [number, number][] = [
        [90, 0],
        [180, 60],
        [90, 120],
        [0, 60],
      ];
      return [
        { kind: 'polygon', points, color: PAPER, fill: true },
        { kind: 'polygon', points, ...outline },
      ];
    },
  },
  {
    id: 'picture',
    name: () => m.annotate_item_picture(),
    draw: () => [paper(0, 0, 200, 140, 0, '#f3efe8'), box(0, 0, 200, 140), line(0, 0, 200, 140), line(200, 0, 0, 140)],
  },
];

/** Creates the items in the app's language. */
export const createBuiltinItems = (): LibraryItem[] =>
  BUILTIN_SHAPES.map(({ id, name, draw }) => {
    const inputs = draw();
    const orders = generateNKeysBetween(null, null, inputs.length);
    const shapes = inputs.map(
      (input, index) => ({ id: `${id}-${index}`, ...createShapeFields(input.kind, input, orders[index] ?? 'a0') }) as Shape,
    );
    return { id: `builtin-${id}`, name: name(), shapes };
  });
