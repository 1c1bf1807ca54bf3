import type { Box } from './geometry.ts';
import type { Axis } from './transform.ts';

/** A line to show between the snapped box and its target. */
export interface Guide {
  /** `x`: a vertical line at that x. */
  readonly axis: Axis;
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** A snap position along an axis, and its extent along the other. */
interface SnapLine {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}
export type SnapLines = Readonly<Record<Axis, readonly SnapLine[]>>;

/** The edges and middles of boxes. */
export function toSnapLines(boxes: readonly Box[]): SnapLines {
  const toLines = (start: number, length: number, from: number, to: number): SnapLine[] =>
    [start, start + length / 2, start + length].map((at) => ({ at, from, to }));
  return {
    x: boxes.flatMap(({ x, y, width, height }) => toLines(x, width, y, y + height)),
    y: boxes.flatMap(({ x, y, width, height }) => toLines(y, height, x, x + width)),
  };
}

/** Parts of a box that snap: all its edges and middles, or the dragged ones. */
export type SnapParts = Readonly<Record<Axis, readonly ('start' | 'middle' | 'end')[]>>;
export const ALL_PARTS: SnapParts = { x: ['start', 'middle', 'end'], y: ['start', 'middle', 'end'] };

/** Computes the offset that snaps a box, or its dragged sides, to the nearest lines within `reach`, and the guides to show. */
export function computeSnap(
  box: Box,
  lines: SnapLines,
  reach: number,
  parts: SnapParts = ALL_PARTS,
): { dx: number; dy: number; guides: Guide[] } {
  const [dx, dy] = [
    findNearestOffset(box.x, box.width, lines.x, parts.x, reach),
    findNearestOffset(box.y, box.height, lines.y, parts.y, reach),
  ];
  const [x, y] = [box.x + (dx ?? 0), box.y + (dy ?? 0)];
  return {
    dx: dx ?? 0,
    dy: dy ?? 0,
    guides: [
      ...(dx === undefined ? [] : createGuides('x', getPartPositions(x, box.width, parts.x), lines.x, [y, y + box.height])),
      ...(dy === undefined ? [] : createGuides('y', getPartPositions(y, box.height, parts.y), lines.y, [x, x + box.width])),
    ],
  };
}

const PART_RATIOS = { start: 0, middle: 0.5, end: 1 } as const;
const getPartPositions = (start: number, length: number, parts: SnapParts[Axis]): number[] =>
  parts.map((part) => start + length * PART_RATIOS[part]);

function findNearestOffset(
  start: number,
  length: number,
  lines: readonly SnapLine[],
  parts: SnapParts[Axis],
  reach: number,
): number | undefined {
  let best: number | undefined;
  for (const place of getPartPositions(start, length, parts))
    for (const { at } of lines)
      if (Math.abs(at - place) <= reach && (best === undefined || Math.abs(at - place) < Math.abs(best))) best = at - place;
  return best;
}

/** Creates a guide for each snapped position, spanning all boxes that lie on it. */
function createGuides(
  axis: Axis,
  positions: readonly number[],
  lines: readonly SnapLine[],
  [from, to]: readonly [number, number],
): Guide[] {
  return positions.flatMap((at) => {
    const on = lines.filter((line) => Math.abs(line.at - at) < 1e-6);
    if (on.length === 0) return [];
    return [{ axis, at, from: Math.min(from, ...on.map((line) => line.from)), to: Math.max(to, ...on.map((line) => line.to)) }];
  });
}
