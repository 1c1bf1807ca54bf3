import { generateNKeysBetween } from 'fractional-indexing';
import { z } from '../../rpc/zod.ts';
import { PAGE_ID } from '../change.ts';
import { Drawing, type DrawingOptions } from '../drawing.ts';
import { type Box, getBoundingBox, getCorners, getPaintedBounds, rotatePoint } from '../geometry.ts';
import { estimateWidth, getArrowHead, LINE_HEIGHT, type MeasureText } from '../marks.ts';
import { moveTo, type PathElement, type Point, polylinePath } from '../path.ts';
import { createShapeFields, isImageDataUrl, type Kind, LIMITS, type NewShape, type Shape } from '../shape-fields.ts';
import {
  type ExcalidrawBox,
  type ExcalidrawElement,
  ExcalidrawFileError,
  type ExcalidrawLinear,
  parseElements,
  parseJson,
} from './excalidraw-elements.ts';

/** Shapes of an Excalidraw file. */
interface ExcalidrawImport {
  /** Lowest first, with new ids. */
  readonly shapes: readonly Shape[];
  /** Colour of the canvas. */
  readonly background: string;
  /** Number of elements that became the nearest shape, because they have no counterpart here. */
  readonly simplified: number;
  /** Number of elements that were left out. */
  readonly leftOut: number;
}

/** A shape before it has an id. */
type ShapeInput = { [K in Kind]: { kind: K } & NewShape<K> }[Kind];

interface Conversion {
  readonly inputs: readonly ShapeInput[];
  readonly isSimplified?: boolean;
  readonly isLeftOut?: boolean;
}

/** Line width of a freehand stroke, relative to the `strokeWidth` of its element: Excalidraw draws them wider than lines. */
export const FREEDRAW_FACTOR = 4.25;
/** The same for strokes without pressure, which Excalidraw draws thinner. */
const SIMULATED_FACTOR = 2.5;
/** Space around the shapes of a new drawing, in CSS pixels. */
const PAGE_PADDING = 40;
const DEFAULT_COLOR = '#1e1e1e';
const FRAME_COLOR = '#bbbbbb';

/** Reads shapes from the text of a `.excalidraw` file. Throws an ExcalidrawFileError. */
export function shapesFromExcalidraw(json: string, measure: MeasureText = estimateWidth): ExcalidrawImport {
  const file = z
    .object({
      type: z.literal('excalidraw'),
      elements: z.unknown().optional(),
      files: z.unknown().optional(),
      appState: z.unknown().optional(),
    })
    .safeParse(parseJson(json));
  if (!file.success) throw new ExcalidrawFileError('The file is not an Excalidraw drawing.');
  const { elements, files, appState } = file.data;
  const color: unknown = isRecord(appState) && Object.hasOwn(appState, 'viewBackgroundColor') ? appState.viewBackgroundColor : undefined;
  return { ...toShapes(elements, files, measure), background: toHex(color) ?? '#ffffff' };
}

/** Converts raw elements of a file. Throws an ExcalidrawFileError. */
export function toShapes(list: unknown, files: unknown, measure: MeasureText): Omit<ExcalidrawImport, 'background'> {
  const { elements, unknownCount } = parseElements(list);
  const conversions = elements.map((element) => convertElement(element, files, measure));
  const inputs = conversions.flatMap((each) => each.inputs);
  if (inputs.length > LIMITS.shapes)
    throw new ExcalidrawFileError(`The file has ${inputs.length} shapes. A drawing can have at most ${LIMITS.shapes}.`);
  const orders = generateNKeysBetween(null, null, inputs.length);
  const shapes = inputs.map((input, index) => createShape(input, orders[index] ?? 'a0'));
  return {
    shapes,
    simplified: conversions.filter(({ isSimplified }) => isSimplified).length,
    leftOut: unknownCount + conversions.filter(({ isLeftOut }) => isLeftOut).length,
  };
}

/** Creates a drawing whose page encloses the shapes. Throws an ExcalidrawFileError for a file without shapes. */
export function drawingFromExcalidraw(
  json: string,
  { measure = estimateWidth, ...options }: Pick<DrawingOptions, 'origin' | 'now'> & { measure?: MeasureText } = {},
): { drawing: Drawing } & Pick<ExcalidrawImport, 'simplified' | 'leftOut'> {
  const { shapes, background, simplified, leftOut } = shapesFromExcalidraw(json, measure);
  if (shapes.length === 0) throw new ExcalidrawFileError('The file has no shapes.');
  const bounds = getBoundingBox(shapes.flatMap((shape) => getCorners(getPaintedBounds(shape, measure))));
  const x = Math.floor(bounds.x - PAGE_PADDING);
  const y = Math.floor(bounds.y - PAGE_PADDING);
  const [width, height] = [Math.ceil(bounds.width) + 2 * PAGE_PADDING, Math.ceil(bounds.height) + 2 * PAGE_PADDING];
  if (Math.max(-x, -y, width, height) > LIMITS.coordinate) throw new ExcalidrawFileError('The drawing is too large.');
  const drawing = new Drawing({ width, height, background, ...options });
  drawing.write([
    [PAGE_ID, { kind: 'page', x, y, width, height, background }],
    ...shapes.map(({ id, ...fields }) => [id, { ...fields, removed: false }] as const),
  ]);
  return { drawing, simplified, leftOut };
}

function createShape(input: ShapeInput, order: string): Shape {
  try {
    return { id: crypto.randomUUID(), ...createShapeFields(input.kind, input, order) } as Shape;
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
    throw new ExcalidrawFileError(`The file is damaged: ${input.kind}, ${issue?.path.join('.')}: ${issue?.message}.`);
  }
}

function convertElement(element: ExcalidrawElement, files: unknown, measure: MeasureText): Conversion {
  switch (element.type) {
    case 'rectangle':
    case 'ellipse':
    case 'diamond':
      return convertBox(element);
    case 'line':
    case 'arrow':
      return convertLinear(element);
    case 'freedraw':
      return convertFreedraw(element);
    case 'text':
      return convertText(element, measure);
    case 'image':
      return convertImage(element, files);
    case 'frame':
    case 'magicframe':
      return convertFrame(element, element.name ?? '');
    case 'embeddable':
    case 'iframe':
      return convertFrame(element, element.link ?? '');
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A colour of Excalidraw as hexadecimal; undefined for transparent and for others. */
function toHex(color: unknown): string | undefined {
  return typeof color === 'string' && /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(color) ? color.toLowerCase() : undefined;
}

const isTransparent = (color: string): boolean => color === 'transparent' || color === '' || /^#(...0|......00)$/.test(color);

/** Whether a style of the element can only be approximated: dashes, hatching, colours by name. */
const isStyleSimplified = ({ strokeStyle, strokeColor, backgroundColor, fillStyle }: ExcalidrawElement): boolean =>
  strokeStyle !== 'solid' ||
  (!isTransparent(strokeColor) && toHex(strokeColor) === undefined) ||
  (!isTransparent(backgroundColor) && (toHex(backgroundColor) === undefined || fillStyle !== 'solid'));

const getStrokeColor = ({ strokeColor }: ExcalidrawElement): string => toHex(strokeColor) ?? DEFAULT_COLOR;
const getFillColor = ({ backgroundColor }: ExcalidrawElement): string | undefined =>
  isTransparent(backgroundColor) ? undefined : (toHex(backgroundColor) ?? '#cccccc');

/** Degrees clockwise, from 0 to 360. */
const toDegrees = (radians: number): number => {
  const degrees = Math.round(((radians * 180) / Math.PI) * 1000) / 1000;
  return ((degrees % 360) + 360) % 360;
};

const getCommon = ({ angle, opacity, locked }: ExcalidrawElement) => ({
  rotation: toDegrees(angle),
  opacity: opacity / 100,
  locked: locked ?? false,
});

/** The box of an element, also if its lengths are negative. */
function getBox({ x, y, width, height }: { x: number; y: number; width: number; height: number }): Box {
  return { x: Math.min(x, x + width), y: Math.min(y, y + height), width: Math.abs(width), height: Math.abs(height) };
}

/** A filled shape below an outlined one: here a shape has either. */
function createFilledAndOutlined(
  element: ExcalidrawElement,
  create: (style: { color: string; fill: boolean }) => ShapeInput,
): ShapeInput[] {
  const fill = getFillColor(element);
  const hasOutline = !isTransparent(element.strokeColor) && element.strokeWidth > 0;
  return [
    ...(fill === undefined ? [] : [create({ color: fill, fill: true })]),
    ...(hasOutline ? [create({ color: getStrokeColor(element), fill: false })] : []),
  ];
}

function convertBox(element: ExcalidrawBox): Conversion {
  const { type, roundness, strokeWidth } = element;
  const box = getBox(element);
  const { x, y, width, height } = box;
  const common = { ...getCommon(element), strokeWidth };
  const side = Math.min(width, height);
  const radius = roundness === null ? 0 : roundness.type === 3 ? Math.min(roundness.value ?? 32, side / 4) : side / 4;
  const [cx, cy] = [x + width / 2, y + height / 2];
  const inputs = createFilledAndOutlined(element, (style) => {
    if (type === 'rectangle') return { kind: 'rect', ...common, ...style, ...box, radius };
    if (type === 'ellipse') return { kind: 'ellipse', ...common, ...style, cx, cy, rx: width / 2, ry: height / 2 };
    const corners: [number, number][] = [
      [cx, y],
      [x + width, cy],
      [cx, y + height],
      [x, cy],
    ];
    return { kind: 'polygon', ...common, ...style, points: corners };
  });
  return { inputs, isSimplified: isStyleSimplified(element), isLeftOut: inputs.length === 0 };
}

/** Points of a line on the canvas, rotated: a curve may have another centre than its points. */
function getPoints({
  x,
  y,
  angle,
  points,
}: {
  x: number;
  y: number;
  angle: number;
  points: readonly (readonly number[])[];
}): [number, number][] {
  const placed = points.map(([dx = 0, dy = 0]): Point => [x + dx, y + dy]);
  const frame = getBoundingBox(placed);
  return placed.map((each) => [...rotatePoint(each, frame, toDegrees(angle))]);
}

/** A curve through points, as Excalidraw draws rounded lines. */
function createCurve(points: readonly Point[]): PathElement[] {
  const at = (index: number): Point => points[Math.min(points.length - 1, Math.max(0, index))] ?? [0, 0];
  return [
    moveTo(...at(0)),
    ...points.slice(1).map((to, index): PathElement => {
      const [before, from, after] = [at(index - 1), at(index), at(index + 2)];
      return {
        type: 'cubic',
        x1: from[0] + (to[0] - before[0]) / 6,
        y1: from[1] + (to[1] - before[1]) / 6,
        x2: to[0] - (after[0] - from[0]) / 6,
        y2: to[1] - (after[1] - from[1]) / 6,
        x: to[0],
        y: to[1],
      };
    }),
  ];
}

/** A filled triangle with its tip at `to`, as an arrow has it. */
const createHead = (from: Point, to: Point, strokeWidth: number): [number, number][] =>
  getArrowHead(from, to, strokeWidth).map(([x, y]) => [x, y]);

function convertLinear(element: ExcalidrawLinear): Conversion {
  const { type, strokeWidth, roundness, startArrowhead, endArrowhead } = element;
  const points = getPoints(element);
  const first: Point = points[0] ?? [0, 0];
  const last: Point = points.at(-1) ?? first;
  const style = { ...getCommon(element), rotation: 0, strokeWidth, color: getStrokeColor(element) };
  const isSimplified = isStyleSimplified(element);
  if (isTransparent(element.strokeColor) && getFillColor(element) === undefined) return { inputs: [], isLeftOut: true };
  if (points.length <= 2) {
    const hasBoth = startArrowhead !== null && endArrowhead !== null;
    const [from, to] = startArrowhead !== null && !hasBoth ? [last, first] : [first, last];
    const ends = { x1: from[0], y1: from[1], x2: to[0], y2: to[1] };
    const hasHead = startArrowhead !== null || endArrowhead !== null;
    const inputs: ShapeInput[] = [hasHead ? { kind: 'arrow', ...style, ...ends } : { kind: 'line', ...style, ...ends }];
    if (hasBoth) inputs.push({ kind: 'polygon', ...style, fill: true, points: createHead(last, first, strokeWidth) });
    return { inputs, isSimplified: isSimplified || hasBoth || [startArrowhead, endArrowhead].some(isOtherHead) };
  }
  const isClosed = type === 'line' && (element.polygon || (first[0] === last[0] && first[1] === last[1]));
  const isCurved = roundness !== null && !element.elbowed;
  const elements = isCurved ? createCurve(points) : polylinePath(points);
  const outline: PathElement[] = isClosed ? [...elements, { type: 'close' }] : elements;
  const inputs: ShapeInput[] = createFilledAndOutlined(element, (paint) =>
    isClosed && !isCurved
      ? { kind: 'polygon', ...style, ...paint, points: points.slice(0, first[0] === last[0] && first[1] === last[1] ? -1 : undefined) }
      : { kind: 'path', ...style, ...paint, elements: outline },
  );
  const second = points[1] ?? first;
  const secondLast = points.at(-2) ?? last;
  if (startArrowhead !== null) inputs.push({ kind: 'polygon', ...style, fill: true, points: createHead(second, first, strokeWidth) });
  if (endArrowhead !== null) inputs.push({ kind: 'polygon', ...style, fill: true, points: createHead(secondLast, last, strokeWidth) });
  return { inputs, isSimplified: isSimplified || startArrowhead !== null || endArrowhead !== null };
}

/** Whether an arrowhead is none of the triangles that exist here. */
const isOtherHead = (head: string | null): boolean => head !== null && head !== 'arrow' && head !== 'triangle';

function convertFreedraw(element: Extract<ExcalidrawElement, { type: 'freedraw' }>): Conversion {
  const { pressures, simulatePressure, strokeWidth } = element;
  const isSimulated = simulatePressure || pressures.length === 0;
  const trace = getPoints(element).map(([x, y], index): [number, number, number] => [
    x,
    y,
    isSimulated ? 0.5 : Math.min(1, Math.max(0, pressures[index] ?? 0.5)),
  ]);
  const width = Math.min(1000, strokeWidth * (isSimulated ? SIMULATED_FACTOR : FREEDRAW_FACTOR));
  const { opacity, locked } = getCommon(element);
  const inputs: ShapeInput[] = [{ kind: 'pen', color: getStrokeColor(element), strokeWidth: width, opacity, locked, trace }];
  return { inputs, isSimplified: isStyleSimplified(element) };
}

function convertText(element: Extract<ExcalidrawElement, { type: 'text' }>, measure: MeasureText): Conversion {
  const { x, y, width, height, text, fontSize, textAlign } = element;
  if (text.trim() === '') return { inputs: [], isLeftOut: true };
  const lines = text.split('\n');
  const own = Math.max(...lines.map((line) => measure(line, fontSize)));
  const free = width === 0 ? 0 : width - own;
  const left = textAlign === 'center' ? x + free / 2 : textAlign === 'right' ? x + free : x;
  const top = height === 0 ? y : y + (height - lines.length * fontSize * LINE_HEIGHT) / 2;
  const inputs: ShapeInput[] = [
    { kind: 'text', ...getCommon(element), color: getStrokeColor(element), x: left, y: top, text, size: fontSize },
  ];
  return { inputs, isSimplified: isStyleSimplified(element) || (textAlign !== 'left' && lines.length > 1) };
}

function convertImage(element: Extract<ExcalidrawElement, { type: 'image' }>, files: unknown): Conversion {
  const { fileId, scale, crop } = element;
  const file: unknown = fileId !== null && isRecord(files) && Object.hasOwn(files, fileId) ? files[fileId] : undefined;
  // Excalidraw keeps the place of a picture whose file is still on its way; SVG could contain more than pixels.
  if (file === undefined) return { inputs: [], isLeftOut: true };
  const src: unknown = isRecord(file) ? file.dataURL : undefined;
  if (typeof src === 'string' && src.startsWith('data:image/svg+xml')) return { inputs: [], isLeftOut: true };
  if (typeof src !== 'string' || src.length > LIMITS.imageLength || !isImageDataUrl(src))
    throw new ExcalidrawFileError('The file is damaged: a picture in it can’t be read.');
  const { rotation, opacity, locked } = getCommon(element);
  const [flipX, flipY] = [scale[0] < 0, scale[1] < 0];
  const input: ShapeInput = {
    kind: 'image',
    ...getBox(element),
    opacity,
    locked,
    src,
    mirrored: flipX !== flipY,
    rotation: flipY ? (rotation + 180) % 360 : rotation,
  };
  return { inputs: [input], isSimplified: crop !== undefined && crop !== null };
}

/** A frame, or content of a website, as an outline with its name. */
function convertFrame(element: ExcalidrawElement & { width: number; height: number }, label: string): Conversion {
  const { opacity, locked, rotation } = getCommon(element);
  const box = getBox(element);
  const common = { color: FRAME_COLOR, opacity, locked, rotation };
  const inputs: ShapeInput[] = [{ kind: 'rect', ...box, ...common, fill: false, strokeWidth: 2, radius: 8 }];
  const name = label.trim();
  if (name !== '') inputs.push({ kind: 'text', ...common, rotation: 0, color: '#999999', x: box.x, y: box.y - 22, text: name, size: 14 });
  return { inputs, isSimplified: true };
}
