import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import type { Shape } from './shape-fields.ts';
import { type Box, getPaintedBounds, fitShape, getFrame, isHit, findShapeAt, isWithin } from './geometry.ts';
import { getMarks, getContrastColor } from './marks.ts';
import { kindArbitrary, KIND_NAMES, createSampleShape } from './shape-samples.ts';

// Avoids `-0` when rounding from below.
const roundBox = ({ x, y, width, height }: Box): number[] => [x, y, width, height].map((value) => Math.round(value) + 0);

verifies('canvas.list/geometry', 'what each kind spans, and what it paints beyond that', () => {
  const spans: Partial<Record<Shape['kind'], [number[], number[]]>> = {
    rect: [
      [10, 20, 30, 40],
      [10, 20, 30, 40],
    ],
    ellipse: [
      [30, 40, 40, 20],
      [30, 40, 40, 20],
    ],
    line: [
      [0, 0, 30, 40],
      [-2, -2, 34, 44],
    ],
    arrow: [
      [0, 0, 100, 0],
      [-1, -7, 101, 14],
    ],
    star: [
      [20, 20, 60, 60],
      [21, 20, 57, 54],
    ],
    path: [
      [0, -6, 70, 56],
      [0, -6, 70, 56],
    ],
    highlighter: [
      [0, 0, 80, 0],
      [-9, -9, 98, 18],
    ],
    marker: [
      [16, 16, 28, 28],
      [16, 16, 28, 28],
    ],
    callout: [
      [20, 20, 120, 60],
      [10, 20, 131, 131],
    ],
  };
  for (const [kind, [frame, bounds]] of Object.entries(spans)) {
    const shape = createSampleShape(kind as Shape['kind']);
    expect(roundBox(getFrame(shape)), kind).toEqual(frame);
    expect(roundBox(getPaintedBounds(shape)), kind).toEqual(bounds);
  }
  expect(roundBox(getPaintedBounds(createSampleShape('rect', { rotation: 90 })))).toEqual([5, 25, 40, 30]);
});

verifies('canvas.list/geometry', 'a pen’s line is as wide as it was pressed', () => {
  const wide = (pressure: number): number => {
    const trace = Array.from({ length: 20 }, (_, at): [number, number, number] => [at * 5, 0, pressure]);
    return getPaintedBounds(createSampleShape('pen', { trace, strokeWidth: 20 })).height;
  };
  expect(wide(1)).toBeGreaterThan(wide(0.5) * 1.3);
  expect(wide(0.5)).toBeGreaterThan(wide(0) * 1.3);
});

verifies('canvas.list/geometry', 'a point hits what is painted there: an outline is hollow, what is turned is hit turned', () => {
  const solid = createSampleShape('rect', { x: 0, y: 0, width: 100, height: 20 });
  expect([isHit(solid, [50, 10]), isHit(solid, [50, 21]), isHit(solid, [50, 21], 2)]).toEqual([true, false, true]);
  const hollow = { ...solid, fill: false, strokeWidth: 4 };
  expect([isHit(hollow, [50, 10]), isHit(hollow, [50, 1]), isHit(hollow, [50, -2])]).toEqual([false, true, true]);
  const upright = { ...solid, rotation: 90 };
  expect([isHit(upright, [50, 50]), isHit(upright, [10, 10])]).toEqual([true, false]);
  const star = createSampleShape('star');
  expect([isHit(star, [50, 50]), isHit(star, [50, 21]), isHit(star, [75, 75])]).toEqual([true, true, false]);
  const pile = [solid, { ...solid, id: 'top' }, { ...solid, id: 'hidden', hidden: true }, { ...solid, id: 'locked', locked: true }];
  expect(findShapeAt(pile, [50, 10])?.id).toBe('top');
  expect(findShapeAt(pile, [50, 300])).toBeUndefined();
});

verifies('canvas.list/geometry', 'any shape goes to another box and back', () => {
  const box = fc.record({
    x: fc.integer({ min: -500, max: 500 }),
    y: fc.integer({ min: -500, max: 500 }),
    width: fc.integer({ min: 10, max: 500 }),
    height: fc.integer({ min: 10, max: 500 }),
  });
  fc.assert(
    fc.property(kindArbitrary, box, (kind, to) => {
      const shape = createSampleShape(kind);
      const from = getFrame(shape);
      const fitted = { ...shape, ...fitShape(shape, from, to) } as Shape;
      if (!['text', 'marker', 'star', 'arrow', 'highlighter'].includes(kind)) expect(roundBox(getFrame(fitted))).toEqual(roundBox(to));
      const back = { ...fitted, ...fitShape(fitted, to, from) } as Shape;
      expect(roundBox(getFrame(back))).toEqual(roundBox(from));
    }),
  );
  const flipped = fitShape(createSampleShape('line'), { x: 0, y: 0, width: 30, height: 40 }, { x: 30, y: 0, width: -30, height: 40 });
  expect(flipped).toMatchObject({ x1: 30, x2: 0, y1: 0, y2: 40 });
});

verifies('canvas.list/geometry', 'bounds hold all that is hit', () => {
  fc.assert(
    fc.property(
      kindArbitrary,
      fc.integer({ min: 0, max: 359 }),
      fc.integer({ min: -60, max: 200 }),
      fc.integer({ min: -60, max: 200 }),
      (kind, rotation, x, y) => {
        const plain = createSampleShape(kind);
        const shape = 'rotation' in plain ? { ...plain, rotation } : plain;
        const { x: left, y: top, width, height } = getPaintedBounds(shape);
        const generous = { x: left - 0.01, y: top - 0.01, width: width + 0.02, height: height + 0.02 };
        if (isHit(shape, [x, y])) expect(isWithin({ x, y, width: 0, height: 0 }, generous)).toBe(true);
      },
    ),
    { numRuns: 1000 },
  );
});

verifies('canvas.list/shapes', 'a marker’s number can be read on its colour, and a redaction is never see-through', () => {
  expect([getContrastColor('#d92d20'), getContrastColor('#ffe600'), getContrastColor('#000')]).toEqual(['#ffffff', '#000000', '#ffffff']);
  for (const color of ['#123', '#1234', '#112233', '#11223344'])
    expect(getMarks(createSampleShape('redaction', { color }))).toMatchObject([
      { type: 'solid', color: color.length > 5 ? '#112233' : '#123' },
    ]);
  for (const kind of KIND_NAMES) expect(getMarks(createSampleShape(kind)).length, kind).toBeGreaterThan(0);
});
