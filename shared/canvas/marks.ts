import { getStroke } from 'perfect-freehand';
import type { Shape } from './shape-fields.ts';
import { ellipsePath, lineTo, moveTo, type PathElement, type Point, polygonPath, polylinePath, rectPath } from './path.ts';

/** Measures the width of a line of text in CSS pixels, with letters `size` high. */
export type MeasureText = (text: string, size: number) => number;

/** Estimate for environments without text measurement: the width of sans-serif letters, a full square for wider ones. */
export const estimateWidth: MeasureText = (text, size) => {
  let widths = 0;
  for (const letter of text) widths += (letter.codePointAt(0) ?? 0) < 0x1100 ? 0.6 : 1.05;
  return widths * size;
};

/** Font of all text. */
export const FONT_FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
/** Distance between baselines, as a multiple of the font size. */
export const LINE_HEIGHT = 1.25;
const PADDING = 8;

/** Baseline of a line, from its upper edge. */
export const getBaseline = (top: number, size: number): number => top + size * 0.97;

/** Whether a line is read from right to left, by its first letter. */
export const isRightToLeft = (line: string): boolean => /^\P{L}*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u.test(line);

/** Primitives of a painted shape, which every renderer supports. In CSS pixels, before rotation. */
export type Mark =
  | {
      readonly type: 'path';
      readonly elements: readonly PathElement[];
      readonly color: string;
      readonly fill: boolean;
      /** 0: fill only. */
      readonly strokeWidth: number;
      /** Blends by multiplying, like a highlighter. */
      readonly multiply?: boolean;
    }
  | {
      readonly type: 'text';
      readonly lines: readonly string[];
      /** Left edge of the lines, or their centre. */
      readonly x: number;
      /** Upper edge of the first line. */
      readonly y: number;
      readonly size: number;
      readonly color: string;
      readonly centered: boolean;
    }
  | {
      readonly type: 'image';
      readonly src: string;
      /** Flipped horizontally. */
      readonly mirrored: boolean;
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
    }
  | {
      readonly type: 'solid';
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
      readonly color: string;
    }
  | {
      readonly type: 'blur';
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
      readonly strength: number;
    };

const createPathMark = (
  elements: readonly PathElement[],
  { color, fill = false, strokeWidth = 0 }: { color: string; fill?: boolean; strokeWidth?: number },
): Mark => ({
  type: 'path',
  elements,
  color,
  fill,
  // A filled shape has no outline: `drawRect` with a stroke draws one with `fill` off.
  strokeWidth: fill ? 0 : strokeWidth,
});

/** Primitives of a shape, lowest first. */
export function getMarks(shape: Shape, measure: MeasureText = estimateWidth): Mark[] {
  switch (shape.kind) {
    case 'rect':
      return [createPathMark(rectPath(shape.x, shape.y, shape.width, shape.height, shape.radius), shape)];
    case 'ellipse':
      return [createPathMark(ellipsePath(shape.cx, shape.cy, shape.rx, shape.ry), shape)];
    case 'line':
      return [createPathMark([moveTo(shape.x1, shape.y1), lineTo(shape.x2, shape.y2)], shape)];
    case 'arrow':
      return createArrowMarks(shape);
    case 'polygon':
      return [createPathMark(polygonPath(shape.points), shape)];
    case 'star':
      return [createPathMark(polygonPath(getStarPoints(shape)), shape)];
    case 'path':
      return [createPathMark(shape.elements, shape)];
    case 'pen':
      return [createPathMark(createPenOutline(shape), { color: shape.color, fill: true })];
    case 'highlighter':
      return [{ ...createPathMark(createDotOrLine(shape.points), shape), multiply: true } as Mark];
    case 'text':
      return [
        { type: 'text', lines: shape.text.split('\n'), x: shape.x, y: shape.y, size: shape.size, color: shape.color, centered: false },
      ];
    case 'marker':
      return createMarkerMarks(shape);
    case 'callout':
      return createCalloutMarks(shape, measure);
    case 'image':
      return [
        { type: 'image', src: shape.src, mirrored: shape.mirrored, x: shape.x, y: shape.y, width: shape.width, height: shape.height },
      ];
    case 'redaction':
      return [{ type: 'solid', x: shape.x, y: shape.y, width: shape.width, height: shape.height, color: toOpaque(shape.color) }];
    case 'blur':
      return [{ type: 'blur', x: shape.x, y: shape.y, width: shape.width, height: shape.height, strength: shape.strength }];
  }
}

/** The colour without its alpha channel. */
function toOpaque(color: string): string {
  return color.length <= 5 ? color.slice(0, 4) : color.slice(0, 7);
}

/** Black or white, whichever is read more easily on a colour (WCAG 2.2, relative luminance). */
export function getContrastColor(color: string): '#000000' | '#ffffff' {
  const solid = toOpaque(color).slice(1);
  const parts = solid.length === 3 ? [...solid].map((digit) => digit + digit) : (solid.match(/../g) ?? []);
  const [red = 0, green = 0, blue = 0] = parts.map((part) => {
    const value = parseInt(part, 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000000' : '#ffffff';
}

/** Corners of an arrow's head, its tip first: bold enough to be seen on a picture, and no longer than the arrow. */
export function getArrowHead([x1, y1]: Point, [x2, y2]: Point, strokeWidth: number): [Point, Point, Point] {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const head = Math.min(6 + strokeWidth * 5, length);
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [bx, by] = [x2 - ux * head, y2 - uy * head];
  const half = head * 0.45;
  return [
    [x2, y2],
    [bx - uy * half, by + ux * half],
    [bx + uy * half, by - ux * half],
  ];
}

/** The shaft ends at the base of the head, so that the tip stays sharp. */
function createArrowMarks(shape: Shape<'arrow'>): Mark[] {
  const { x1, y1, x2, y2, color, strokeWidth } = shape;
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length === 0) return [createPathMark([moveTo(x1, y1), lineTo(x2, y2)], shape)];
  const corners = getArrowHead([x1, y1], [x2, y2], strokeWidth);
  const [, [leftX, leftY], [rightX, rightY]] = corners;
  const [bx, by] = [(leftX + rightX) / 2, (leftY + rightY) / 2];
  const tip = polygonPath(corners);
  return [createPathMark([moveTo(x1, y1), lineTo(bx, by)], { color, strokeWidth }), createPathMark(tip, { color, fill: true })];
}

export function getStarPoints({ cx, cy, outer, inner, spikes }: Shape<'star'>): Point[] {
  return Array.from({ length: spikes * 2 }, (_, corner): Point => {
    const radius = corner % 2 === 0 ? outer : inner;
    const angle = (Math.PI * corner) / spikes - Math.PI / 2;
    return [cx + radius * Math.cos(angle), cy + radius * Math.sin(angle)];
  });
}

/** Outline of a pen stroke whose width varies with pressure, from 0.5 to 1.5 times `strokeWidth`. */
function createPenOutline({ trace, strokeWidth }: Shape<'pen'>): PathElement[] {
  const edge = getStroke(
    trace.map(([x, y, pressure]) => [x, y, pressure]),
    { size: strokeWidth, thinning: 0.5, smoothing: 0.5, streamline: 0.35, simulatePressure: false, last: true },
  );
  return polygonPath(edge);
}

/** A path through points; a single point is a dot. */
function createDotOrLine(points: readonly Point[]): PathElement[] {
  const [only] = points;
  return polylinePath(only && points.length === 1 ? [only, only] : points);
}

function createMarkerMarks({ x, y, size, color, label }: Shape<'marker'>): Mark[] {
  const letters = Math.min(size * 0.55, (size * 0.9) / Math.max(1, [...label].length * 0.6));
  return [
    createPathMark(ellipsePath(x, y, size / 2, size / 2), { color, fill: true }),
    { type: 'text', lines: [label], x, y: y - (letters * LINE_HEIGHT) / 2, size: letters, color: getContrastColor(color), centered: true },
  ];
}

function createCalloutMarks(shape: Shape<'callout'>, measure: MeasureText): Mark[] {
  const { x, y, width, height, color, background, strokeWidth, size, text } = shape;
  const outline = createCalloutPath(shape);
  return [
    ...(background === null ? [] : [createPathMark(outline, { color: background, fill: true })]),
    createPathMark(outline, { color, strokeWidth }),
    {
      type: 'text',
      lines: wrapText(text, width - 2 * PADDING, size, measure).slice(
        0,
        Math.max(1, Math.floor((height - PADDING) / (size * LINE_HEIGHT))),
      ),
      x: x + PADDING,
      y: y + PADDING,
      size,
      color,
      centered: false,
    },
  ];
}

/** Draws a box with a tail to its tip. */
function createCalloutPath({ x, y, width, height, tipX, tipY }: Shape<'callout'>): PathElement[] {
  const [right, bottom] = [x + width, y + height];
  const [cx, cy] = [x + width / 2, y + height / 2];
  const tail = Math.min(12, width / 4, height / 4);
  const corners: Point[] = [
    [x, y],
    [right, y],
    [right, bottom],
    [x, bottom],
  ];
  const inside = tipX >= x && tipX <= right && tipY >= y && tipY <= bottom;
  if (inside) return polygonPath(corners);
  const sideways = Math.abs(tipX - cx) * height > Math.abs(tipY - cy) * width;
  const side = sideways ? (tipX > cx ? 1 : 3) : tipY > cy ? 2 : 0;
  const tip: Point = [tipX, tipY];
  const tails: Point[][] = [
    [[cx - tail, y], tip, [cx + tail, y]],
    [[right, cy - tail], tip, [right, cy + tail]],
    [[cx + tail, bottom], tip, [cx - tail, bottom]],
    [[x, cy + tail], tip, [x, cy - tail]],
  ];
  return polygonPath([...corners.slice(0, side + 1), ...(tails[side] ?? []), ...corners.slice(side + 1)]);
}

/** Wraps text to lines of at most `width`, at spaces. A wider word gets its own line. */
function wrapText(text: string, width: number, size: number, measure: MeasureText): string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = [];
    let current = '';
    for (const word of line.split(' ')) {
      const longer = current === '' ? word : `${current} ${word}`;
      if (current !== '' && measure(longer, size) > width) {
        lines.push(current);
        current = word;
      } else current = longer;
    }
    return [...lines, current];
  });
}
