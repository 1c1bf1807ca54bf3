import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { parseChanges } from './change.ts';
import { Drawing } from './drawing.ts';
import { Editor } from './editor.ts';
import { LIMITS, DEFAULT_PAINT_STYLE } from './shape-fields.ts';
import { drawingFromJson, drawingToJson } from './drawing-file.ts';
import { kindArbitrary, KIND_NAMES, SAMPLES, createSampleShape } from './shape-samples.ts';

const createFile = (shapes: unknown, more: object = {}): string =>
  JSON.stringify({
    format: 'perch-drawing',
    version: 1,
    page: { kind: 'page', x: 0, y: 0, width: 9, height: 9, background: null },
    shapes,
    ...more,
  });

verifies('canvas.file/round-trip', 'any drawing is the same after it was written and read', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(kindArbitrary, fc.boolean(), fc.string({ maxLength: 20 }))), (shapes) => {
      const editor = new Editor(new Drawing({ width: 300, height: 200, background: '#fff' }));
      for (const [kind, hidden, text] of shapes) {
        const { id } = editor.add(kind, { ...SAMPLES[kind], hidden });
        if (kind === 'text') editor.set<'text'>(id, { text });
      }
      editor.remove([editor.drawing.shapes[0]?.id ?? '']);
      const read = drawingFromJson(drawingToJson(editor.drawing));
      expect({ page: read.page, shapes: read.shapes }).toEqual({ page: editor.drawing.page, shapes: editor.drawing.shapes });
    }),
    { numRuns: 100 },
  );
});

verifies('canvas.file/round-trip', 'a file of version 1, whose pictures had no mirror, is read', () => {
  const { mirrored, ...image } = createSampleShape('image');
  expect(mirrored).toBe(false);
  const [read] = drawingFromJson(createFile([image])).shapes;
  expect(read).toEqual({ ...image, mirrored: false });
});

verifies('canvas.file/hostile', 'each says where it is wrong', () => {
  const rect = createSampleShape('rect');
  const wrong: [string, RegExp][] = [
    ['{', /not valid JSON/],
    ['[]', /not a Perch drawing/],
    ['{"format":"other","version":1}', /not a Perch drawing/],
    [createFile([], { version: 3 }), /version 3, but this version of Perch supports up to version 2/],
    [createFile([], { version: 0 }), /damaged: version/],
    [createFile([], { more: 1 }), /damaged/],
    [createFile([{ ...rect, x: '1' }]), /shapes\.0\.x must be a number/],
    [createFile([{ ...rect, x: 1e300 }]), /shapes\.0\.x/],
    [createFile([{ ...rect, width: -1 }]), /shapes\.0\.width/],
    [createFile([{ ...rect, color: 'url(#x)' }]), /must be a colour/],
    [createFile([{ ...rect, onclick: 'x' }]), /shapes\.0/],
    [createFile([{ ...rect, id: '"><script>' }]), /shapes\.0\.id/],
    [createFile([{ ...rect, id: 'page' }]), /reserved id/],
    [createFile([rect, rect]), /must not contain duplicate ids/],
    [createFile([{ ...rect, order: 'a' }]), /fractional indexing/],
    [createFile([{ ...rect, kind: 'constructor' }]), /shapes\.0\.kind/],
    [createFile([rect]).replace('"x":10', '"__proto__":{"x":1},"x":10'), /damaged/],
    [createFile([{ ...createSampleShape('image'), src: 'https://elsewhere/x.png' }]), /data URL/],
    [createFile([{ ...createSampleShape('image'), src: 'data:image/svg+xml;base64,PHN2Zz4=' }]), /data URL/],
    [createFile([{ ...createSampleShape('text'), text: 'x'.repeat(LIMITS.textLength + 1) }]), /at most 10000 characters/],
    [createFile(Array.from({ length: LIMITS.shapes + 1 }, (_, at) => ({ ...rect, id: `a${at}` }))), /at most 20000 items/],
  ];
  for (const [json, message] of wrong) expect(() => drawingFromJson(json), json.slice(0, 200)).toThrow(message);
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  const noShapes = fc.jsonValue().filter((value) => !(Array.isArray(value) && value.length === 0));
  fc.assert(fc.property(noShapes, (value) => void expect(() => drawingFromJson(createFile(value))).toThrow(/damaged/)));
});

verifies('canvas.file/hostile', 'changes that others send are read as strictly', () => {
  const at = '000000000001000-0000-there';
  expect(parseChanges([{ id: 'a', at, set: { x: 1, removed: false } }])).toHaveLength(1);
  for (const sent of [
    null,
    {},
    [{ id: 'a', at: '~', set: {} }],
    [{ id: '', at, set: {} }],
    [{ id: 'a', at, set: { x: NaN } }],
    [{ id: 'a', at, set: { href: 'x' } }],
    [{ id: 'a', at, set: { kind: 'script' } }],
  ])
    expect(() => parseChanges(sent), JSON.stringify(sent)).toThrow();
});

verifies('canvas.list/shapes', 'each kind has its defaults, and wants what has none', () => {
  const editor = new Editor(new Drawing({ width: 10, height: 10 }));
  for (const kind of KIND_NAMES) {
    const shape = editor.add(kind, SAMPLES[kind]);
    expect(editor.drawing.shape(shape.id)).toEqual(shape);
    // @ts-expect-error what must be given is not
    expect(() => editor.add(kind, {}), kind).toThrow(/is required/);
  }
  expect(DEFAULT_PAINT_STYLE).toEqual({ color: '#000000', strokeWidth: 1, fill: true, antiAlias: true });
  expect(createSampleShape('rect')).toMatchObject(DEFAULT_PAINT_STYLE);
  // @ts-expect-error a field that no rectangle has
  expect(() => editor.set<'rect'>(editor.drawing.shapes[0]?.id ?? '', { tipX: 1 })).toThrow(/tipX/);
  expect(() => editor.set('none', { hidden: true })).toThrow('No shape with id "none"');
  expect(editor.drawing.shapes).toHaveLength(KIND_NAMES.length);
});
