import { generateKeyBetween } from 'fractional-indexing';
import { z } from '../rpc/zod.ts';

/** Limits of a drawing; imported files are checked against them. */
export const LIMITS = {
  /** CSS pixels from the origin, either way. */
  coordinate: 1_000_000,
  shapes: 20_000,
  points: 20_000,
  textLength: 10_000,
  labelLength: 200,
  /** Characters of an image's data URL. */
  imageLength: 48_000_000,
  /** Characters of a whole file. */
  fileLength: 256_000_000,
} as const;

const coordinateSchema = z.number().min(-LIMITS.coordinate).max(LIMITS.coordinate);
const lengthSchema = z.number().min(0).max(LIMITS.coordinate);
const pointSchema = z.tuple([coordinateSchema, coordinateSchema]);
const IMAGE_DATA_URL = /^data:image\/(?:png|jpeg|webp|gif|avif|bmp);base64,/;

/** Whether a text is an image as a data URL in base64. One pattern for all of it would overflow the stack of V8's regular expressions at some 15 MB. */
export function isImageDataUrl(text: string): boolean {
  const header = IMAGE_DATA_URL.exec(text)?.[0];
  if (header === undefined) return false;
  const end = text.endsWith('==') ? -2 : text.endsWith('=') ? -1 : undefined;
  const body = text.slice(header.length, end);
  return body !== '' && !/[^A-Za-z0-9+/]/.test(body);
}

const hexColorSchema = z.string().regex(/^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i, 'must be a colour such as #ff0000');
const flagSchema = z.boolean();

const elementSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('move'), x: coordinateSchema, y: coordinateSchema }),
  z.strictObject({ type: z.literal('line'), x: coordinateSchema, y: coordinateSchema }),
  z.strictObject({ type: z.literal('quadratic'), x1: coordinateSchema, y1: coordinateSchema, x: coordinateSchema, y: coordinateSchema }),
  z.strictObject({
    type: z.literal('cubic'),
    x1: coordinateSchema,
    y1: coordinateSchema,
    x2: coordinateSchema,
    y2: coordinateSchema,
    x: coordinateSchema,
    y: coordinateSchema,
  }),
  z.strictObject({ type: z.literal('close') }),
]);

function isOrder(key: string): boolean {
  try {
    return generateKeyBetween(key, null) > key;
  } catch {
    return false;
  }
}

/**
 * All fields of shapes, each declared once: a name has the same meaning in every kind, so that changes to fields merge whatever the shape.
 */
export const FIELDS = {
  x: coordinateSchema,
  y: coordinateSchema,
  width: lengthSchema,
  height: lengthSchema,
  radius: lengthSchema,
  cx: coordinateSchema,
  cy: coordinateSchema,
  rx: lengthSchema,
  ry: lengthSchema,
  x1: coordinateSchema,
  y1: coordinateSchema,
  x2: coordinateSchema,
  y2: coordinateSchema,
  tipX: coordinateSchema,
  tipY: coordinateSchema,
  outer: lengthSchema,
  inner: lengthSchema,
  spikes: z.int().min(2).max(500),
  points: z.array(pointSchema).max(LIMITS.points),
  /** Points of a pen: x, y and the pressure from 0 to 1. */
  trace: z.array(z.tuple([coordinateSchema, coordinateSchema, z.number().min(0).max(1)])).max(LIMITS.points),
  elements: z.array(elementSchema).max(LIMITS.points),
  text: z.string().max(LIMITS.textLength),
  label: z.string().max(LIMITS.labelLength),
  note: z.string().max(LIMITS.textLength),
  /** Font size of a text, or diameter of a marker. */
  size: z.number().min(1).max(4000),
  src: z.string().max(LIMITS.imageLength).refine(isImageDataUrl, 'must be an image as a data URL in base64'),
  color: hexColorSchema,
  background: hexColorSchema.nullable(),
  strokeWidth: z.number().min(0).max(1000),
  fill: flagSchema,
  antiAlias: flagSchema,
  opacity: z.number().min(0).max(1),
  /** Whether an image is flipped horizontally. For a vertical flip, also rotate it by 180°. */
  mirrored: flagSchema,
  /** Degrees clockwise around the centre of the shape. */
  rotation: z.number().min(-360).max(360),
  /** Block size of a blur in CSS pixels. */
  strength: z.number().min(2).max(200),
  hidden: flagSchema,
  locked: flagSchema,
  /** Position in the stack, as a fractional index between the neighbours. */
  order: z.string().max(200).refine(isOrder, 'must be a fractional indexing key'),
} as const;

const COMMON_FIELDS = { order: FIELDS.order, hidden: FIELDS.hidden, locked: FIELDS.locked };
const { x, y, width, height, color, strokeWidth, fill, antiAlias, opacity, rotation } = FIELDS;
const BOX_FIELDS = { x, y, width, height };
const ENDPOINT_FIELDS = { x1: FIELDS.x1, y1: FIELDS.y1, x2: FIELDS.x2, y2: FIELDS.y2 };
const PAINT_FIELDS = { ...COMMON_FIELDS, color, opacity, rotation, antiAlias };
const STROKE_FIELDS = { ...PAINT_FIELDS, strokeWidth };
const FILL_FIELDS = { ...STROKE_FIELDS, fill };
const defineKind = <const K extends string, S extends z.core.$ZodLooseShape>(name: K, fields: S) =>
  z.strictObject({ kind: z.literal(name), ...fields });

/** All kinds of shapes, and the page. */
export const KINDS = {
  page: defineKind('page', { ...BOX_FIELDS, background: FIELDS.background }),
  rect: defineKind('rect', { ...FILL_FIELDS, ...BOX_FIELDS, radius: FIELDS.radius }),
  ellipse: defineKind('ellipse', { ...FILL_FIELDS, cx: FIELDS.cx, cy: FIELDS.cy, rx: FIELDS.rx, ry: FIELDS.ry }),
  line: defineKind('line', { ...STROKE_FIELDS, ...ENDPOINT_FIELDS }),
  arrow: defineKind('arrow', { ...STROKE_FIELDS, ...ENDPOINT_FIELDS }),
  polygon: defineKind('polygon', { ...FILL_FIELDS, points: FIELDS.points }),
  star: defineKind('star', {
    ...FILL_FIELDS,
    cx: FIELDS.cx,
    cy: FIELDS.cy,
    outer: FIELDS.outer,
    inner: FIELDS.inner,
    spikes: FIELDS.spikes,
  }),
  path: defineKind('path', { ...FILL_FIELDS, elements: FIELDS.elements }),
  pen: defineKind('pen', { ...STROKE_FIELDS, trace: FIELDS.trace }),
  highlighter: defineKind('highlighter', { ...STROKE_FIELDS, points: FIELDS.points }),
  text: defineKind('text', { ...PAINT_FIELDS, x, y, text: FIELDS.text, size: FIELDS.size }),
  marker: defineKind('marker', { ...PAINT_FIELDS, x, y, label: FIELDS.label, note: FIELDS.note, size: FIELDS.size }),
  callout: defineKind('callout', {
    ...STROKE_FIELDS,
    ...BOX_FIELDS,
    tipX: FIELDS.tipX,
    tipY: FIELDS.tipY,
    text: FIELDS.text,
    size: FIELDS.size,
    background: FIELDS.background,
  }),
  image: defineKind('image', { ...COMMON_FIELDS, ...BOX_FIELDS, opacity, rotation, mirrored: FIELDS.mirrored, src: FIELDS.src }),
  /** A solid box: neither transparent nor rotated, whatever its colour. */
  redaction: defineKind('redaction', { ...COMMON_FIELDS, ...BOX_FIELDS, color }),
  /** Cosmetic only: the content below can be guessed. */
  blur: defineKind('blur', { ...COMMON_FIELDS, ...BOX_FIELDS, strength: FIELDS.strength }),
} as const;

export type Kind = Exclude<keyof typeof KINDS, 'page'>;
type FieldTypes = { [F in keyof typeof FIELDS]: z.infer<(typeof FIELDS)[F]> };
export type FieldName = keyof FieldTypes;
/** The page: its position and size in the drawing, in CSS pixels, and its background; null is transparent. */
export type Page = Readonly<z.infer<(typeof KINDS)['page']>>;
/** Fields of a kind of shape, besides its id. */
type ShapeFields<K extends Kind = Kind> = K extends Kind ? Readonly<z.infer<(typeof KINDS)[K]>> : never;
/** A shape of a drawing. */
export type Shape<K extends Kind = Kind> = K extends Kind ? ShapeFields<K> & { readonly id: string } : never;

/** Style of a shape: CSS pixels; filled with its colour, otherwise outlined. */
export interface PaintStyle {
  readonly color: string;
  readonly strokeWidth: number;
  readonly fill: boolean;
  readonly antiAlias: boolean;
}
export const DEFAULT_PAINT_STYLE: PaintStyle = { color: '#000000', strokeWidth: 1, fill: true, antiAlias: true };

/** Default values of fields; a field without one is required. */
const FIELD_DEFAULTS = {
  ...DEFAULT_PAINT_STYLE,
  opacity: 1,
  rotation: 0,
  mirrored: false,
  radius: 0,
  hidden: false,
  locked: false,
  label: '',
  note: '',
  background: null,
  size: 16,
  strength: 12,
} satisfies Partial<FieldTypes>;

/** Defaults that differ by kind. */
const KIND_DEFAULTS: { readonly [K in Kind]?: Partial<FieldTypes> } = {
  highlighter: { color: '#ffe600', strokeWidth: 18, opacity: 0.45 },
  pen: { strokeWidth: 3 },
  marker: { color: '#d92d20', size: 28 },
  callout: { background: '#ffffff' },
};

type OptionalFieldName = keyof typeof FIELD_DEFAULTS | 'order' | 'kind';
/** Required and optional fields of a new shape. */
export type NewShape<K extends Kind> = K extends Kind
  ? Omit<ShapeFields<K>, OptionalFieldName> & Partial<Pick<ShapeFields<K>, OptionalFieldName & keyof ShapeFields<K>>>
  : never;

/** The names of a kind's fields, `kind` among them. */
export const getFieldNames: (kind: keyof typeof KINDS) => readonly string[] = (
  (namesByKind) => (name: keyof typeof KINDS) =>
    namesByKind[name]
)(Object.fromEntries(Object.entries(KINDS).map(([name, { shape }]) => [name, Object.keys(shape)])) as Record<keyof typeof KINDS, string[]>);

/** A shape's fields with all defaults. Throws a ZodError that names missing or invalid fields. */
export function createShapeFields<K extends Kind>(name: K, input: NewShape<K>, order: string): ShapeFields<K> {
  const defaults: Record<string, unknown> = { ...FIELD_DEFAULTS, ...KIND_DEFAULTS[name] };
  const kindDefaults = Object.fromEntries(getFieldNames(name).map((field) => [field, defaults[field]]));
  return KINDS[name].parse({ ...kindDefaults, ...input, kind: name, order }) as ShapeFields<K>;
}

const PARTIAL_SCHEMAS = new Map(
  Object.entries(KINDS).map(([name, { shape }]) => {
    const { kind: _, ...fields } = shape;
    return [name, z.strictObject(fields).partial()] as const;
  }),
);

/** Parses some of a kind's fields. Throws a ZodError for one that is unknown or invalid. */
export const parsePartialFields = (name: keyof typeof KINDS, input: unknown): object => PARTIAL_SCHEMAS.get(name)?.parse(input) ?? {};
