import type { Box } from '#shared/canvas/geometry.ts';
import { type Handle, type SelectionFrame } from '#shared/canvas/handles.ts';
import type { Point } from '#shared/canvas/path.ts';

/** A frame's corners and sides. */
export function createCropHandles(box: Box): SelectionFrame {
  const { x, y, width, height } = box;
  const handlePoints: Record<Exclude<Handle, 'turn' | 'start' | 'end' | 'tip'>, Point> = {
    nw: [x, y],
    n: [x + width / 2, y],
    ne: [x + width, y],
    e: [x + width, y + height / 2],
    se: [x + width, y + height],
    s: [x + width / 2, y + height],
    sw: [x, y + height],
    w: [x, y + height / 2],
  };
  return { box, rotation: 0, handles: Object.entries(handlePoints).map(([name, at]) => ({ name: name as Handle, at })) };
}
