import type { FieldValues } from './change.ts';
import type { Shape } from './shape-fields.ts';
import { type Box, fitShape, getFrame, getRotation, rotatePoint } from './geometry.ts';
import { estimateWidth, type MeasureText } from './marks.ts';
import type { Point } from './path.ts';

/** Mirror axis: `x` swaps left and right, `y` swaps top and bottom. */
export type Axis = 'x' | 'y';

export const getCenter = ({ x, y, width, height }: Box): Point => [x + width / 2, y + height / 2];

/** Only the changed fields: others may be edited concurrently. */
function getChangedFields(shape: Shape, set: FieldValues): FieldValues {
  return Object.fromEntries(Object.entries(set).filter(([field, value]) => Reflect.get(shape, field) !== value));
}

/** Returns the fields of a shape moved by CSS pixels. */
export const moveShape = (shape: Shape, dx: number, dy: number): FieldValues =>
  getChangedFields(shape, fitShape(shape, { x: 0, y: 0, width: 1, height: 1 }, { x: dx, y: dy, width: 1, height: 1 }));

/** Normalizes an angle to the range from -180 (exclusive) to 180. */
export function normalizeAngle(degrees: number): number {
  const positive = ((degrees % 360) + 360) % 360;
  return positive > 180 ? positive - 360 : positive;
}

/** Returns the fields of a shape rotated clockwise about a point. A shape without rotation swaps its sides at quarter turns, and otherwise only moves. */
export function rotateShape(shape: Shape, center: Point, degrees: number, measure: MeasureText = estimateWidth): FieldValues {
  const frame = getFrame(shape, measure);
  const [cx, cy] = getCenter(frame);
  const [x, y] = rotatePoint([cx, cy], { x: center[0], y: center[1], width: 0, height: 0 }, degrees);
  if ('rotation' in shape)
    return getChangedFields(shape, { ...moveShape(shape, x - cx, y - cy), rotation: normalizeAngle(shape.rotation + degrees) });
  const [width, height] = Math.abs(normalizeAngle(degrees)) === 90 ? [frame.height, frame.width] : [frame.width, frame.height];
  return getChangedFields(shape, { x: x - width / 2, y: y - height / 2, width, height });
}

/** Returns the fields of a shape mirrored on a line at `at`. Letters stay readable. */
export function mirrorShape(shape: Shape, axis: Axis, at: number, measure: MeasureText = estimateWidth): FieldValues {
  const { x, y, width, height } = getFrame(shape, measure);
  const to = axis === 'x' ? { x: 2 * at - x - width, y, width, height } : { x, y: 2 * at - y - height, width, height };
  const frame = { x, y, width, height };
  if (shape.kind === 'text' || shape.kind === 'marker')
    return getChangedFields(shape, { ...moveShape(shape, to.x - x, to.y - y), rotation: normalizeAngle(-shape.rotation) });
  const across = axis === 'x' ? { ...to, x: to.x + width, width: -width } : { ...to, y: to.y + height, height: -height };
  const set = { ...fitShape(shape, frame, across), ...('rotation' in shape ? { rotation: normalizeAngle(-shape.rotation) } : {}) };
  // Shapes that are symmetric, or have only one mirror field, are rotated instead.
  const rotation =
    axis === 'y' && (shape.kind === 'star' || shape.kind === 'image') ? { rotation: normalizeAngle(180 - shape.rotation) } : {};
  return getChangedFields(shape, { ...set, ...rotation, ...(shape.kind === 'image' ? { mirrored: !shape.mirrored } : {}) });
}

/**
 * The fields of one of several shapes that are scaled together from one box to another. Shapes rotated by other than right angles keep
 * their proportions.
 */
export function resizeShape(shape: Shape, from: Box, to: Box, measure: MeasureText = estimateWidth): FieldValues {
  const [sx, sy] = [from.width === 0 ? 1 : to.width / from.width, from.height === 0 ? 1 : to.height / from.height];
  const frame = getFrame(shape, measure);
  const [cx, cy] = getCenter(frame);
  const [x, y] = [to.x + (cx - from.x) * sx, to.y + (cy - from.y) * sy];
  const even = Math.sqrt(sx * sy);
  const quarterOffset = Math.abs(normalizeAngle(getRotation(shape))) % 180;
  const [wide, high] = quarterOffset === 0 ? [sx, sy] : quarterOffset === 90 ? [sy, sx] : [even, even];
  const [width, height] = [frame.width * wide, frame.height * high];
  return getChangedFields(shape, fitShape(shape, frame, { x: x - width / 2, y: y - height / 2, width, height }));
}

/** The fields of a shape whose frame changes, as seen before its rotation. The opposite side stays in place on the screen. */
export function reframeShape(shape: Shape, to: Box, measure: MeasureText = estimateWidth): FieldValues {
  const from = getFrame(shape, measure);
  const [cx, cy] = getCenter(to);
  const [x, y] = rotatePoint([cx, cy], from, getRotation(shape));
  return getChangedFields(shape, fitShape(shape, from, { ...to, x: to.x + x - cx, y: to.y + y - cy }));
}
