import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { DrawingActions } from './drawing-actions.ts';
import { shapesToText } from './clipboard.ts';
import { Drawing } from './drawing.ts';
import { Editor } from './editor.ts';
import type { Shape } from './shape-fields.ts';
import { type Box, getPaintedBounds } from './geometry.ts';
import { getSpan } from './handles.ts';
import { kindArbitrary, KIND_NAMES, SAMPLES, createSampleShape } from './shape-samples.ts';

const createTestEditor = (origin = 'here') => {
  const editor = new Editor(new Drawing({ width: 300, height: 200, origin, now: () => 1000 }));
  return { editor, actions: new DrawingActions(editor), drawing: editor.drawing };
};
type TestEditor = ReturnType<typeof createTestEditor>;
const getState = ({ drawing: { page, shapes } }: TestEditor): unknown => structuredClone({ page, shapes });
const getIds = ({ drawing }: TestEditor): string[] => drawing.shapes.map(({ id }) => id);

const indexes = fc.array(fc.nat(30), { maxLength: 5 });
const offset = fc.integer({ min: -40, max: 40 });
const axis = fc.constantFrom('x' as const, 'y' as const);
const flagValue = fc.boolean();

/** Every action, with its arguments. */
const action = fc.oneof(
  kindArbitrary.map((kind) => ({ name: `add ${kind}`, do: ({ editor }: TestEditor) => void editor.add(kind, SAMPLES[kind]) })),
  indexes.map((nth) => ({ name: 'remove', do: (at: TestEditor) => at.actions.remove(pickIds(at, nth)) })),
  fc.tuple(indexes, fc.constantFrom('front', 'back', 'forward', 'backward')).map(([nth, move]) => ({
    name: move,
    do: (at: TestEditor) => at.actions.order(pickIds(at, nth), move),
  })),
  fc
    .tuple(indexes, offset, offset)
    .map(([nth, dx, dy]) => ({ name: 'nudge', do: (at: TestEditor) => at.actions.nudge(pickIds(at, nth), dx, dy) })),
  fc
    .tuple(indexes, offset, offset)
    .map(([nth, dx, dy]) => ({ name: 'grow', do: (at: TestEditor) => at.actions.grow(pickIds(at, nth), dx, dy) })),
  fc.tuple(indexes, fc.constantFrom('left', 'center', 'right', 'top', 'middle', 'bottom')).map(([nth, edge]) => ({
    name: `align ${edge}`,
    do: (at: TestEditor) => at.actions.align(pickIds(at, nth), edge),
  })),
  fc
    .tuple(indexes, axis)
    .map(([nth, way]) => ({ name: 'distribute', do: (at: TestEditor) => at.actions.distribute(pickIds(at, nth), way) })),
  fc.tuple(indexes, axis).map(([nth, way]) => ({ name: 'flip', do: (at: TestEditor) => at.actions.flip(pickIds(at, nth), way) })),
  fc.tuple(indexes, fc.integer({ min: -400, max: 400 })).map(([nth, by]) => ({
    name: `turn ${by}`,
    do: (at: TestEditor) => at.actions.rotate(pickIds(at, nth), by),
  })),
  fc.integer({ min: -5, max: 5 }).map((by) => ({ name: `sheet ${by}`, do: (at: TestEditor) => at.actions.rotatePage(by) })),
  fc.tuple(offset, offset, fc.nat(300)).map(([x, y, side]) => ({
    name: 'crop',
    do: (at: TestEditor) => at.actions.crop({ x, y, width: side, height: side }),
  })),
  indexes.map((nth) => ({
    name: 'style',
    do: (at: TestEditor) => at.actions.setStyle(pickIds(at, nth), { color: '#123456', strokeWidth: 7, fill: false }),
  })),
  fc.tuple(indexes, fc.constantFrom('locked' as const, 'hidden' as const), flagValue).map(([nth, flag, set]) => ({
    name: flag,
    do: (at: TestEditor) => at.actions.setFlag(pickIds(at, nth), flag, set),
  })),
  indexes.map((nth) => ({
    name: 'paste',
    do: (at: TestEditor) => {
      const picked = new Set(pickIds(at, nth));
      return at.actions.paste(shapesToText(at.drawing.shapes.filter(({ id }) => picked.has(id))));
    },
  })),
);
const pickIds = (at: TestEditor, nth: readonly number[]): string[] => {
  const all = getIds(at);
  return all.length === 0 ? [] : nth.flatMap((each) => all[each % all.length] ?? []);
};

verifies('canvas.studio/undo', 'any sequence of actions, undone and redone in any order, matches a list of snapshots', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 4, arbitrary: action }, fc.constantFrom('undo' as const, 'redo' as const)), { maxLength: 30 }),
      (steps) => {
        const at = createTestEditor();
        const snapshots = [getState(at)];
        let now = 0;
        for (const step of steps) {
          if (step === 'undo') {
            expect(at.editor.undo()).toBe(now > 0);
            now = Math.max(0, now - 1);
          } else if (step === 'redo') {
            expect(at.editor.redo()).toBe(now < snapshots.length - 1);
            now = Math.min(snapshots.length - 1, now + 1);
          } else {
            const changes: unknown[] = [];
            const stop = at.drawing.onChange((event) => changes.push(event));
            step.do(at);
            stop();
            // A step that writes nothing does not count, any other does.
            if (changes.length > 0) {
              snapshots.length = ++now;
              snapshots.push(getState(at));
            }
          }
          expect(getState(at)).toEqual(snapshots[now]);
          expect([at.editor.canUndo, at.editor.canRedo]).toEqual([now > 0, now < snapshots.length - 1]);
        }
        while (at.editor.undo());
        expect(getState(at)).toEqual(snapshots[0]);
      },
    ),
    { numRuns: 200 },
  );
});

const roundBox = ({ x, y, width, height }: Box): number[] => [x, y, width, height].map((value) => Math.round(value * 1000) / 1000 + 0);
const getRoundedSpans = (at: TestEditor): number[][] => at.drawing.shapes.map((shape) => roundBox(getSpan(shape)));
const withRects = (...boxes: readonly [number, number, number, number][]): TestEditor => {
  const at = createTestEditor();
  for (const [x, y, width, height] of boxes) at.editor.add('rect', { x, y, width, height });
  return at;
};

verifies('canvas.studio/arrange', 'edges and middles come into one line, one alone into the sheet’s', () => {
  const expected = {
    left: [10, 10, 10],
    center: [50, 40, 45],
    right: [90, 70, 80],
    top: [0, 0, 0],
    middle: [40, 45, 35],
    bottom: [80, 90, 70],
  };
  for (const [edge, places] of Object.entries(expected)) {
    const at = withRects([10, 20, 20, 20], [30, 0, 40, 10], [80, 70, 30, 30]);
    at.actions.align(getIds(at), edge as keyof typeof expected);
    const along = ['left', 'center', 'right'].includes(edge) ? 0 : 1;
    expect(
      getRoundedSpans(at).map((box) => box[along]),
      edge,
    ).toEqual(places);
  }
  const alone = withRects([10, 20, 20, 20]);
  alone.actions.align(getIds(alone), 'center');
  alone.actions.align(getIds(alone), 'bottom');
  expect(getRoundedSpans(alone)).toEqual([[140, 180, 20, 20]]);
});

verifies('canvas.studio/arrange', 'the gaps between three become alike, whatever their order in the pile', () => {
  const at = withRects([90, 0, 10, 10], [0, 0, 20, 10], [25, 5, 30, 10]);
  at.actions.distribute(getIds(at), 'x');
  expect(getRoundedSpans(at)).toEqual([
    [90, 0, 10, 10],
    [0, 0, 20, 10],
    [40, 5, 30, 10],
  ]);
  const two = withRects([0, 0, 1, 1], [9, 9, 1, 1]);
  two.actions.distribute(getIds(two), 'y');
  expect(two.editor.canUndo && getRoundedSpans(two)).toEqual([
    [0, 0, 1, 1],
    [9, 9, 1, 1],
  ]);
});

verifies('canvas.studio/arrange', 'what is flipped twice, or turned by four quarters with its sheet, is as before', () => {
  fc.assert(
    fc.property(
      fc.array(kindArbitrary, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: -179, max: 180 }),
      axis,
      (kinds, rotation, flipAxis) => {
        const at = createTestEditor();
        for (const kind of kinds) at.editor.add(kind, { ...SAMPLES[kind], ...('rotation' in createSampleShape(kind) ? { rotation } : {}) });
        const before = collectNumbers(at.drawing.shapes);
        at.actions.flip(getIds(at), flipAxis);
        at.actions.flip(getIds(at), flipAxis);
        expectClose(collectNumbers(at.drawing.shapes), before);
        for (let quarter = 0; quarter < 4; quarter++) at.actions.rotatePage(1);
        expectClose(collectNumbers(at.drawing.shapes), before);
        expect(at.drawing.page).toMatchObject({ x: 0, y: 0, width: 300, height: 200 });
      },
    ),
    { numRuns: 100 },
  );
});

/** All numbers in there, in order; angles as directions, for 180° and -180° are one. */
function collectNumbers(value: unknown, name = ''): number[] {
  if (typeof value === 'number')
    return name === 'rotation' ? [Math.cos((value * Math.PI) / 180), Math.sin((value * Math.PI) / 180)] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, each]) => collectNumbers(each, Array.isArray(value) ? name : key));
}
function expectClose(now: readonly number[], before: readonly number[]): void {
  expect(now).toHaveLength(before.length);
  now.forEach((value, nth) => expect(value).toBeCloseTo(before[nth] ?? NaN, 6));
}

verifies('canvas.studio/arrange', 'a flip mirrors what is painted: the same box on the other side, and letters that can be read', () => {
  for (const kind of KIND_NAMES) {
    for (const rotation of [0, 30]) {
      const at = createTestEditor();
      const { id } = at.editor.add(kind, { ...SAMPLES[kind], ...('rotation' in createSampleShape(kind) ? { rotation } : {}) });
      const before = getPaintedBounds(at.drawing.shape(id) ?? expect.fail());
      at.actions.flip([], 'x');
      const after = getPaintedBounds(at.drawing.shape(id) ?? expect.fail());
      // Of arrows and callouts, heads and tails lie otherwise; of paths, curves that are cut into pieces.
      expect(roundBox(after), `${kind} ${rotation}`).toEqual(roundBox({ ...before, x: 300 - before.x - before.width }));
    }
  }
  const at = createTestEditor();
  at.editor.add('image', { ...SAMPLES.image, rotation: 30 });
  at.editor.add('text', { ...SAMPLES.text, rotation: 30 });
  at.actions.flip([], 'y');
  expect(at.drawing.shapes).toMatchObject([
    { mirrored: true, rotation: 150 },
    { rotation: -30, text: 'Look\nhere' },
  ]);
});

verifies('canvas.studio/arrange', 'a sheet that is turned takes along all on it, redactions too', () => {
  const at = createTestEditor();
  at.editor.add('redaction', { x: 10, y: 20, width: 30, height: 40 });
  at.editor.add('line', { x1: 0, y1: 0, x2: 300, y2: 0 });
  at.editor.setPage({ x: 5, y: 0 });
  at.editor.add('rect', { x: 5, y: 190, width: 20, height: 10 });
  at.actions.rotatePage(1);
  expect(at.drawing.page).toMatchObject({ x: 5, y: 0, width: 200, height: 300 });
  expect(getRoundedSpans(at)).toEqual([
    [145, 5, 40, 30],
    [205, -5, 0, 300],
    [5, 0, 10, 20],
  ]);
  expect(at.editor.undo() && at.drawing.page).toMatchObject({ width: 300, height: 200 });
});

verifies('canvas.studio/arrange', 'a crop is of whole pixels, and what is locked is let be', () => {
  const at = withRects([0, 0, 10, 10]);
  expect(at.actions.crop({ x: 10.4, y: 20.6, width: 100, height: 50 })).toBe(true);
  expect(at.drawing.page).toMatchObject({ x: 10, y: 21, width: 100, height: 50 });
  expect(at.actions.crop({ x: 10, y: 21, width: 100, height: 50 })).toBe(false);
  const all = getIds(at);
  at.actions.setFlag(all, 'locked', true);
  const before = getState(at);
  const { actions } = at;
  const counts = [
    actions.remove(all),
    actions.nudge(all, 5, 5),
    actions.rotate(all, 5),
    actions.flip(all, 'x'),
    actions.order(all, 'back'),
  ];
  expect(counts).toEqual([0, 0, 0, 0, 0]);
  expect(getState(at)).toEqual(before);
  expect(actions.setFlag(all, 'locked', false)).toBe(1);
});

verifies('canvas.studio/clipboard', 'what was copied is put elsewhere under new ids, in the order of the pile', () => {
  const from = createTestEditor('there');
  for (const kind of KIND_NAMES) from.editor.add(kind, SAMPLES[kind]);
  from.actions.setFlag(getIds(from), 'locked', true);
  const to = createTestEditor();
  const text = shapesToText(from.drawing.shapes);
  const first = to.actions.paste(text, [150, 100]) ?? expect.fail();
  const second = to.actions.paste(text) ?? expect.fail();
  expect(new Set([...getIds(from), ...first, ...second]).size).toBe(KIND_NAMES.length * 3);
  expect(to.drawing.shapes.map(({ kind }) => kind)).toEqual([...KIND_NAMES, ...KIND_NAMES]);
  expect(to.drawing.shapes.every(({ locked }) => !locked)).toBe(true);
  const strip = ({ id: _, order: __, locked: ___, ...shape }: Shape): unknown => shape;
  // Next to its original, so that both are visible.
  const moved = createTestEditor();
  moved.actions.paste(text);
  moved.actions.nudge(getIds(moved), -16, -16);
  expectClose(collectNumbers(moved.drawing.shapes.map(strip)), collectNumbers(from.drawing.shapes.map(strip)));
  expect([to.editor.undo(), to.editor.undo(), to.editor.undo()]).toEqual([true, true, false]);
});

verifies('canvas.studio/clipboard', 'other text is refused, and so is what has something in it that does not belong there', () => {
  const at = createTestEditor();
  const rect = createSampleShape('rect');
  const clip = (more: object): string => JSON.stringify({ format: 'perch-shapes', version: 1, shapes: [rect], ...more });
  expect(at.actions.paste(clip({}))).toHaveLength(1);
  const refused = [
    '',
    'hello',
    '{}',
    '[1]',
    clip({ format: 'excalidraw/clipboard' }),
    clip({ version: 2 }),
    clip({ shapes: [] }),
    clip({ shapes: [{ ...rect, onclick: 'x' }] }),
    clip({ shapes: [{ ...rect, x: 1e300 }] }),
    clip({ shapes: [{ ...createSampleShape('image'), src: 'https://elsewhere/x.png' }] }),
  ];
  for (const text of refused) expect(at.actions.paste(text), text).toBeUndefined();
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void expect(at.actions.paste(text)).toBeUndefined()));
  expect(at.drawing.shapes).toHaveLength(1);
});
