import { changeSchema } from '../../canvas/change.ts';
import { FIELDS, LIMITS } from '../../canvas/shape-fields.ts';
import { shapeSchema } from '../../canvas/shape-schema.ts';
import { createVisibleName } from '../visible-name.ts';
import { defineMethod } from '../contract.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

/** Limits of a drawing in the gateway. */
export const DRAWING_LIMITS = {
  /** Changes in one call. */
  changes: 25_000,
  /** All effective changes as JSON, as returned by `drawings.open`. */
  chars: 48_000_000,
  /** An unfinished shape as JSON. */
  draftChars: 64_000,
  titleLength: 200,
} as const;

const drawingId = id;
const title = createVisibleName(DRAWING_LIMITS.titleLength);
const side = z.number().min(1).max(LIMITS.coordinate);
const changes = z.array(changeSchema).max(DRAWING_LIMITS.changes);

const drawing = z.object({
  id: z.string(),
  title: z.string(),
  /** Size of the canvas in CSS pixels. */
  width: z.number(),
  height: z.number(),
  /** Colour of the canvas; null if it is transparent. */
  background: z.string().nullable(),
  createdAt: z.number(),
  /** When a shape was last changed. */
  updatedAt: z.number(),
});
/** A drawing without its shapes. */
export type DrawingEntry = z.infer<typeof drawing>;

/** Drawings edited by several clients at once: tabs, devices, agents (docs/decisions/0053-drawings-in-the-gateway.md). */
export const drawingContracts = {
  'drawings.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({ drawings: z.array(drawing), count: z.number().int() }),
    docs: 'Lists drawings, most recently changed first.',
    policy: { scope: 'read' },
  }),
  'drawings.create': defineMethod({
    params: z.strictObject({
      title: title.default('Untitled'),
      width: side,
      height: side,
      background: FIELDS.background.default(null),
      changes: changes.default([]),
      /** Sources of content that others may have made, such as `document:plan.json`. */
      outside: z.array(z.string().min(1).max(200)).max(20).optional(),
    }),
    result: drawing,
    emits: ['drawings.changed'],
    docs: 'Creates a drawing of the given size in CSS pixels, optionally with shapes, as changes of `Drawing.history()`. Everything is stored, or nothing. With `outside` the drawing counts as content from outside until a person reviews it.',
    policy: { scope: 'write' },
  }),
  'drawings.open': defineMethod({
    params: z.strictObject({ drawingId, follow: z.boolean().default(true) }),
    result: z.object({ drawing, changes: z.array(changeSchema) }),
    emits: ['drawing.changed', 'drawing.draft'],
    docs: 'Returns the effective changes of a drawing, in no particular order, to be merged into a `Drawing` of its width, height and background. The connection then receives `drawing.changed` and `drawing.draft` events of other clients until `drawings.close` or its end. Calling it again returns all changes again. `follow: false` only reads and does not affect an existing subscription.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'drawings.change': defineMethod({
    params: z.strictObject({ drawingId, changes }),
    result: z.object({ stored: z.number().int() }),
    docs: 'Stores changes, all or none, and sends them to the other clients that have the drawing open. `stored` is the number of effective changes; repeated and outdated ones are skipped. A frame may have up to 25 MiB, which is a picture of about 18 MiB or about 5,000 shapes. Timestamps may be up to a day in the future.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'drawings.close': defineMethod({
    params: z.strictObject({ drawingId }),
    result: z.object({ closed: z.literal(true) }),
    docs: 'Ends the subscription that `drawings.open` started on this connection.',
    policy: { scope: 'read' },
  }),
  'drawings.rename': defineMethod({
    params: z.strictObject({ drawingId, title }),
    result: drawing,
    emits: ['drawings.changed'],
    docs: 'Sets the title of a drawing.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'drawings.delete': defineMethod({
    params: z.strictObject({ drawingId }),
    result: z.object({
      deleted: z.literal(true),
      /** ID for `trash.restore`; missing if storage is full and nothing could be kept. */
      trashId: z.string().optional(),
    }),
    emits: ['drawings.changed', 'trash.changed'],
    docs: 'Moves a drawing and its history to the trash. Clients that have it open receive `drawings.changed`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'drawings.draft': defineMethod({
    params: z.strictObject({ drawingId, shape: shapeSchema.nullable() }),
    result: z.object({}),
    docs: 'Shows an unfinished shape, up to 64,000 characters of JSON, to the other clients that have the drawing open. Pass null when it is finished or cancelled. Drafts are not stored; only the newest is sent, up to 20 per second, and it ends with the connection.',
    policy: { scope: 'write' },
  }),
};
