/** A step of a path; lengths are CSS pixels, and (x, y) is the position of the pen after it. */
export type PathElement =
  | { readonly type: 'move'; readonly x: number; readonly y: number }
  | { readonly type: 'line'; readonly x: number; readonly y: number }
  | {
      readonly type: 'cubic';
      readonly x1: number;
      readonly y1: number;
      readonly x2: number;
      readonly y2: number;
      readonly x: number;
      readonly y: number;
    }
  | { readonly type: 'quadratic'; readonly x1: number; readonly y1: number; readonly x: number; readonly y: number }
  | { readonly type: 'close' };

export type Point = readonly [x: number, y: number];

/** Lifts the pen and puts it down at (x, y). */
export function moveTo(x: number, y: number): PathElement {
  return { type: 'move', x, y };
}
/** A straight line to (x, y). */
export function lineTo(x: number, y: number): PathElement {
  return { type: 'line', x, y };
}
/** A Bézier curve to (x, y) with two control points. */
export function cubicTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): PathElement {
  return { type: 'cubic', x1, y1, x2, y2, x, y };
}
/** A Bézier curve to (x, y) with one control point. The document leaves the parameters open; these are chosen (decision 0052). */
export function quadraticTo(x1: number, y1: number, x: number, y: number): PathElement {
  return { type: 'quadratic', x1, y1, x, y };
}
/** A straight line back to the start of the subpath. */
export function closePath(): PathElement {
  return { type: 'close' };
}

/** A closed path through points. */
export function polygonPath(points: readonly Point[]): PathElement[] {
  const [first, ...rest] = points;
  return first ? [moveTo(...first), ...rest.map(([x, y]) => lineTo(x, y)), closePath()] : [];
}

/** An open path through points. */
export function polylinePath(points: readonly Point[]): PathElement[] {
  const [first, ...rest] = points;
  return first ? [moveTo(...first), ...rest.map(([x, y]) => lineTo(x, y))] : [];
}

/** Distance of a quarter circle's control points, relative to the radius. */
const KAPPA = 0.5522847498;

export function ellipsePath(cx: number, cy: number, rx: number, ry: number): PathElement[] {
  const [kx, ky] = [rx * KAPPA, ry * KAPPA];
  return [
    moveTo(cx + rx, cy),
    cubicTo(cx + rx, cy + ky, cx + kx, cy + ry, cx, cy + ry),
    cubicTo(cx - kx, cy + ry, cx - rx, cy + ky, cx - rx, cy),
    cubicTo(cx - rx, cy - ky, cx - kx, cy - ry, cx, cy - ry),
    cubicTo(cx + kx, cy - ry, cx + rx, cy - ky, cx + rx, cy),
    closePath(),
  ];
}

/** A rectangle, its corners rounded by `radius`, at most half its shorter side. */
export function rectPath(x: number, y: number, width: number, height: number, radius = 0): PathElement[] {
  const [r, b] = [x + width, y + height];
  const c = Math.min(radius, width / 2, height / 2);
  if (c <= 0) {
    return polygonPath([
      [x, y],
      [r, y],
      [r, b],
      [x, b],
    ]);
  }
  const k = c * (1 - KAPPA);
  return [
    moveTo(x + c, y),
    lineTo(r - c, y),
    cubicTo(r - k, y, r, y + k, r, y + c),
    lineTo(r, b - c),
    cubicTo(r, b - k, r - k, b, r - c, b),
    lineTo(x + c, b),
    cubicTo(x + k, b, x, b - k, x, b - c),
    lineTo(x, y + c),
    cubicTo(x, y + k, x + k, y, x + c, y),
    closePath(),
  ];
}

/** Number of straight segments that approximate a curve. */
const CURVE_PIECES = 24;

/** Converts subpaths to polylines. A closed one ends at its start. */
export function flattenPath(elements: readonly PathElement[]): Point[][] {
  const parts: Point[][] = [];
  let part: Point[] = [];
  let [x, y] = [0, 0];
  let [startX, startY] = [0, 0];
  const curve = (at: (t: number) => Point): void => {
    for (let piece = 1; piece <= CURVE_PIECES; piece++) part.push(at(piece / CURVE_PIECES));
  };
  const begin = (): void => {
    part = [[x, y]];
    parts.push(part);
  };
  for (const element of elements) {
    const [x0, y0] = [x, y];
    if (element.type === 'move') {
      [x, y] = [element.x, element.y];
      [startX, startY] = [x, y];
      begin();
      continue;
    }
    if (part.length === 0) begin();
    switch (element.type) {
      case 'line':
        part.push([element.x, element.y]);
        break;
      case 'quadratic':
        curve((t) => [
          (1 - t) ** 2 * x0 + 2 * (1 - t) * t * element.x1 + t * t * element.x,
          (1 - t) ** 2 * y0 + 2 * (1 - t) * t * element.y1 + t * t * element.y,
        ]);
        break;
      case 'cubic':
        curve((t) => [
          (1 - t) ** 3 * x0 + 3 * (1 - t) ** 2 * t * element.x1 + 3 * (1 - t) * t * t * element.x2 + t ** 3 * element.x,
          (1 - t) ** 3 * y0 + 3 * (1 - t) ** 2 * t * element.y1 + 3 * (1 - t) * t * t * element.y2 + t ** 3 * element.y,
        ]);
        break;
      case 'close':
        part.push([startX, startY]);
        part = [];
        [x, y] = [startX, startY];
        continue;
    }
    [x, y] = [element.x, element.y];
  }
  return parts;
}
