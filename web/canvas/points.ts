import type { Point } from '#shared/canvas/path.ts';

/** A point as a pair or as an object. */
export type PointLike = Point | { readonly x: number; readonly y: number };

/** Converts points to pairs of numbers. Throws a TypeError that names the first point of neither form. */
export function toPoints(points: readonly PointLike[]): [number, number][] {
  if (!Array.isArray(points)) throw new TypeError('A polygon needs a list of points, such as [[0, 0], [20, 0], [10, 15]].');
  return points.map((point: unknown, index) => {
    const [x, y]: unknown[] = Array.isArray(point)
      ? point
      : typeof point === 'object' && point !== null
        ? [Reflect.get(point, 'x'), Reflect.get(point, 'y')]
        : [];
    if (typeof x !== 'number' || typeof y !== 'number')
      throw new TypeError(`Point ${index + 1} of the polygon must be [x, y] or { x, y } with two numbers.`);
    return [x, y];
  });
}
