import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { snapToAxis, snapToAngle, toSquareCorner } from './constrain.ts';
import type { Shape } from './shape-fields.ts';
import { getFrame, getRotation, rotatePoint } from './geometry.ts';
import { resizeBox, type Handle, findHandleAt, computeSelectionFrame, isInFrame, getSpan, getCombinedSpan } from './handles.ts';
import { toSnapLines, computeSnap } from './snap.ts';
import { kindArbitrary, createSampleShape } from './shape-samples.ts';
import { normalizeAngle, reframeShape, resizeShape, rotateShape } from './transform.ts';

verifies('canvas.studio/select', 'a corner that is dragged goes where the pointer is, and the opposite one stays, turned or not', () => {
  const opposite: Partial<Record<Handle, Handle>> = { nw: 'se', ne: 'sw', se: 'nw', sw: 'ne' };
  fc.assert(
    fc.property(
      kindArbitrary.filter((kind) => !['line', 'arrow', 'text', 'marker', 'star', 'redaction', 'blur', 'highlighter'].includes(kind)),
      fc.integer({ min: -180, max: 180 }),
      fc.constantFrom('nw' as const, 'ne' as const, 'se' as const, 'sw' as const),
      fc.integer({ min: 5, max: 90 }),
      fc.integer({ min: 5, max: 90 }),
      (kind, rotation, handle, wide, high) => {
        const shape = createSampleShape(kind, { rotation } as object);
        const before = computeSelectionFrame([shape], 20) ?? expect.fail();
        const place = (of: typeof before, name?: Handle) => of.handles.find((each) => each.name === name)?.at ?? expect.fail();
        const fixed = place(before, opposite[handle]);
        // Away from the corner that stays, in the shape's own directions.
        const [x, y] = rotatePoint(fixed, before.box, -rotation);
        const to = rotatePoint(
          [x + (handle.includes('w') ? -wide : wide), y + (handle.includes('n') ? -high : high)],
          before.box,
          rotation,
        );
        const box = resizeBox(before.box, handle, rotatePoint(to, before.box, -rotation));
        const after = { ...shape, ...reframeShape(shape, box) } as Shape;
        const hold = computeSelectionFrame([after], 20) ?? expect.fail();
        for (const [now, then] of [
          [place(hold, opposite[handle]), fixed],
          [place(hold, handle), to],
        ] as const) {
          expect(now[0]).toBeCloseTo(then[0], 4);
          expect(now[1]).toBeCloseTo(then[1], 4);
        }
      },
    ),
  );
});

verifies('canvas.studio/select', 'a box never turns over, and keeps its proportions where it is to', () => {
  const box = { x: 10, y: 10, width: 40, height: 20 };
  expect(resizeBox(box, 'se', [0, 0])).toEqual({ x: 10, y: 10, width: 1, height: 1 });
  expect(resizeBox(box, 'w', [30, 99])).toEqual({ x: 30, y: 10, width: 20, height: 20 });
  expect(resizeBox(box, 'n', [99, 0])).toEqual({ x: 10, y: 0, width: 40, height: 30 });
  expect(resizeBox(box, 'se', [90, 20], true)).toEqual({ x: 10, y: 10, width: 80, height: 40 });
  expect(resizeBox(box, 'nw', [10, -10], true)).toEqual({ x: -30, y: -10, width: 80, height: 40 });
  // A horizontal line has no height to scale.
  expect(resizeBox({ ...box, height: 0 }, 'e', [90, 50])).toEqual({ ...box, width: 80, height: 0 });
});

verifies('canvas.studio/select', 'several are made larger and turned together, those that cannot be turned too', () => {
  const shapes = [
    createSampleShape('rect', { rotation: 90 }),
    createSampleShape('redaction'),
    createSampleShape('line'),
    createSampleShape('pen'),
  ];
  const from = getCombinedSpan(shapes);
  const to = { x: 0, y: 0, width: from.width * 2, height: from.height * 3 };
  const larger = shapes.map((shape) => ({ ...shape, ...resizeShape(shape, from, to) }) as Shape);
  const around = getCombinedSpan(larger);
  for (const side of ['x', 'y', 'width', 'height'] as const) expect(around[side]).toBeCloseTo(to[side], 6);
  expect(larger[0]).toMatchObject({ width: 90, height: 80 });
  const middle = [50, 50] as const;
  const quarter = shapes.map((shape) => ({ ...shape, ...rotateShape(shape, middle, 90) }) as Shape);
  expect(quarter[1]).toMatchObject({ x: 70, y: 10, width: 20, height: 40 });
  expect(getRotation(quarter[0] ?? expect.fail())).toBe(180);
  expect(rotateShape(createSampleShape('redaction'), middle, 45)).not.toHaveProperty('width');
  expect([normalizeAngle(540), normalizeAngle(-190), normalizeAngle(-180), normalizeAngle(360)]).toEqual([180, 170, 180, 0]);
});

verifies('canvas.studio/select', 'the handles of each kind, and which one is meant', () => {
  const names = (...shapes: Shape[]): string =>
    computeSelectionFrame(shapes, 20)
      ?.handles.map(({ name }) => name)
      .join(' ') ?? '';
  expect(names()).toBe('');
  expect(names(createSampleShape('rect'))).toBe('nw ne se sw n e s w turn');
  expect(names(createSampleShape('arrow'))).toBe('start end');
  expect(names(createSampleShape('text'))).toBe('nw ne se sw turn');
  expect(names(createSampleShape('redaction'))).toBe('nw ne se sw n e s w');
  expect(names(createSampleShape('callout'))).toBe('nw ne se sw n e s w turn tip');
  expect(names(createSampleShape('rect', { locked: true }))).toBe('');
  expect(names(createSampleShape('rect'), createSampleShape('line'))).toBe('nw ne se sw n e s w turn');
  const hold = computeSelectionFrame([createSampleShape('rect', { rotation: 90 })], 20) ?? expect.fail();
  // A rotated box of 30 × 40 around (25, 40): its left upper corner is now the right upper one.
  expect(findHandleAt(hold, [46, 24], 5)).toBe('nw');
  expect(findHandleAt(hold, [25, 40], 5)).toBeUndefined();
  expect([isInFrame(hold, [44, 40]), isInFrame(hold, [25, 58])]).toEqual([true, false]);
  expect(getSpan(createSampleShape('line'))).toEqual(getFrame(createSampleShape('line')));
});

verifies('canvas.studio/select', 'edges and middles snap to the nearest, no further than they should, with a line between', () => {
  const lines = toSnapLines([
    { x: 0, y: 0, width: 300, height: 200 },
    { x: 50, y: 50, width: 20, height: 20 },
  ]);
  expect(computeSnap({ x: 53, y: 120, width: 60, height: 10 }, lines, 6)).toEqual({
    dx: -3,
    dy: 0,
    guides: [{ axis: 'x', at: 50, from: 50, to: 130 }],
  });
  // The middle of the sheet, both ways.
  expect(computeSnap({ x: 138, y: 97, width: 20, height: 10 }, lines, 6)).toMatchObject({ dx: 2, dy: -2 });
  expect(computeSnap({ x: 78, y: 120, width: 5, height: 5 }, lines, 6)).toEqual({ dx: 0, dy: 0, guides: [] });
  // Only the side that is dragged.
  expect(computeSnap({ x: 53, y: 120, width: 244, height: 10 }, lines, 6, { x: ['end'], y: [] })).toMatchObject({ dx: 3, dy: 0 });
});

verifies('canvas.studio/tools', 'Shift makes squares, and lines of whole steps of 15°', () => {
  expect(toSquareCorner([10, 10], [30, 5])).toEqual([30, -10]);
  expect(toSquareCorner([10, 10], [0, 40])).toEqual([-20, 40]);
  expect(snapToAxis([0, 0], [5, -9])).toEqual([0, -9]);
  fc.assert(
    fc.property(fc.integer({ min: -99, max: 99 }), fc.integer({ min: -99, max: 99 }), (x, y) => {
      const [toX, toY] = snapToAngle([0, 0], [x, y]);
      expect(Math.hypot(toX, toY)).toBeCloseTo(Math.hypot(x, y), 6);
      const steps = (Math.atan2(toY, toX) * 12) / Math.PI;
      expect(Math.abs(steps - Math.round(steps))).toBeLessThan(1e-6);
    }),
  );
});
