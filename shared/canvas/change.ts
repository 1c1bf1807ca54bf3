import { z } from '../rpc/zod.ts';
import { FIELDS, type FieldName, KINDS, LIMITS } from './fields.ts';

/** What becomes of one shape's fields: whoever wrote a field last, by `at`, wins, so changes may come in any order and more than once. */
export interface Change {
  readonly id: string;
  /** A reading of a hybrid clock (shared/sync). */
  readonly at: string;
  readonly set: FieldValues;
}

/** Any of the fields; `removed` says whether the shape is gone. */
export type FieldValues = { readonly [F in FieldName]?: z.infer<(typeof FIELDS)[F]> } & {
  readonly kind?: keyof typeof KINDS;
  readonly removed?: boolean;
};
export type RegisterName = keyof FieldValues;

/** The id of the sheet's own record. */
export const PAGE = 'page';

export const idSchema = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/);

/** A change as it comes from elsewhere. */
export const changeSchema = z.strictObject({
  id: idSchema,
  at: z.string().regex(/^\d{15}-[0-9a-z]{4}-[A-Za-z0-9_-]{1,128}$/),
  set: z.strictObject({ ...FIELDS, kind: z.enum(Object.keys(KINDS) as (keyof typeof KINDS)[]), removed: z.boolean() }).partial(),
});

const changes = z.array(changeSchema).max(LIMITS.shapes * 10);

/** Changes that another tab or host sent. Throws a ZodError that names what does not fit. */
export const parseChanges = (sent: unknown): Change[] => changes.parse(sent);
