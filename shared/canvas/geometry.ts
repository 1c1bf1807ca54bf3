import type { FieldValues } from './change.ts';
import type { Page, Shape } from './shape-fields.ts';
import { estimateWidth, LINE_HEIGHT, type Mark, getMarks, type MeasureText } from './marks.ts';
import { flattenPath, type PathElement, type Point } from './path.ts';

/** A rectangle along the axes, in CSS pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Returns the bounding box of points. */
export function getBoundingBox(points: readonly Point[]): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x);
    bottom = Math.max(bottom, y);
  }
  return left > right ? { x: 0, y: 0, width: 0, height: 0 } : { x: left, y: top, width: right - left, height: bottom - top };
}

export const getCorners = ({ x, y, width, height }: Box): Point[] => [
  [x, y],
  [x + width, y],
  [x + width, y + height],
  [x, y + height],
];

/** Bounding box of a shape before rotation, without the width of its line: the box that has the handles. */
export function getFrame(shape: Shape, measure: MeasureText = estimateWidth): Box {
  switch (shape.kind) {
    case 'rect':
    case 'image':
    case 'redaction':
    case 'blur':
    case 'callout':
      return { x: shape.x, y: shape.y, width: shape.width, height: shape.height };
    case 'ellipse':
      return { x: shape.cx - shape.rx, y: shape.cy - shape.ry, width: 2 * shape.rx, height: 2 * shape.ry };
    case 'line':
    case 'arrow':
      return getBoundingBox([
        [shape.x1, shape.y1],
        [shape.x2, shape.y2],
      ]);
    case 'polygon':
    case 'highlighter':
      return getBoundingBox(shape.points);
    case 'pen':
      return getBoundingBox(shape.trace.map(([x, y]) => [x, y]));
    case 'marker':
      return { x: shape.x - shape.size / 2, y: shape.y - shape.size / 2, width: shape.size, height: shape.size };
    case 'star': {
      const reach = Math.max(shape.outer, shape.inner);
      return { x: shape.cx - reach, y: shape.cy - reach, width: 2 * reach, height: 2 * reach };
    }
    case 'path':
      return getBoundingBox(flattenPath(shape.elements).flat());
    case 'text':
      return getTextBox(shape, measure);
  }
}

function getTextBox({ x, y, text, size }: Shape<'text'>, measure: MeasureText): Box {
  const lines = text.split('\n');
  return { x, y, width: Math.max(...lines.map((line) => measure(line, size))), height: lines.length * size * LINE_HEIGHT };
}

/** Returns a shape's rotation in degrees, clockwise. */
export const getRotation = (shape: Shape): number => ('rotation' in shape ? shape.rotation : 0);

/** Rotates a point about the centre of a box. */
export function rotatePoint([x, y]: Point, { x: left, y: top, width, height }: Box, degrees: number): Point {
  if (degrees === 0) return [x, y];
  const [cx, cy] = [left + width / 2, top + height / 2];
  // Avoids rounding errors of π at right angles.
  const quarter = degrees % 90 === 0 ? (((degrees / 90) % 4) + 4) % 4 : undefined;
  const cos = quarter === undefined ? Math.cos((degrees * Math.PI) / 180) : ([1, 0, -1, 0][quarter] ?? 1);
  const sin = quarter === undefined ? Math.sin((degrees * Math.PI) / 180) : ([0, 1, 0, -1][quarter] ?? 0);
  return [cx + (x - cx) * cos - (y - cy) * sin, cy + (x - cx) * sin + (y - cy) * cos];
}

function getMarkBox(mark: Mark, measure: MeasureText): Box {
  switch (mark.type) {
    case 'path': {
      const { x, y, width, height } = getBoundingBox(flattenPath(mark.elements).flat());
      const half = mark.strokeWidth / 2;
      return { x: x - half, y: y - half, width: width + 2 * half, height: height + 2 * half };
    }
    case 'text': {
      const width = Math.max(...mark.lines.map((line) => measure(line, mark.size)));
      const height = mark.lines.length * mark.size * LINE_HEIGHT;
      return { x: mark.centered ? mark.x - width / 2 : mark.x, y: mark.y, width, height };
    }
    default:
      return mark;
  }
}

/** Bounding box of everything that a shape paints, with its stroke width and rotation. */
export function getPaintedBounds(shape: Shape, measure: MeasureText = estimateWidth): Box {
  const frame = getFrame(shape, measure);
  const corners = getMarks(shape, measure).flatMap((mark) => getCorners(getMarkBox(mark, measure)));
  return getBoundingBox(corners.map((corner) => rotatePoint(corner, frame, getRotation(shape))));
}

/** Whether two boxes share more than an edge. */
export const isOverlapping = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** Whether a box lies completely within another. */
export const isWithin = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

/** Box of the page. */
export const getPageBox = ({ x, y, width, height }: Page): Box => ({ x, y, width, height });

/** Whether a shape is painted at a point, or no further than `reach` CSS pixels from it. */
export function isHit(shape: Shape, at: Point, reach = 0, measure: MeasureText = estimateWidth): boolean {
  const local = rotatePoint(at, getFrame(shape, measure), -getRotation(shape));
  return getMarks(shape, measure).some((mark) => {
    if (mark.type !== 'path') return isInBox(local, getMarkBox(mark, measure), reach);
    const parts = flattenPath(mark.elements);
    if (mark.fill && isInside(local, parts)) return true;
    const limit = mark.strokeWidth / 2 + reach;
    return parts.some((corners) => corners.some((to, nth) => computeDistance(local, corners[Math.max(0, nth - 1)] ?? to, to) <= limit));
  });
}

const isInBox = ([x, y]: Point, box: Box, reach: number): boolean =>
  x >= box.x - reach && x <= box.x + box.width + reach && y >= box.y - reach && y <= box.y + box.height + reach;

/** Uses the non-zero rule, like canvas and SVG fills. */
function isInside([x, y]: Point, parts: readonly (readonly Point[])[]): boolean {
  let winding = 0;
  for (const corners of parts) {
    corners.forEach(([x2, y2], nth) => {
      const [x1, y1] = corners[nth === 0 ? corners.length - 1 : nth - 1] ?? [x2, y2];
      const side = (x2 - x1) * (y - y1) - (x - x1) * (y2 - y1);
      if (y1 <= y && y2 > y && side > 0) winding++;
      else if (y1 > y && y2 <= y && side < 0) winding--;
    });
  }
  return winding !== 0;
}

function computeDistance([x, y]: Point, [x1, y1]: Point, [x2, y2]: Point): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const square = dx * dx + dy * dy;
  const ratio = square === 0 ? 0 : Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / square));
  return Math.hypot(x - x1 - ratio * dx, y - y1 - ratio * dy);
}

/** Returns the topmost shape at a point that is neither hidden nor locked. */
export function findShapeAt(shapes: readonly Shape[], at: Point, reach = 0, measure: MeasureText = estimateWidth): Shape | undefined {
  return shapes.findLast((shape) => !shape.hidden && !shape.locked && isHit(shape, at, reach, measure));
}

/** Returns the fields that fit a shape from one box to another: moved, scaled, and flipped if a length of `to` is negative. */
export function fitShape(shape: Shape, from: Box, to: Box): FieldValues {
  const [sx, sy] = [from.width === 0 ? 1 : to.width / from.width, from.height === 0 ? 1 : to.height / from.height];
  const px = (x: number): number => to.x + (x - from.x) * sx;
  const py = (y: number): number => to.y + (y - from.y) * sy;
  const area = Math.sqrt(Math.abs(sx * sy));
  const set: Record<string, unknown> = {};
  const getNumber = (field: string): number | undefined => {
    const value: unknown = Reflect.get(shape, field);
    return typeof value === 'number' ? value : undefined;
  };
  for (const field of ['x', 'x1', 'x2', 'cx', 'tipX']) if (getNumber(field) !== undefined) set[field] = px(getNumber(field) ?? 0);
  for (const field of ['y', 'y1', 'y2', 'cy', 'tipY']) if (getNumber(field) !== undefined) set[field] = py(getNumber(field) ?? 0);
  if ('width' in shape) {
    set.x = Math.min(px(shape.x), px(shape.x + shape.width));
    set.y = Math.min(py(shape.y), py(shape.y + shape.height));
    set.width = shape.width * Math.abs(sx);
    set.height = shape.height * Math.abs(sy);
  }
  if ('rx' in shape) Object.assign(set, { rx: shape.rx * Math.abs(sx), ry: shape.ry * Math.abs(sy) });
  if ('outer' in shape) Object.assign(set, { outer: shape.outer * area, inner: shape.inner * area });
  if (shape.kind === 'text' || shape.kind === 'marker') set.size = Math.min(4000, Math.max(1, shape.size * area));
  if ('points' in shape) set.points = shape.points.map(([x, y]) => [px(x), py(y)]);
  if ('trace' in shape) set.trace = shape.trace.map(([x, y, pressure]) => [px(x), py(y), pressure]);
  if ('elements' in shape) set.elements = shape.elements.map((element) => fitElement(element, px, py));
  return set;
}

function fitElement(element: PathElement, px: (x: number) => number, py: (y: number) => number): PathElement {
  switch (element.type) {
    case 'close':
      return element;
    case 'move':
    case 'line':
      return { ...element, x: px(element.x), y: py(element.y) };
    case 'quadratic':
      return { ...element, x1: px(element.x1), y1: py(element.y1), x: px(element.x), y: py(element.y) };
    case 'cubic':
      return {
        ...element,
        x1: px(element.x1),
        y1: py(element.y1),
        x2: px(element.x2),
        y2: py(element.y2),
        x: px(element.x),
        y: py(element.y),
      };
  }
}
