import { changeSchema } from '../../canvas/change.ts';
import { FIELDS, LIMITS } from '../../canvas/fields.ts';
import { shapeSchema } from '../../canvas/shape-schema.ts';
import { visibleName } from '../visible-name.ts';
import { call } from '../contract.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

/** What one drawing may have in the gateway. */
export const DRAWING_LIMITS = {
  /** Changes of one call. */
  changes: 25_000,
  /** Of all its changes that still count, as JSON: what `drawings.open` answers with. */
  chars: 48_000_000,
  /** Of a shape under way, as JSON. */
  draftChars: 64_000,
  titleLength: 200,
} as const;

const drawingId = id;
const title = visibleName(DRAWING_LIMITS.titleLength);
const side = z.number().min(1).max(LIMITS.coordinate);
const changes = z.array(changeSchema).max(DRAWING_LIMITS.changes);

export const drawing = z.object({
  id: z.string(),
  title: z.string(),
  /** Of the sheet, CSS pixels. */
  width: z.number(),
  height: z.number(),
  /** Of the sheet; null is see-through. */
  background: z.string().nullable(),
  createdAt: z.number(),
  /** When something was drawn last. */
  updatedAt: z.number(),
});
/** A drawing, without what is on it. */
export type DrawingEntry = z.infer<typeof drawing>;

/** Drawings that several draw at once: tabs, devices, agents (docs/decisions/0053-drawings-in-the-gateway.md). */
export const drawings = {
  'drawings.list': call({
    params: z.strictObject({}),
    result: z.object({ drawings: z.array(drawing), count: z.number().int() }),
    docs: 'Lists drawings, the one drawn on last first.',
    policy: { scope: 'read' },
  }),
  'drawings.create': call({
    params: z.strictObject({
      title: title.default('Untitled'),
      width: side,
      height: side,
      background: FIELDS.background.default(null),
      changes: changes.default([]),
    }),
    result: drawing,
    emits: ['drawings.changed'],
    docs: 'Makes a drawing: a sheet of a size in CSS pixels, and what is on it already, as changes of `Drawing.history()`. It is all stored, or nothing.',
    policy: { scope: 'write' },
  }),
  'drawings.open': call({
    params: z.strictObject({ drawingId, follow: z.boolean().default(true) }),
    result: z.object({ drawing, changes: z.array(changeSchema) }),
    emits: ['drawing.changed', 'drawing.draft'],
    docs: 'All changes of a drawing that count, in no order, to be merged into a `Drawing` of its width, height and background. From then on the connection gets `drawing.changed` and `drawing.draft` of what others do, until `drawings.close` or its end; called again it gives everything again. `follow: false` only reads, and leaves alone what the connection follows.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'drawings.change': call({
    params: z.strictObject({ drawingId, changes }),
    result: z.object({ stored: z.number().int() }),
    docs: 'Stores changes, all of one call or none; `stored` are those that count, for a repeated or outdone one is left out. The others who have the drawing open get them. A frame has 25 MiB at the most, so a picture some 18 MiB; of many shapes some 5,000 go into one call. A change may lie a day in the future.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'drawings.close': call({
    params: z.strictObject({ drawingId }),
    result: z.object({ closed: z.literal(true) }),
    docs: 'Ends what `drawings.open` began on this connection.',
    policy: { scope: 'read' },
  }),
  'drawings.rename': call({
    params: z.strictObject({ drawingId, title }),
    result: drawing,
    emits: ['drawings.changed'],
    docs: 'Gives a drawing another title.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'drawings.delete': call({
    params: z.strictObject({ drawingId }),
    result: z.object({ deleted: z.literal(true) }),
    emits: ['drawings.changed'],
    docs: 'Deletes a drawing and all that was ever drawn on it. Who has it open is told by `drawings.changed`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'drawings.draft': call({
    params: z.strictObject({ drawingId, shape: shapeSchema.nullable() }),
    result: z.object({}),
    docs: 'Shows the others who have the drawing open a shape that is being drawn, 64,000 characters of JSON at the most; null: it is done, or given up. It is stored nowhere, only the newest is passed on, 20 a second, and it ends with the connection.',
    policy: { scope: 'write' },
  }),
};
