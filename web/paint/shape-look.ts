import type { Shape } from '#shared/canvas/shape-fields.ts';
import { type Box, getPaintedBounds, getFrame } from '#shared/canvas/geometry.ts';
import { type Mark, getMarks } from '#shared/canvas/marks.ts';
import type { PathElement } from '#shared/canvas/path.ts';
import { measureText } from './measure-text.ts';

/** Computed appearance of a shape, cached per object, as shapes are immutable. */
export interface ShapeLook {
  readonly frame: Box;
  /** Bounds of everything painted, including rotation. */
  readonly bounds: Box;
  readonly marks: readonly Mark[];
  /** Returns the outline of a mark. */
  path(mark: Extract<Mark, { type: 'path' }>): Path2D;
}

const looks = new WeakMap<Shape, ShapeLook>();

/** Returns the appearance of a shape in this browser. */
export function getShapeLook(shape: Shape): ShapeLook {
  const cached = looks.get(shape);
  if (cached) return cached;
  const shapeLook = createShapeLook(shape);
  looks.set(shape, shapeLook);
  return shapeLook;
}

function createShapeLook(shape: Shape): ShapeLook {
  const marks = getMarks(shape, measureText);
  const paths = new Map<Mark, Path2D>();
  let bounds: Box | undefined;
  return {
    frame: getFrame(shape, measureText),
    marks,
    get bounds() {
      return (bounds ??= getPaintedBounds(shape, measureText));
    },
    path(mark) {
      const path2d = paths.get(mark) ?? new Path2D();
      if (!paths.has(mark)) for (const element of mark.elements) tracePath(path2d, element);
      paths.set(mark, path2d);
      return path2d;
    },
  };
}

function tracePath(path: Path2D, element: PathElement): void {
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
