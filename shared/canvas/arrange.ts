import type { Box } from './geometry.ts';
import type { Axis } from './transform.ts';

export type Edge = 'left' | 'center' | 'right' | 'top' | 'middle' | 'bottom';

/** Offset of a move, as x and y. */
export type Shift = readonly [dx: number, dy: number];

/** Computes the offset of each box that aligns its edge or centre with that of `area`. */
export function computeAlignment(boxes: readonly Box[], edge: Edge, area: Box): Shift[] {
  return boxes.map(({ x, y, width, height }): Shift => {
    switch (edge) {
      case 'left':
        return [area.x - x, 0];
      case 'center':
        return [area.x + area.width / 2 - x - width / 2, 0];
      case 'right':
        return [area.x + area.width - x - width, 0];
      case 'top':
        return [0, area.y - y];
      case 'middle':
        return [0, area.y + area.height / 2 - y - height / 2];
      case 'bottom':
        return [0, area.y + area.height - y - height];
    }
  });
}

/** Computes the offset of each box that makes the gaps between them equal. The first and last don't move; with fewer than three boxes, none does. */
export function computeDistribution(boxes: readonly Box[], axis: Axis): Shift[] {
  const extents = boxes.map((box, nth) => ({ nth, start: box[axis], length: axis === 'x' ? box.width : box.height }));
  const sorted = extents.toSorted((a, b) => a.start + a.length / 2 - (b.start + b.length / 2));
  const [first, last] = [sorted[0], sorted.at(-1)];
  const shifts = boxes.map((): Shift => [0, 0]);
  if (!first || !last || sorted.length < 3) return shifts;
  const between = sorted.slice(1, -1);
  const usedLength = between.reduce((sum, { length }) => sum + length, 0);
  const gap = (last.start - first.start - first.length - usedLength) / (sorted.length - 1);
  let at = first.start + first.length + gap;
  for (const { nth, start, length } of between) {
    shifts[nth] = axis === 'x' ? [at - start, 0] : [0, at - start];
    at += length + gap;
  }
  return shifts;
}
