import type { FieldValues } from './change.ts';
import type { Shape } from './shape-fields.ts';
import { getBoundingBox, type Box, getCorners, getFrame, getRotation, rotatePoint } from './geometry.ts';
import { estimateWidth, type MeasureText } from './marks.ts';
import type { Point } from './path.ts';

/** Handles of a selection: its corners and sides, the rotation handle, the ends of a line, the tip of a callout. */
export type Handle = 'nw' | 'n' | 'ne' | 'e' | 'se' | 's' | 'sw' | 'w' | 'turn' | 'start' | 'end' | 'tip';

/** Geometry of a selection. */
export interface SelectionFrame {
  /** Before rotation. */
  readonly box: Box;
  /** Degrees, clockwise, about the box's middle. */
  readonly rotation: number;
  readonly handles: readonly { readonly name: Handle; readonly at: Point }[];
}

/** Bounding box of the rotated shape, without its stroke width. */
export function getSpan(shape: Shape, measure: MeasureText = estimateWidth): Box {
  const frame = getFrame(shape, measure);
  const degrees = getRotation(shape);
  return degrees === 0 ? frame : getBoundingBox(getCorners(frame).map((corner) => rotatePoint(corner, frame, degrees)));
}

/** Bounding box of several shapes. */
export const getCombinedSpan = (shapes: readonly Shape[], measure: MeasureText = estimateWidth): Box =>
  getBoundingBox(shapes.flatMap((shape) => getCorners(getSpan(shape, measure))));

/** Text, markers and stars have a single size instead of width and height. */
const hasSingleSize = (shape: Shape): boolean => shape.kind === 'text' || shape.kind === 'marker' || shape.kind === 'star';

/** Whether dragging a corner keeps the proportions by default. */
export const shouldKeepRatio = (shapes: readonly Shape[]): boolean =>
  shapes.some((shape) => hasSingleSize(shape) || shape.kind === 'image' || (shapes.length > 1 && getRotation(shape) % 90 !== 0));

/**
 * Computes the handles of a selection; `gap`: distance of the rotation handle, in CSS pixels of the drawing. Undefined for an empty
 * selection.
 */
export function computeSelectionFrame(
  shapes: readonly Shape[],
  gap: number,
  measure: MeasureText = estimateWidth,
): SelectionFrame | undefined {
  const [shape] = shapes;
  if (!shape) return undefined;
  const single = shapes.length === 1;
  const box = single ? getFrame(shape, measure) : getCombinedSpan(shapes, measure);
  const rotation = single ? getRotation(shape) : 0;
  if (shapes.some(({ locked }) => locked)) return { box, rotation, handles: [] };
  const createHandle = (name: Handle, at: Point) => ({ name, at: rotatePoint(at, box, rotation) });
  if (single && (shape.kind === 'line' || shape.kind === 'arrow')) {
    return { box, rotation, handles: [createHandle('start', [shape.x1, shape.y1]), createHandle('end', [shape.x2, shape.y2])] };
  }
  const { x, y, width, height } = box;
  const [cx, cy, right, bottom] = [x + width / 2, y + height / 2, x + width, y + height];
  const corners = (
    [
      ['nw', [x, y]],
      ['ne', [right, y]],
      ['se', [right, bottom]],
      ['sw', [x, bottom]],
    ] as const
  ).map(([name, at]) => createHandle(name, at));
  const sides = (
    [
      ['n', [cx, y]],
      ['e', [right, cy]],
      ['s', [cx, bottom]],
      ['w', [x, cy]],
    ] as const
  ).map(([name, at]) => createHandle(name, at));
  const handles = [...corners, ...(shouldKeepRatio(shapes) && !(single && shape.kind === 'image') ? [] : sides)];
  if (shapes.some((each) => 'rotation' in each)) handles.push(createHandle('turn', [cx, y - gap]));
  if (single && shape.kind === 'callout') handles.push(createHandle('tip', [shape.tipX, shape.tipY]));
  return { box, rotation, handles };
}

/** Finds the handle nearest to a point, within `reach`. */
export function findHandleAt(frame: SelectionFrame, [x, y]: Point, reach: number): Handle | undefined {
  const computeDistance = ([hx, hy]: Point): number => Math.hypot(hx - x, hy - y);
  const candidates = frame.handles.filter(({ at }) => computeDistance(at) <= reach);
  return candidates.toSorted((a, b) => computeDistance(a.at) - computeDistance(b.at))[0]?.name;
}

/** Handles that move a single point: the ends of a line, the tip of a callout. */
export type EndHandle = Extract<Handle, 'start' | 'end' | 'tip'>;
export const isEndHandle = (name: Handle): name is EndHandle => name === 'start' || name === 'end' || name === 'tip';

/** Fields of a shape after one of its ends moved. The other end of a line stays, and its rotation becomes part of the coordinates. */
export function moveEnd({ box, rotation, handles }: SelectionFrame, end: EndHandle, at: Point): FieldValues {
  if (end === 'tip') {
    const [tipX, tipY] = rotatePoint(at, box, -rotation);
    return { tipX, tipY };
  }
  const other = handles.find(({ name }) => name !== end)?.at ?? at;
  const [[x1, y1], [x2, y2]] = end === 'start' ? [at, other] : [other, at];
  return { x1, y1, x2, y2, ...(rotation === 0 ? {} : { rotation: 0 }) };
}

/** Whether a point is within the selection's box. */
export function isInFrame(frame: SelectionFrame, at: Point): boolean {
  const [x, y] = rotatePoint(at, frame.box, -frame.rotation);
  const { box } = frame;
  return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
}

/** Minimum width and height after dragging a side, in CSS pixels. */
const MIN_SIDE = 1;

/** The box after dragging a corner or side to a point; `lockRatio` keeps its proportions. It is never mirrored. */
export function resizeBox(box: Box, handle: Handle, [x, y]: Point, lockRatio = false): Box {
  const [right, bottom] = [box.x + box.width, box.y + box.height];
  const [west, east, north, south] = ['w', 'e', 'n', 's'].map((side) => handle.includes(side));
  let width = west ? right - x : east ? x - box.x : box.width;
  let height = north ? bottom - y : south ? y - box.y : box.height;
  [width, height] = [Math.max(width, Math.min(MIN_SIDE, box.width)), Math.max(height, Math.min(MIN_SIDE, box.height))];
  if (lockRatio && box.width > 0 && box.height > 0) {
    const scales = [width / box.width, height / box.height];
    const scale = handle.length === 1 ? scales[west || east ? 0 : 1] : Math.max(...scales);
    [width, height] = [box.width * (scale ?? 1), box.height * (scale ?? 1)];
  }
  return { x: west ? right - width : box.x, y: north ? bottom - height : box.y, width, height };
}
