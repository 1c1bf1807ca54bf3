import { generateKeyBetween } from 'fractional-indexing';
import { placeOf } from '#shared/cut-short.ts';
import type { FieldValues } from '#shared/canvas/change.ts';
import type { Drawing } from '#shared/canvas/drawing.ts';
import { FIELDS, fieldsOf, type Kind, LIMITS, type NewShape, shapeFields, someFields } from '#shared/canvas/fields.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { z } from '#shared/rpc/zod.ts';
import { AGENT_SHAPE, covers, known } from './agent-view.ts';

const KINDS = [
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

const NEEDS = `Required fields: rect, redaction, blur: x, y, width, height; ellipse: cx, cy, rx, ry; line, arrow: x1, y1, x2, y2 (an arrow points at x2, y2); polygon, highlighter: points [[x, y], …]; star: cx, cy, outer, inner, spikes; text: x, y, text; marker (a numbered dot): x, y, label, optional note; callout (a speech bubble): x, y, width, height, tipX, tipY, text. Optional: color (#rrggbb), strokeWidth, fill, opacity, rotation (degrees), size (of text and markers).`;

export const drawParams = {
  add: z
    .array(fields.extend({ kind: z.enum(KINDS) }))
    .max(200)
    .default([])
    .describe(`Shapes to add on top. ${NEEDS}`),
  change: z
    .array(fields.extend({ id: z.string().max(128) }))
    .max(200)
    .default([])
    .describe('Fields of shapes to change, by shape id'),
  remove: z.array(z.string().max(128)).max(200).default([]).describe('Ids of shapes to remove'),
};
export type DrawingWork = { [P in keyof typeof drawParams]: z.output<(typeof drawParams)[P]> };

/** Default style of an agent's shapes: they point at things, and hide nothing. */
const LOOK = { color: '#d92d20', strokeWidth: 3, fill: false };
const OWN_LOOK: readonly Kind[] = ['highlighter', 'marker', 'redaction', 'blur'];

/**
 * Applies an agent's work to a drawing and returns the ids of added shapes. Throws `INVALID_PARAMS` for invalid values, and for changes
 * that would uncover something: redactions, blurs, and shapes that they touch stay unchanged. Throws `NOT_FOUND` for a shape that the agent
 * cannot see.
 */
export function drawShapes(on: Drawing, { add, change, remove }: DrawingWork): string[] {
  const writes: [string, FieldValues][] = [];
  if (on.shapes.length + add.length > LIMITS.shapes)
    throw new RpcError('INVALID_PARAMS', `A drawing can have at most ${LIMITS.shapes} shapes.`);
  const open = known(on);
  const changeable = (id: string, path: string) => {
    const shape = on.shape(id);
    if (!shape || shape.hidden) throw new RpcError('NOT_FOUND', `No shape with id "${id}" (\`${path}\`).`);
    if (covers(shape) || !open.has(shape))
      throw new RpcError('INVALID_PARAMS', `\`${path}\` can’t change redactions, blurs or shapes that they touch.`);
    if (shape.locked) throw new RpcError('INVALID_PARAMS', `Shape "${id}" is locked (\`${path}\`).`);
    return shape;
  };
  change.forEach(({ id, ...given }, nth) => {
    const { kind } = changeable(id, `change.${nth}.id`);
    writes.push([id, fitting(`change.${nth}`, () => someFields(kind, given))]);
  });
  remove.forEach((id, nth) => {
    changeable(id, `remove.${nth}`);
    writes.push([id, { removed: true }]);
  });
  let order = on.shapes.at(-1)?.order ?? null;
  const added = add.map(({ kind, ...given }, nth) => {
    order = generateKeyBetween(order, null);
    const look = OWN_LOOK.includes(kind)
      ? {}
      : Object.fromEntries(Object.entries(LOOK).filter(([field]) => fieldsOf(kind).includes(field)));
    const shape = fitting(`add.${nth}`, () => shapeFields(kind, { ...look, ...given } as NewShape<typeof kind>, order ?? ''));
    const id = `${AGENT_SHAPE}${crypto.randomUUID()}`;
    writes.push([id, { ...(shape as FieldValues), removed: false }]);
    return id;
  });
  on.write(writes);
  return added;
}

function fitting<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    throw new RpcError('INVALID_PARAMS', `\`${placeOf([path, ...(issue?.path ?? [])])}\` ${issue?.message ?? 'is invalid'}.`);
  }
}
