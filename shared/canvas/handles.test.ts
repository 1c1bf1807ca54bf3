import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { alongTo, angledTo, squareTo } from './constrain.ts';
import type { Shape } from './fields.ts';
import { frameOf, rotationOf, turned } from './geometry.ts';
import { dragged, type Handle, handleAt, holdOf, isHeld, spanOf, spanOfAll } from './handles.ts';
import { snapLines, snapped } from './snap.ts';
import { anyKind, shapeOf } from './testing.ts';
import { angleOf, reframed, resizedWith, turnedAbout } from './transform.ts';

verifies('canvas.studio/select', 'a corner that is dragged goes where the pointer is, and the opposite one stays, turned or not', () => {
  const opposite: Partial<Record<Handle, Handle>> = { nw: 'se', ne: 'sw', se: 'nw', sw: 'ne' };
  fc.assert(
    fc.property(
      anyKind.filter((kind) => !['line', 'arrow', 'text', 'marker', 'star', 'redaction', 'blur', 'highlighter'].includes(kind)),
      fc.integer({ min: -180, max: 180 }),
      fc.constantFrom('nw' as const, 'ne' as const, 'se' as const, 'sw' as const),
      fc.integer({ min: 5, max: 90 }),
      fc.integer({ min: 5, max: 90 }),
      (kind, rotation, handle, wide, high) => {
        const shape = shapeOf(kind, { rotation } as object);
        const before = holdOf([shape], 20) ?? expect.fail();
        const place = (of: typeof before, name?: Handle) => of.handles.find((each) => each.name === name)?.at ?? expect.fail();
        const fixed = place(before, opposite[handle]);
        // Away from the corner that stays, in the shape's own directions.
        const [x, y] = turned(fixed, before.box, -rotation);
        const to = turned([x + (handle.includes('w') ? -wide : wide), y + (handle.includes('n') ? -high : high)], before.box, rotation);
        const box = dragged(before.box, handle, turned(to, before.box, -rotation));
        const after = { ...shape, ...reframed(shape, box) } as Shape;
        const hold = holdOf([after], 20) ?? expect.fail();
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
  expect(dragged(box, 'se', [0, 0])).toEqual({ x: 10, y: 10, width: 1, height: 1 });
  expect(dragged(box, 'w', [30, 99])).toEqual({ x: 30, y: 10, width: 20, height: 20 });
  expect(dragged(box, 'n', [99, 0])).toEqual({ x: 10, y: 0, width: 40, height: 30 });
  expect(dragged(box, 'se', [90, 20], true)).toEqual({ x: 10, y: 10, width: 80, height: 40 });
  expect(dragged(box, 'nw', [10, -10], true)).toEqual({ x: -30, y: -10, width: 80, height: 40 });
  // A horizontal line has no height to scale.
  expect(dragged({ ...box, height: 0 }, 'e', [90, 50])).toEqual({ ...box, width: 80, height: 0 });
});

verifies('canvas.studio/select', 'several are made larger and turned together, those that cannot be turned too', () => {
  const shapes = [shapeOf('rect', { rotation: 90 }), shapeOf('redaction'), shapeOf('line'), shapeOf('pen')];
  const from = spanOfAll(shapes);
  const to = { x: 0, y: 0, width: from.width * 2, height: from.height * 3 };
  const larger = shapes.map((shape) => ({ ...shape, ...resizedWith(shape, from, to) }) as Shape);
  const around = spanOfAll(larger);
  for (const side of ['x', 'y', 'width', 'height'] as const) expect(around[side]).toBeCloseTo(to[side], 6);
  expect(larger[0]).toMatchObject({ width: 90, height: 80 });
  const middle = [50, 50] as const;
  const quarter = shapes.map((shape) => ({ ...shape, ...turnedAbout(shape, middle, 90) }) as Shape);
  expect(quarter[1]).toMatchObject({ x: 70, y: 10, width: 20, height: 40 });
  expect(rotationOf(quarter[0] ?? expect.fail())).toBe(180);
  expect(turnedAbout(shapeOf('redaction'), middle, 45)).not.toHaveProperty('width');
  expect([angleOf(540), angleOf(-190), angleOf(-180), angleOf(360)]).toEqual([180, 170, 180, 0]);
});

verifies('canvas.studio/select', 'the handles of each kind, and which one is meant', () => {
  const names = (...shapes: Shape[]): string =>
    holdOf(shapes, 20)
      ?.handles.map(({ name }) => name)
      .join(' ') ?? '';
  expect(names()).toBe('');
  expect(names(shapeOf('rect'))).toBe('nw ne se sw n e s w turn');
  expect(names(shapeOf('arrow'))).toBe('start end');
  expect(names(shapeOf('text'))).toBe('nw ne se sw turn');
  expect(names(shapeOf('redaction'))).toBe('nw ne se sw n e s w');
  expect(names(shapeOf('callout'))).toBe('nw ne se sw n e s w turn tip');
  expect(names(shapeOf('rect', { locked: true }))).toBe('');
  expect(names(shapeOf('rect'), shapeOf('line'))).toBe('nw ne se sw n e s w turn');
  const hold = holdOf([shapeOf('rect', { rotation: 90 })], 20) ?? expect.fail();
  // A rotated box of 30 × 40 around (25, 40): its left upper corner is now the right upper one.
  expect(handleAt(hold, [46, 24], 5)).toBe('nw');
  expect(handleAt(hold, [25, 40], 5)).toBeUndefined();
  expect([isHeld(hold, [44, 40]), isHeld(hold, [25, 58])]).toEqual([true, false]);
  expect(spanOf(shapeOf('line'))).toEqual(frameOf(shapeOf('line')));
});

verifies('canvas.studio/select', 'edges and middles snap to the nearest, no further than they should, with a line between', () => {
  const lines = snapLines([
    { x: 0, y: 0, width: 300, height: 200 },
    { x: 50, y: 50, width: 20, height: 20 },
  ]);
  expect(snapped({ x: 53, y: 120, width: 60, height: 10 }, lines, 6)).toEqual({
    dx: -3,
    dy: 0,
    guides: [{ axis: 'x', at: 50, from: 50, to: 130 }],
  });
  // The middle of the sheet, both ways.
  expect(snapped({ x: 138, y: 97, width: 20, height: 10 }, lines, 6)).toMatchObject({ dx: 2, dy: -2 });
  expect(snapped({ x: 78, y: 120, width: 5, height: 5 }, lines, 6)).toEqual({ dx: 0, dy: 0, guides: [] });
  // Only the side that is dragged.
  expect(snapped({ x: 53, y: 120, width: 244, height: 10 }, lines, 6, { x: ['end'], y: [] })).toMatchObject({ dx: 3, dy: 0 });
});

verifies('canvas.studio/tools', 'Shift makes squares, and lines of whole steps of 15°', () => {
  expect(squareTo([10, 10], [30, 5])).toEqual([30, -10]);
  expect(squareTo([10, 10], [0, 40])).toEqual([-20, 40]);
  expect(alongTo([0, 0], [5, -9])).toEqual([0, -9]);
  fc.assert(
    fc.property(fc.integer({ min: -99, max: 99 }), fc.integer({ min: -99, max: 99 }), (x, y) => {
      const [toX, toY] = angledTo([0, 0], [x, y]);
      expect(Math.hypot(toX, toY)).toBeCloseTo(Math.hypot(x, y), 6);
      const steps = (Math.atan2(toY, toX) * 12) / Math.PI;
      expect(Math.abs(steps - Math.round(steps))).toBeLessThan(1e-6);
    }),
  );
});
