import { describe, expect, test } from 'vitest';
import { Drawing } from '../drawing.ts';
import { getPaintedBounds } from '../geometry.ts';
import { createSampleShape, KIND_NAMES } from '../shape-samples.ts';
import type { Kind, Shape } from '../shape-fields.ts';
import { ExcalidrawFileError } from './excalidraw-elements.ts';
import { drawingToExcalidraw } from './excalidraw-export.ts';
import { drawingFromExcalidraw, shapesFromExcalidraw } from './excalidraw-import.ts';
import { parseExcalidrawLibrary, toExcalidrawLibrary } from './excalidraw-library.ts';

const PIXEL = createSampleShape('image').src;
const page = { kind: 'page', x: 0, y: 0, width: 400, height: 300, background: '#fafafa' } as const;

/** Text of a file with elements of which only the given fields differ from a rectangle. */
const toFile = (elements: unknown[], more: object = {}): string =>
  JSON.stringify({
    type: 'excalidraw',
    version: 2,
    elements: elements.map((element) => ({ id: 'a', type: 'rectangle', x: 10, y: 20, width: 30, height: 40, ...(element as object) })),
    appState: { viewBackgroundColor: '#ffeecc' },
    files: {},
    ...more,
  });
const read = (...elements: unknown[]) => shapesFromExcalidraw(toFile(elements));
const readOne = (element: object): Partial<Record<string, unknown>> => {
  const { shapes } = read(element);
  expect(shapes).toHaveLength(1);
  return { ...shapes[0] };
};
const exportShapes = (...shapes: Shape[]) => drawingToExcalidraw({ page, shapes });
const getElements = (json: string): Record<string, unknown>[] => (JSON.parse(json) as { elements: Record<string, unknown>[] }).elements;
const withoutIds = (shapes: readonly Shape[]): unknown[] => shapes.map(({ id: _, order: __, ...fields }) => fields);

describe('reading an Excalidraw file', () => {
  test('boxes keep place, colour, opacity, corner radius, rotation and lock', () => {
    const rect = readOne({ strokeColor: '#ff0000', opacity: 50, angle: Math.PI / 2, locked: true, strokeWidth: 4, roundness: { type: 3 } });
    expect(rect).toMatchObject({ kind: 'rect', x: 10, y: 20, width: 30, height: 40, color: '#ff0000', opacity: 0.5, rotation: 90 });
    expect(rect).toMatchObject({ locked: true, strokeWidth: 4, fill: false, radius: 7.5 });
    expect(readOne({ type: 'ellipse' })).toMatchObject({ kind: 'ellipse', cx: 25, cy: 40, rx: 15, ry: 20, color: '#1e1e1e' });
    expect(readOne({ type: 'diamond' })).toMatchObject({
      kind: 'polygon',
      points: [
        [25, 20],
        [40, 40],
        [25, 60],
        [10, 40],
      ],
    });
    expect(readOne({ width: -30, height: -40 })).toMatchObject({ x: -20, y: -20, width: 30, height: 40 });
  });

  test('a filled box with an outline becomes two shapes', () => {
    const { shapes, simplified } = read({ backgroundColor: '#00ff00', strokeColor: '#ff0000' });
    expect(shapes.map((shape) => 'fill' in shape && [shape.color, shape.fill])).toEqual([
      ['#00ff00', true],
      ['#ff0000', false],
    ]);
    expect(simplified).toBe(0);
    expect(readOne({ backgroundColor: '#00ff00', strokeColor: 'transparent' })).toMatchObject({ color: '#00ff00', fill: true });
  });

  test('lines and arrows keep their ends and heads', () => {
    const line = {
      type: 'line',
      points: [
        [0, 0],
        [100, 50],
      ],
    };
    expect(readOne(line)).toMatchObject({ kind: 'line', x1: 10, y1: 20, x2: 110, y2: 70 });
    const arrow = { ...line, type: 'arrow', endArrowhead: 'arrow' };
    expect(readOne(arrow)).toMatchObject({ kind: 'arrow', x1: 10, y1: 20, x2: 110, y2: 70 });
    expect(readOne({ ...arrow, startArrowhead: 'arrow', endArrowhead: null })).toMatchObject({ kind: 'arrow', x1: 110, x2: 10 });
    expect(readOne({ ...arrow, endArrowhead: null }).kind).toBe('line');
    const both = read({ ...arrow, startArrowhead: 'arrow' });
    expect([both.shapes.map(({ kind }) => kind), both.simplified]).toEqual([['arrow', 'polygon'], 1]);
    const bent = read({
      ...arrow,
      points: [
        [0, 0],
        [50, 0],
        [50, 50],
      ],
    });
    expect([bent.shapes.map(({ kind }) => kind), bent.simplified]).toEqual([['path', 'polygon'], 1]);
    const curved = readOne({
      ...line,
      points: [
        [0, 0],
        [50, 0],
        [50, 50],
      ],
      roundness: { type: 2 },
    });
    expect((curved.elements as { type: string }[]).map(({ type }) => type)).toEqual(['move', 'cubic', 'cubic']);
    const closed = {
      ...line,
      points: [
        [0, 0],
        [50, 0],
        [50, 50],
        [0, 0],
      ],
      backgroundColor: '#0000ff',
      strokeColor: 'transparent',
    };
    expect(readOne(closed)).toMatchObject({
      kind: 'polygon',
      fill: true,
      points: [
        [10, 20],
        [60, 20],
        [60, 70],
      ],
    });
    // Turned by half a turn around the middle of its points.
    expect(readOne({ ...line, angle: Math.PI })).toMatchObject({ x1: 110, y1: 70, x2: 10, y2: 20 });
  });

  test('strokes, text and pictures', () => {
    const stroke = {
      type: 'freedraw',
      points: [
        [0, 0],
        [5, 5],
      ],
      pressures: [0.2, 2],
      simulatePressure: false,
      strokeWidth: 2,
    };
    expect(readOne(stroke)).toMatchObject({
      kind: 'pen',
      strokeWidth: 8.5,
      trace: [
        [10, 20, 0.2],
        [15, 25, 1],
      ],
    });
    const text = { type: 'text', text: 'Look', fontSize: 24, containerId: 'box', strokeColor: '#123456', width: 100, height: 30 };
    expect(readOne(text)).toMatchObject({ kind: 'text', text: 'Look', size: 24, color: '#123456', x: 10, y: 20 });
    const { x } = readOne({ ...text, textAlign: 'center' });
    expect(x).toBeGreaterThan(10);
    const file = toFile([{ type: 'image', fileId: 'f', scale: [-1, 1] }], { files: { f: { id: 'f', dataURL: PIXEL } } });
    expect(shapesFromExcalidraw(file).shapes).toMatchObject([{ kind: 'image', src: PIXEL, mirrored: true, width: 30 }]);
  });

  test('counts what has no counterpart, and skips what is deleted', () => {
    const dashed = { strokeStyle: 'dashed' };
    const hatched = { backgroundColor: '#ff0000', fillStyle: 'hachure', strokeColor: 'transparent' };
    const frame = { type: 'frame', name: 'Login' };
    const { shapes, simplified, leftOut } = read(
      dashed,
      hatched,
      frame,
      { type: 'hologram' },
      { isDeleted: true },
      { type: 'image', fileId: 'none' },
    );
    expect(shapes.map(({ kind }) => kind)).toEqual(['rect', 'rect', 'rect', 'text']);
    expect([simplified, leftOut]).toEqual([3, 2]);
  });

  test('a drawing encloses its shapes', () => {
    const { drawing } = drawingFromExcalidraw(toFile([{ x: -500 }, { x: 900 }]), { origin: 'test', now: () => 0 });
    const { x, y, width, height, background } = drawing.page;
    expect(background).toBe('#ffeecc');
    for (const shape of drawing.shapes) {
      const box = getPaintedBounds(shape);
      expect(box.x >= x && box.y >= y && box.x + box.width <= x + width && box.y + box.height <= y + height).toBe(true);
    }
  });
});

describe('hostile Excalidraw files', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const cases: [name: string, text: string, message: RegExp][] = [
    ['no JSON', '{', /not valid JSON/],
    ['deep nesting', deep, /not an Excalidraw drawing|not valid JSON/],
    ['null', 'null', /not an Excalidraw drawing/],
    ['another format', '{"type":"excalidrawlib","libraryItems":[]}', /not an Excalidraw drawing/],
    ['elements that are no list', '{"type":"excalidraw","elements":{}}', /no list of elements/],
    ['an element without a type', '{"type":"excalidraw","elements":[null]}', /element 1 has no type/],
    ['text as a number', toFile([{ x: 'left' }]), /element 1 \(rectangle\), x/],
    ['not a number', toFile([{}]).replace('"x":10', '"x":NaN'), /not valid JSON/],
    ['an endless number', toFile([{}]).replace('"x":10', '"x":1e999'), /element 1 \(rectangle\), x/],
    ['a place beyond the limits', toFile([{ x: 1e7 }]), /element 1 \(rectangle\), x/],
    [
      'points that are none',
      toFile([
        {
          type: 'line',
          points: [
            [0, 0],
            ['1', {}],
          ],
        },
      ]),
      /element 1 \(line\), points/,
    ],
    ['too many elements', toFile(Array.from({ length: 20_001 }, () => ({}))), /20001 elements/],
    ['too many shapes', toFile(Array.from({ length: 15_000 }, () => ({ backgroundColor: '#ff0000' }))), /30000 shapes/],
    [
      'a damaged picture',
      toFile([{ type: 'image', fileId: 'f' }], { files: { f: { dataURL: 'data:image/png;base64,<script>' } } }),
      /picture/,
    ],
    ['a picture that is no text', toFile([{ type: 'image', fileId: 'f' }], { files: { f: { dataURL: {} } } }), /picture/],
    ['nothing to show', toFile([{ isDeleted: true }]), /no shapes/],
  ];
  test.each(cases)('%s', (_, text, message) => {
    const attempt = (): unknown => drawingFromExcalidraw(text);
    expect(attempt).toThrow(ExcalidrawFileError);
    expect(attempt).toThrow(message);
  });

  test('names of the prototype are names like others', () => {
    const own = '{"type":"excalidraw","__proto__":{"elements":[]},"elements":[{"type":"constructor","x":1},{"type":"__proto__"}]}';
    expect(shapesFromExcalidraw(own)).toMatchObject({ shapes: [], leftOut: 2 });
    for (const fileId of ['__proto__', 'constructor', 'toString']) expect(read({ type: 'image', fileId }).leftOut).toBe(1);
    expect(Object.hasOwn(Object.prototype, 'elements')).toBe(false);
  });
});

describe('writing an Excalidraw file', () => {
  test.each(['rect', 'ellipse', 'line', 'arrow', 'polygon', 'pen', 'text', 'image'] as const)('%s survives a round trip', (kind) => {
    const shape = createSampleShape(kind, kind === 'image' ? { mirrored: true } : { opacity: 0.5, color: '#12ab34' });
    const { json, simplified } = exportShapes(shape);
    const [before] = withoutIds([shape]) as [Record<string, unknown>];
    const [after] = withoutIds(shapesFromExcalidraw(json).shapes) as [Record<string, unknown>];
    expect(simplified).toBe(0);
    expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
    for (const [field, value] of Object.entries(before))
      if (typeof value === 'number') expect(after[field], field).toBeCloseTo(value, 6);
      else expect(after[field], field).toEqual(value);
  });

  test('every kind is written, and can be read again', () => {
    for (const kind of KIND_NAMES) {
      const { json } = exportShapes(createSampleShape<Kind>(kind));
      expect(getElements(json).length, kind).toBeGreaterThan(0);
      expect(shapesFromExcalidraw(json).shapes.length, kind).toBeGreaterThan(0);
    }
  });

  test('labels are bound to their boxes, and the parts of a shape are a group', () => {
    for (const shape of [createSampleShape('marker'), createSampleShape('callout')]) {
      const elements = getElements(exportShapes(shape).json);
      const [box, label] = elements;
      expect(box?.boundElements).toEqual([{ type: 'text', id: label?.id }]);
      expect(label?.containerId).toBe(box?.id);
      expect(new Set(elements.map(({ groupIds }) => String(groupIds))).size).toBe(1);
      expect(new Set(elements.map(({ id }) => id)).size).toBe(elements.length);
    }
  });

  test('a diamond stays one, pictures are stored once, and hidden shapes are left out', () => {
    const diamond = createSampleShape('polygon', {
      points: [
        [20, 0],
        [40, 10],
        [20, 20],
        [0, 10],
      ],
    });
    const twins = ['b', 'c'].map((id) => ({ ...createSampleShape('image'), id }));
    const hidden = createSampleShape('rect', { hidden: true });
    const { json } = exportShapes(diamond, ...twins, hidden);
    expect(getElements(json).map(({ type }) => type)).toEqual(['diamond', 'image', 'image']);
    expect(Object.keys((JSON.parse(json) as { files: object }).files)).toEqual(['file-1']);
  });

  test('counts shapes that have no counterpart', () => {
    const { simplified } = exportShapes(createSampleShape('blur'), createSampleShape('star'), createSampleShape('rect'));
    expect(simplified).toBe(2);
  });

  test('a whole drawing survives twice', () => {
    const drawing = new Drawing({ width: 100, height: 100, origin: 'test' });
    drawing.write(KIND_NAMES.map((kind) => [kind, { ...createSampleShape<Kind>(kind), id: undefined, removed: false }] as never));
    const once = drawingFromExcalidraw(drawingToExcalidraw(drawing).json).drawing;
    const twice = drawingFromExcalidraw(drawingToExcalidraw(once).json).drawing;
    expect(twice.shapes.map(({ kind }) => kind)).toEqual(once.shapes.map(({ kind }) => kind));
    expect(twice.page.width).toBeCloseTo(once.page.width, -1);
  });
});

describe('Excalidraw libraries', () => {
  test('items keep their names and shapes', () => {
    const items = [
      { name: 'Box', shapes: [createSampleShape('rect')] },
      { name: 'Word', shapes: [createSampleShape('text'), createSampleShape('arrow')] },
    ];
    const parsed = parseExcalidrawLibrary(toExcalidrawLibrary(items));
    expect(parsed.items.map(({ name, shapes }) => [name, shapes.map(({ kind }) => kind)])).toEqual([
      ['Box', ['rect']],
      ['Word', ['text', 'arrow']],
    ]);
  });

  test('version 1 has lists without names; empty items are left out', () => {
    const [element] = getElements(exportShapes(createSampleShape('rect')).json);
    const { items } = parseExcalidrawLibrary(JSON.stringify({ type: 'excalidrawlib', version: 1, library: [[element], []] }));
    expect(items.map(({ name, shapes }) => [name, shapes.length])).toEqual([['', 1]]);
  });

  test.each([
    ['{', /not valid JSON/],
    ['[]', /not an Excalidraw library/],
    ['{"type":"excalidrawlib","libraryItems":[{"elements":7}]}', /no list of elements/],
    ['{"type":"excalidrawlib","libraryItems":[]}', /library is empty/],
  ])('%s is refused', (text, message) => {
    expect(() => parseExcalidrawLibrary(text)).toThrow(ExcalidrawFileError);
    expect(() => parseExcalidrawLibrary(text)).toThrow(message);
  });
});
