import type { FieldValues } from './change.ts';
import type { Shape } from './fields.ts';
import { around, type Box, cornersOf, frameOf, rotationOf, turned } from './geometry.ts';
import { estimateWidth, type Measure } from './marks.ts';
import type { Point } from './path.ts';

/** Handles of a selection: its corners and sides, the rotation handle, the ends of a line, the tip of a callout. */
export type Handle = 'nw' | 'n' | 'ne' | 'e' | 'se' | 's' | 'sw' | 'w' | 'turn' | 'start' | 'end' | 'tip';

/** Geometry of a selection. */
export interface Hold {
  /** Before it is turned. */
  readonly box: Box;
  /** Degrees, clockwise, about the box's middle. */
  readonly rotation: number;
  readonly handles: readonly { readonly name: Handle; readonly at: Point }[];
}

/** The box that a shape spans as it is turned, without the width of its line. */
export function spanOf(shape: Shape, measure: Measure = estimateWidth): Box {
  const frame = frameOf(shape, measure);
  const degrees = rotationOf(shape);
  return degrees === 0 ? frame : around(cornersOf(frame).map((corner) => turned(corner, frame, degrees)));
}

/** The box around several. */
export const spanOfAll = (shapes: readonly Shape[], measure: Measure = estimateWidth): Box =>
  around(shapes.flatMap((shape) => cornersOf(spanOf(shape, measure))));

/** Letters, numbers and stars have one size, not two. */
const keepsShape = (shape: Shape): boolean => shape.kind === 'text' || shape.kind === 'marker' || shape.kind === 'star';

/** Whether a corner keeps the proportions without being asked to. */
export const keepsRatio = (shapes: readonly Shape[]): boolean =>
  shapes.some((shape) => keepsShape(shape) || shape.kind === 'image' || (shapes.length > 1 && rotationOf(shape) % 90 !== 0));

/**
 * Computes the handles of a selection; `gap`: distance of the rotation handle, in CSS pixels of the drawing. Undefined for an empty
 * selection.
 */
export function holdOf(shapes: readonly Shape[], gap: number, measure: Measure = estimateWidth): Hold | undefined {
  const [shape] = shapes;
  if (!shape) return undefined;
  const single = shapes.length === 1;
  const box = single ? frameOf(shape, measure) : spanOfAll(shapes, measure);
  const rotation = single ? rotationOf(shape) : 0;
  if (shapes.some(({ locked }) => locked)) return { box, rotation, handles: [] };
  const place = (name: Handle, at: Point) => ({ name, at: turned(at, box, rotation) });
  if (single && (shape.kind === 'line' || shape.kind === 'arrow')) {
    return { box, rotation, handles: [place('start', [shape.x1, shape.y1]), place('end', [shape.x2, shape.y2])] };
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
  ).map(([name, at]) => place(name, at));
  const sides = (
    [
      ['n', [cx, y]],
      ['e', [right, cy]],
      ['s', [cx, bottom]],
      ['w', [x, cy]],
    ] as const
  ).map(([name, at]) => place(name, at));
  const handles = [...corners, ...(keepsRatio(shapes) && !(single && shape.kind === 'image') ? [] : sides)];
  if (shapes.some((each) => 'rotation' in each)) handles.push(place('turn', [cx, y - gap]));
  if (single && shape.kind === 'callout') handles.push(place('tip', [shape.tipX, shape.tipY]));
  return { box, rotation, handles };
}

/** The handle that is no further than `reach` from a point; of several the nearest. */
export function handleAt(hold: Hold, [x, y]: Point, reach: number): Handle | undefined {
  const far = ([hx, hy]: Point): number => Math.hypot(hx - x, hy - y);
  const near = hold.handles.filter(({ at }) => far(at) <= reach);
  return near.toSorted((a, b) => far(a.at) - far(b.at))[0]?.name;
}

/** Handles of a point: the ends of a line, the tip of a callout. */
export type End = Extract<Handle, 'start' | 'end' | 'tip'>;
export const isEnd = (name: Handle): name is End => name === 'start' || name === 'end' || name === 'tip';

/** Fields of a shape after one of its ends moved. The other end of a line stays, and its rotation becomes part of the coordinates. */
export function endMoved({ box, rotation, handles }: Hold, end: End, at: Point): FieldValues {
  if (end === 'tip') {
    const [tipX, tipY] = turned(at, box, -rotation);
    return { tipX, tipY };
  }
  const other = handles.find(({ name }) => name !== end)?.at ?? at;
  const [[x1, y1], [x2, y2]] = end === 'start' ? [at, other] : [other, at];
  return { x1, y1, x2, y2, ...(rotation === 0 ? {} : { rotation: 0 }) };
}

/** Whether a point is within the held box. */
export function isHeld(hold: Hold, at: Point): boolean {
  const [x, y] = turned(at, hold.box, -hold.rotation);
  const { box } = hold;
  return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
}

/** The least that something is made by dragging a side, in CSS pixels. */
const LEAST = 1;

/** The box after dragging a corner or side to a point; `ratio` keeps its proportions. It is never mirrored. */
export function dragged(box: Box, handle: Handle, [x, y]: Point, ratio = false): Box {
  const [right, bottom] = [box.x + box.width, box.y + box.height];
  const [west, east, north, south] = ['w', 'e', 'n', 's'].map((side) => handle.includes(side));
  let width = west ? right - x : east ? x - box.x : box.width;
  let height = north ? bottom - y : south ? y - box.y : box.height;
  [width, height] = [Math.max(width, Math.min(LEAST, box.width)), Math.max(height, Math.min(LEAST, box.height))];
  if (ratio && box.width > 0 && box.height > 0) {
    const scales = [width / box.width, height / box.height];
    const scale = handle.length === 1 ? scales[west || east ? 0 : 1] : Math.max(...scales);
    [width, height] = [box.width * (scale ?? 1), box.height * (scale ?? 1)];
  }
  return { x: west ? right - width : box.x, y: north ? bottom - height : box.y, width, height };
}
