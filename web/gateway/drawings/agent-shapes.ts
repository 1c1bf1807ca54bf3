import { generateKeyBetween } from 'fractional-indexing';
import { formatValuePath } from '#shared/truncate-text.ts';
import type { FieldValues } from '#shared/canvas/change.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import {
  FIELDS,
  getFieldNames,
  type Kind,
  LIMITS,
  type NewShape,
  createShapeFields,
  parsePartialFields,
} from '#shared/canvas/shape-fields.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { AGENT_SHAPE_PREFIX, isCover, findVisibleShapes } from './agent-view.ts';

const AGENT_SHAPE_KINDS = [
  'rect',
  'ellipse',
  'line',
  'arrow',
  'polygon',
  'star',
  'highlighter',
  'text',
  'marker',
  'callout',
  'redaction',
  'blur',
] as const satisfies readonly Kind[];

const coordinate = FIELDS.x;
const { x, y, width, height, radius, cx, cy, rx, ry, x1, y1, x2, y2, tipX, tipY, outer, inner, spikes } = FIELDS;
const { text, label, note, size, color, background, strokeWidth, fill, opacity, rotation, strength } = FIELDS;

const fields = z
  .strictObject({
    ...{ x, y, width, height, radius, cx, cy, rx, ry, x1, y1, x2, y2, tipX, tipY, outer, inner, spikes },
    ...{ text, label, note, size, color, background, strokeWidth, fill, opacity, rotation, strength },
    points: z.array(z.array(coordinate).min(2).max(2)).min(2).max(1000),
  })
  .partial();

const FIELDS_HELP = `Required fields: rect, redaction, blur: x, y, width, height; ellipse: cx, cy, rx, ry; line, arrow: x1, y1, x2, y2 (an arrow points at x2, y2); polygon, highlighter: points [[x, y], …]; star: cx, cy, outer, inner, spikes; text: x, y, text; marker (a numbered dot): x, y, label, optional note; callout (a speech bubble): x, y, width, height, tipX, tipY, text. Optional: color (#rrggbb), strokeWidth, fill, opacity, rotation (degrees), size (of text and markers).`;

export const drawParams = {
  add: z
    .array(fields.extend({ kind: z.enum(AGENT_SHAPE_KINDS) }))
    .max(200)
    .default([])
    .describe(`Shapes to add on top. ${FIELDS_HELP}`),
  change: z
    .array(fields.extend({ id: z.string().max(128) }))
    .max(200)
    .default([])
    .describe('Fields of shapes to change, by shape id'),
  remove: z.array(z.string().max(128)).max(200).default([]).describe('Ids of shapes to remove'),
};
type DrawingEdits = { [P in keyof typeof drawParams]: z.output<(typeof drawParams)[P]> };

/** Default style of an agent's shapes: they point at things, and hide nothing. */
const DEFAULT_STYLE = { color: '#d92d20', strokeWidth: 3, fill: false };
const UNSTYLED_KINDS: readonly Kind[] = ['highlighter', 'marker', 'redaction', 'blur'];

/**
 * Applies an agent's work to a drawing and returns the ids of added shapes. Throws `INVALID_PARAMS` for invalid values, and for changes
 * that would uncover something: redactions, blurs, and shapes that they touch stay unchanged. Throws `NOT_FOUND` for a shape that the agent
 * cannot see.
 */
export function drawShapes(drawing: Drawing, { add, change, remove }: DrawingEdits): string[] {
  const writes: [string, FieldValues][] = [];
  if (drawing.shapes.length + add.length > LIMITS.shapes)
    throw new RpcError('INVALID_PARAMS', `A drawing can have at most ${LIMITS.shapes} shapes.`);
  const visible = findVisibleShapes(drawing);
  const requireChangeable = (id: string, path: string) => {
    const shape = drawing.shape(id);
    if (!shape || shape.hidden) throw new RpcError('NOT_FOUND', `No shape with id "${id}" (\`${path}\`).`);
    if (isCover(shape) || !visible.has(shape))
      throw new RpcError('INVALID_PARAMS', `\`${path}\` can’t change redactions, blurs or shapes that they touch.`);
    if (shape.locked) throw new RpcError('INVALID_PARAMS', `Shape "${id}" is locked (\`${path}\`).`);
    return shape;
  };
  change.forEach(({ id, ...values }, index) => {
    const { kind } = requireChangeable(id, `change.${index}.id`);
    writes.push([id, parseOrThrow(`change.${index}`, () => parsePartialFields(kind, values))]);
  });
  remove.forEach((id, index) => {
    requireChangeable(id, `remove.${index}`);
    writes.push([id, { removed: true }]);
  });
  let order = drawing.shapes.at(-1)?.order ?? null;
  const added = add.map(({ kind, ...values }, index) => {
    order = generateKeyBetween(order, null);
    const style = UNSTYLED_KINDS.includes(kind)
      ? {}
      : Object.fromEntries(Object.entries(DEFAULT_STYLE).filter(([field]) => getFieldNames(kind).includes(field)));
    const shape = parseOrThrow(`add.${index}`, () =>
      createShapeFields(kind, { ...style, ...values } as NewShape<typeof kind>, order ?? ''),
    );
    const id = `${AGENT_SHAPE_PREFIX}${crypto.randomUUID()}`;
    writes.push([id, { ...(shape as FieldValues), removed: false }]);
    return id;
  });
  drawing.write(writes);
  return added;
}

function parseOrThrow<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    throw new RpcError('INVALID_PARAMS', `\`${formatValuePath([path, ...(issue?.path ?? [])])}\` ${issue?.message ?? 'is invalid'}.`);
  }
}
