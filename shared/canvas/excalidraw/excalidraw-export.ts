import { type Box, getBoundingBox, getFrame, getRotation } from '../geometry.ts';
import { estimateWidth, getContrastColor, getStarPoints, LINE_HEIGHT, type MeasureText } from '../marks.ts';
import { flattenPath, type Point } from '../path.ts';
import type { Shape } from '../shape-fields.ts';
import type { DrawingContent } from '../visible-shapes.ts';
import { FREEDRAW_FACTOR } from './excalidraw-import.ts';

/** A drawing in the format of Excalidraw. */
interface ExcalidrawExport {
  readonly json: string;
  /** Number of shapes that became the nearest element, because they have no counterpart there. */
  readonly simplified: number;
}

type Fields = Readonly<Record<string, unknown>>;
interface Conversion {
  readonly elements: readonly Fields[];
  readonly isSimplified?: boolean;
}
/** Pictures of a file, by data URL. */
type Files = Map<string, { readonly id: string; readonly mimeType: string }>;

/** Serializes the visible shapes of a drawing as a `.excalidraw` file. It includes content that redactions hide. */
export function drawingToExcalidraw({ page, shapes }: DrawingContent, measure: MeasureText = estimateWidth): ExcalidrawExport {
  const files: Files = new Map();
  const { elements, simplified } = toElements(shapes, files, measure);
  const json = JSON.stringify({
    type: 'excalidraw',
    version: 2,
    source: 'perch',
    elements,
    appState: { gridSize: null, viewBackgroundColor: page.background ?? 'transparent' },
    files: Object.fromEntries(
      [...files].map(([dataURL, { id, mimeType }]) => [id, { id, mimeType, dataURL, created: 0, lastRetrieved: 0 }]),
    ),
  });
  return { json, simplified };
}

/** Converts visible shapes to elements. */
export function toElements(
  shapes: readonly Shape[],
  files: Files,
  measure: MeasureText,
): { elements: readonly Fields[]; simplified: number } {
  const conversions = shapes.filter(({ hidden }) => !hidden).map((shape) => convertShape(shape, files, measure));
  return {
    elements: conversions.flatMap(({ elements }) => elements),
    simplified: conversions.filter(({ isSimplified }) => isSimplified).length,
  };
}

/** A stable number for the fields of Excalidraw that want one. */
function toSeed(id: string): number {
  let seed = 7;
  for (const letter of id) seed = (seed * 31 + (letter.codePointAt(0) ?? 0)) % 2_147_483_647;
  return seed + 1;
}

const toRadians = (degrees: number): number => ((((degrees % 360) + 360) % 360) * Math.PI) / 180;

/** An element with all fields that Excalidraw writes. `part` distinguishes the elements of one shape. */
function createElement(shape: Shape, type: string, box: Box, fields: Fields, part = ''): Fields {
  const id = `${shape.id}${part}`;
  return {
    id,
    type,
    ...box,
    angle: toRadians(getRotation(shape)),
    strokeColor: 'transparent',
    backgroundColor: 'transparent',
    fillStyle: 'solid',
    strokeWidth: 'strokeWidth' in shape ? shape.strokeWidth : 1,
    strokeStyle: 'solid',
    roughness: 0,
    opacity: 'opacity' in shape ? Math.round(shape.opacity * 100) : 100,
    groupIds: part === '' ? [] : [`${shape.id}-group`],
    frameId: null,
    roundness: null,
    seed: toSeed(id),
    version: 1,
    versionNonce: toSeed(`${id}n`),
    isDeleted: false,
    boundElements: null,
    updated: 1,
    link: null,
    locked: shape.locked,
    ...fields,
  };
}

const getPaint = ({ color, fill }: { color: string; fill: boolean }): Fields =>
  fill ? { backgroundColor: color } : { strokeColor: color };

/** Element of a line through points. */
function createLine(shape: Shape, type: string, points: readonly Point[], fields: Fields, part = ''): Fields {
  const [[x, y] = [0, 0]] = points;
  const { width, height } = getBoundingBox(points);
  const line = { points: points.map(([px, py]) => [px - x, py - y]), lastCommittedPoint: null, startBinding: null, endBinding: null };
  return createElement(shape, type, { x, y, width, height }, { startArrowhead: null, endArrowhead: null, ...line, ...fields }, part);
}

const close = (points: readonly Point[]): readonly Point[] => (points[0] ? [...points, points[0]] : points);

function createText(
  shape: Shape,
  { box, text, size, color, container }: { box: Box; text: string; size: number; color: string; container?: string },
  part = '',
): Fields {
  const bound = container === undefined ? { textAlign: 'left', verticalAlign: 'top' } : { textAlign: 'center', verticalAlign: 'middle' };
  const fields = { text, originalText: text, fontSize: size, fontFamily: 2, lineHeight: LINE_HEIGHT, autoResize: true };
  return createElement(shape, 'text', box, { strokeColor: color, ...fields, ...bound, containerId: container ?? null }, part);
}

/** An element with a text bound to it, as a group. */
function createContainer(
  shape: Shape,
  type: string,
  box: Box,
  fields: Fields,
  label: { text: string; size: number; color: string; width: number },
): Fields[] {
  const id = `${shape.id}-box`;
  const lines = label.text.split('\n').length;
  const height = lines * label.size * LINE_HEIGHT;
  const inner = { x: box.x + (box.width - label.width) / 2, y: box.y + (box.height - height) / 2, width: label.width, height };
  const boundElements = label.text === '' ? null : [{ type: 'text', id: `${shape.id}-text` }];
  return [
    createElement(shape, type, box, { ...fields, boundElements }, '-box'),
    ...(boundElements ? [createText(shape, { ...label, box: inner, container: id }, '-text')] : []),
  ];
}

/** Whether points are the corners of a diamond along the axes. */
function isDiamond(points: readonly Point[], { x, y, width, height }: Box): boolean {
  if (points.length !== 4) return false;
  const corners: Point[] = [
    [x + width / 2, y],
    [x + width, y + height / 2],
    [x + width / 2, y + height],
    [x, y + height / 2],
  ];
  return points.every(([px, py], index) => {
    const [cx, cy] = corners[index] ?? [NaN, NaN];
    return Math.abs(px - cx) < 0.01 && Math.abs(py - cy) < 0.01;
  });
}

function convertShape(shape: Shape, files: Files, measure: MeasureText): Conversion {
  const frame = getFrame(shape, measure);
  switch (shape.kind) {
    case 'rect': {
      const roundness = shape.radius > 0 ? { type: 3, value: shape.radius } : null;
      return { elements: [createElement(shape, 'rectangle', frame, { ...getPaint(shape), roundness })] };
    }
    case 'ellipse':
      return { elements: [createElement(shape, 'ellipse', frame, getPaint(shape))] };
    case 'line':
    case 'arrow': {
      const ends: Point[] = [
        [shape.x1, shape.y1],
        [shape.x2, shape.y2],
      ];
      const heads = shape.kind === 'arrow' ? { endArrowhead: 'triangle', elbowed: false } : { polygon: false };
      return { elements: [createLine(shape, shape.kind, ends, { strokeColor: shape.color, ...heads })] };
    }
    case 'polygon':
      return isDiamond(shape.points, frame)
        ? { elements: [createElement(shape, 'diamond', frame, getPaint(shape))] }
        : { elements: [createLine(shape, 'line', close(shape.points), { ...getPaint(shape), polygon: true })] };
    case 'star':
      return {
        elements: [createLine(shape, 'line', close(getStarPoints(shape)), { ...getPaint(shape), polygon: true })],
        isSimplified: true,
      };
    case 'path': {
      const parts = flattenPath(shape.elements).filter((points) => points.length > 1);
      const isSingle = parts.length === 1;
      return {
        elements: parts.map((points, index) =>
          createLine(shape, 'line', points, { ...getPaint(shape), polygon: false }, isSingle ? '' : `-${index}`),
        ),
        isSimplified: !isSingle || shape.elements.some(({ type }) => type === 'quadratic' || type === 'cubic'),
      };
    }
    case 'pen': {
      const points = shape.trace.map(([x, y]): Point => [x, y]);
      const pressures = shape.trace.map(([, , pressure]) => pressure);
      const fields = { strokeColor: shape.color, strokeWidth: shape.strokeWidth / FREEDRAW_FACTOR, pressures, simulatePressure: false };
      return { elements: [createLine(shape, 'freedraw', points, fields)] };
    }
    case 'highlighter': {
      const { points } = shape;
      const [only] = points;
      return {
        elements: [
          createLine(shape, 'line', only && points.length === 1 ? [only, only] : points, { strokeColor: shape.color, polygon: false }),
        ],
        isSimplified: true,
      };
    }
    case 'text':
      return { elements: [createText(shape, { box: frame, text: shape.text, size: shape.size, color: shape.color })] };
    case 'marker':
      return convertMarker(shape, frame, measure);
    case 'callout':
      return convertCallout(shape, frame, measure);
    case 'image':
      return { elements: [createElement(shape, 'image', frame, toImageFields(shape, files))] };
    case 'redaction':
      return { elements: [createElement(shape, 'rectangle', frame, { backgroundColor: shape.color })] };
    case 'blur':
      // Excalidraw can't blur the content below a shape, so the shape covers it.
      return { elements: [createElement(shape, 'rectangle', frame, { backgroundColor: '#808080' })], isSimplified: true };
  }
}

function toImageFields({ src, mirrored }: Shape<'image'>, files: Files): Fields {
  const file = files.get(src) ?? { id: `file-${files.size + 1}`, mimeType: /^data:([^;]*)/.exec(src)?.[1] ?? 'image/png' };
  files.set(src, file);
  return { fileId: file.id, status: 'saved', scale: [mirrored ? -1 : 1, 1], crop: null };
}

/** A disc with its number, and its note as text beside it. */
function convertMarker(shape: Shape<'marker'>, frame: Box, measure: MeasureText): Conversion {
  const { label, color, note } = shape;
  const size = shape.size * 0.55;
  const elements = createContainer(
    shape,
    'ellipse',
    frame,
    { backgroundColor: color },
    { text: label, size, color: getContrastColor(color), width: measure(label, size) },
  );
  if (note.trim() === '') return { elements };
  const lines = note.split('\n');
  const box = {
    x: frame.x + frame.width + shape.size / 4,
    y: frame.y,
    width: Math.max(...lines.map((line) => measure(line, size))),
    height: lines.length * size * LINE_HEIGHT,
  };
  return { elements: [...elements, createText(shape, { box, text: note, size, color }, '-note')], isSimplified: true };
}

/** A box with a text bound to it, and a triangle to its tip. */
function convertCallout(shape: Shape<'callout'>, frame: Box, measure: MeasureText): Conversion {
  const { x, y, width, height, tipX, tipY, text, size, color, background } = shape;
  const paint = { strokeColor: color, backgroundColor: background ?? 'transparent' };
  const lines = text.split('\n');
  const label = { text, size, color, width: Math.min(width, Math.max(...lines.map((line) => measure(line, size)))) };
  const elements = createContainer(shape, 'rectangle', frame, paint, label);
  if (tipX >= x && tipX <= x + width && tipY >= y && tipY <= y + height) return { elements };
  const [cx, cy] = [x + width / 2, y + height / 2];
  const half = Math.min(12, width / 4, height / 4);
  const isSideways = Math.abs(tipX - cx) * height > Math.abs(tipY - cy) * width;
  const base: [Point, Point] = isSideways
    ? [
        [tipX > cx ? x + width : x, cy - half],
        [tipX > cx ? x + width : x, cy + half],
      ]
    : [
        [cx - half, tipY > cy ? y + height : y],
        [cx + half, tipY > cy ? y + height : y],
      ];
  const tail = createLine(shape, 'line', close([base[0], [tipX, tipY], base[1]]), { ...paint, polygon: true }, '-tail');
  return { elements: [...elements, tail], isSimplified: true };
}
