import type { Point } from './path.ts';

/** Returns the corner of the square that is dragged from one point towards another. */
export function toSquareCorner([x, y]: Point, [toX, toY]: Point): Point {
  const side = Math.max(Math.abs(toX - x), Math.abs(toY - y));
  return [x + (toX < x ? -side : side), y + (toY < y ? -side : side)];
}

/** Returns the point at the same distance in the nearest direction that is a multiple of `degrees`. */
export function snapToAngle([x, y]: Point, [toX, toY]: Point, degrees = 15): Point {
  const step = (degrees * Math.PI) / 180;
  const angle = Math.round(Math.atan2(toY - y, toX - x) / step) * step;
  const length = Math.hypot(toX - x, toY - y);
  return [x + length * Math.cos(angle), y + length * Math.sin(angle)];
}

/** Returns the nearest point on the horizontal or vertical line through another point. */
export const snapToAxis = ([x, y]: Point, [toX, toY]: Point): Point => (Math.abs(toX - x) >= Math.abs(toY - y) ? [toX, y] : [x, toY]);
