import type { Box } from './geometry.ts';
import type { Axis } from './transform.ts';

/** A line to show between the snapped box and its target. */
export interface Guide {
  /** `x`: an upright line at that x. */
  readonly axis: Axis;
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** A snap position along an axis, and its extent along the other. */
interface Line {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}
export type SnapLines = Readonly<Record<Axis, readonly Line[]>>;

/** The edges and middles of boxes. */
export function snapLines(boxes: readonly Box[]): SnapLines {
  const of = (start: number, length: number, from: number, to: number): Line[] =>
    [start, start + length / 2, start + length].map((at) => ({ at, from, to }));
  return {
    x: boxes.flatMap(({ x, y, width, height }) => of(x, width, y, y + height)),
    y: boxes.flatMap(({ x, y, width, height }) => of(y, height, x, x + width)),
  };
}

/** Parts of a box that snap: all its edges and middles, or the dragged ones. */
export type Snapping = Readonly<Record<Axis, readonly ('start' | 'middle' | 'end')[]>>;
export const WHOLE: Snapping = { x: ['start', 'middle', 'end'], y: ['start', 'middle', 'end'] };

/** How far to move a box, or its dragged sides, to the nearest lines that are no further than `reach`; and those lines. */
export function snapped(box: Box, lines: SnapLines, reach: number, what: Snapping = WHOLE): { dx: number; dy: number; guides: Guide[] } {
  const [dx, dy] = [nearest(box.x, box.width, lines.x, what.x, reach), nearest(box.y, box.height, lines.y, what.y, reach)];
  const [x, y] = [box.x + (dx ?? 0), box.y + (dy ?? 0)];
  return {
    dx: dx ?? 0,
    dy: dy ?? 0,
    guides: [
      ...(dx === undefined ? [] : guides('x', places(x, box.width, what.x), lines.x, [y, y + box.height])),
      ...(dy === undefined ? [] : guides('y', places(y, box.height, what.y), lines.y, [x, x + box.width])),
    ],
  };
}

const PART = { start: 0, middle: 0.5, end: 1 } as const;
const places = (start: number, length: number, what: Snapping[Axis]): number[] => what.map((part) => start + length * PART[part]);

function nearest(start: number, length: number, lines: readonly Line[], what: Snapping[Axis], reach: number): number | undefined {
  let best: number | undefined;
  for (const place of places(start, length, what))
    for (const { at } of lines)
      if (Math.abs(at - place) <= reach && (best === undefined || Math.abs(at - place) < Math.abs(best))) best = at - place;
  return best;
}

/** One for each place that is met, as long as all that lies on it. */
function guides(axis: Axis, met: readonly number[], lines: readonly Line[], [from, to]: readonly [number, number]): Guide[] {
  return met.flatMap((at) => {
    const on = lines.filter((line) => Math.abs(line.at - at) < 1e-6);
    if (on.length === 0) return [];
    return [{ axis, at, from: Math.min(from, ...on.map((line) => line.from)), to: Math.max(to, ...on.map((line) => line.to)) }];
  });
}
