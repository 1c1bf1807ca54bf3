import { z } from '../../rpc/zod.ts';
import { LIMITS } from '../shape-fields.ts';

/** Thrown for a file that is not an Excalidraw file or can't be read. The message says where and why. */
export class ExcalidrawFileError extends Error {
  override readonly name = 'ExcalidrawFileError';
}

const number = z.number().min(-LIMITS.coordinate).max(LIMITS.coordinate);
const length = z.number().min(0).max(LIMITS.coordinate);
const text = z.string().max(LIMITS.textLength);
const point = z.tuple([number, number], number);
const points = z.array(point).max(LIMITS.points);
const arrowhead = z.string().max(100).nullable().default(null);

/** Fields of every element; those that older versions of Excalidraw lack have its defaults. */
const COMMON = {
  id: z.string().max(500).default(''),
  x: number,
  y: number,
  angle: z.number().min(-1000).max(1000).default(0),
  strokeColor: z.string().max(100).default('#1e1e1e'),
  backgroundColor: z.string().max(100).default('transparent'),
  fillStyle: z.string().max(100).default('solid'),
  strokeWidth: z.number().min(0).max(1000).default(2),
  strokeStyle: z.string().max(100).default('solid'),
  opacity: z.number().min(0).max(100).default(100),
  roundness: z.object({ type: z.number(), value: length.optional() }).nullable().default(null),
  isDeleted: z.boolean().default(false),
  locked: z.boolean().nullish(),
};
/** Excalidraw writes negative lengths for boxes that were dragged to the left or upwards. */
const BOX = { width: number, height: number };
const LINEAR = { points: points.min(1), startArrowhead: arrowhead, endArrowhead: arrowhead, elbowed: z.boolean().default(false) };

const ELEMENTS = {
  rectangle: z.object({ type: z.literal('rectangle'), ...COMMON, ...BOX }),
  ellipse: z.object({ type: z.literal('ellipse'), ...COMMON, ...BOX }),
  diamond: z.object({ type: z.literal('diamond'), ...COMMON, ...BOX }),
  line: z.object({ type: z.literal('line'), ...COMMON, ...LINEAR, polygon: z.boolean().default(false) }),
  arrow: z.object({ type: z.literal('arrow'), ...COMMON, ...LINEAR }),
  freedraw: z.object({
    type: z.literal('freedraw'),
    ...COMMON,
    points: points.min(1),
    pressures: z.array(z.number()).max(LIMITS.points).default([]),
    simulatePressure: z.boolean().default(true),
  }),
  text: z.object({
    type: z.literal('text'),
    ...COMMON,
    width: number.default(0),
    height: number.default(0),
    text,
    fontSize: z.number().min(1).max(4000).default(20),
    textAlign: z.string().max(100).default('left'),
  }),
  image: z.object({
    type: z.literal('image'),
    ...COMMON,
    ...BOX,
    fileId: z.string().max(500).nullable().default(null),
    scale: z.tuple([z.number(), z.number()]).default([1, 1]),
    crop: z.unknown().optional(),
  }),
  frame: z.object({ type: z.enum(['frame', 'magicframe']), ...COMMON, ...BOX, name: text.nullish() }),
  embeddable: z.object({ type: z.enum(['embeddable', 'iframe']), ...COMMON, ...BOX, link: text.nullish() }),
} as const;
type ElementSchemas = typeof ELEMENTS;
export type ExcalidrawElement = { [T in keyof ElementSchemas]: z.infer<ElementSchemas[T]> }[keyof ElementSchemas];
export type ExcalidrawBox = Extract<ExcalidrawElement, { type: 'rectangle' | 'ellipse' | 'diamond' }>;
export type ExcalidrawLinear = Extract<ExcalidrawElement, { type: 'line' | 'arrow' }>;

const SCHEMAS: ReadonlyMap<string, z.ZodType<ExcalidrawElement>> = new Map<string, z.ZodType<ExcalidrawElement>>([
  ...Object.entries(ELEMENTS),
  ['magicframe', ELEMENTS.frame],
  ['iframe', ELEMENTS.embeddable],
]);

/** Parses untrusted JSON. Throws an ExcalidrawFileError. */
export function parseJson(json: string): unknown {
  if (json.length > LIMITS.fileLength)
    throw new ExcalidrawFileError(`The file is too large. The maximum is ${LIMITS.fileLength} characters.`);
  try {
    return JSON.parse(json) as unknown;
  } catch {
    throw new ExcalidrawFileError('The file is not valid JSON.');
  }
}

/**
 * Parses elements of a file, without deleted ones. `unknownCount`: elements of types that don't exist here. Throws an ExcalidrawFileError
 * that names the first damaged one.
 */
export function parseElements(list: unknown): { elements: ExcalidrawElement[]; unknownCount: number } {
  if (!Array.isArray(list)) throw new ExcalidrawFileError('The file is damaged: it has no list of elements.');
  if (list.length > LIMITS.shapes)
    throw new ExcalidrawFileError(`The file has ${list.length} elements. A drawing can have at most ${LIMITS.shapes} shapes.`);
  const elements: ExcalidrawElement[] = [];
  let unknownCount = 0;
  for (const [index, raw] of (list as unknown[]).entries()) {
    const header = z.object({ type: z.string().max(100), isDeleted: z.boolean().default(false) }).safeParse(raw);
    if (!header.success) throw new ExcalidrawFileError(`The file is damaged: element ${index + 1} has no type.`);
    const { type, isDeleted } = header.data;
    const schema = SCHEMAS.get(type);
    if (isDeleted || type === 'selection') continue;
    if (!schema) {
      unknownCount++;
      continue;
    }
    const { success, data, error } = schema.safeParse(raw);
    if (!success) {
      const [issue] = error.issues;
      throw new ExcalidrawFileError(
        `The file is damaged: element ${index + 1} (${type}), ${issue?.path.join('.') || 'fields'}: ${issue?.message}.`,
      );
    }
    elements.push(data);
  }
  return { elements, unknownCount };
}
