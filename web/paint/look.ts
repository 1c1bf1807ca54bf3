import type { Shape } from '#shared/canvas/fields.ts';
import { type Box, boundsOf, frameOf } from '#shared/canvas/geometry.ts';
import { type Mark, marksOf } from '#shared/canvas/marks.ts';
import type { PathElement } from '#shared/canvas/path.ts';
import { measureText } from './measure.ts';

/** Computed appearance of a shape, cached: a shape that changes is another object. */
export interface Look {
  readonly frame: Box;
  /** All that it paints, turned. */
  readonly bounds: Box;
  readonly marks: readonly Mark[];
  /** A mark's outline. */
  path(mark: Extract<Mark, { type: 'path' }>): Path2D;
}

const looks = new WeakMap<Shape, Look>();

/** Returns the appearance of a shape in this browser. */
export function lookOf(shape: Shape): Look {
  const known = looks.get(shape);
  if (known) return known;
  const look = newLook(shape);
  looks.set(shape, look);
  return look;
}

function newLook(shape: Shape): Look {
  const marks = marksOf(shape, measureText);
  const paths = new Map<Mark, Path2D>();
  let bounds: Box | undefined;
  return {
    frame: frameOf(shape, measureText),
    marks,
    get bounds() {
      return (bounds ??= boundsOf(shape, measureText));
    },
    path(mark) {
      const made = paths.get(mark) ?? new Path2D();
      if (!paths.has(mark)) for (const element of mark.elements) trace(made, element);
      paths.set(mark, made);
      return made;
    },
  };
}

function trace(path: Path2D, element: PathElement): void {
  switch (element.type) {
    case 'move':
      return path.moveTo(element.x, element.y);
    case 'line':
      return path.lineTo(element.x, element.y);
    case 'quadratic':
      return path.quadraticCurveTo(element.x1, element.y1, element.x, element.y);
    case 'cubic':
      return path.bezierCurveTo(element.x1, element.y1, element.x2, element.y2, element.x, element.y);
    case 'close':
      return path.closePath();
  }
}
