import { z } from '../rpc/zod.ts';
import { FIELDS, type FieldName, KINDS, LIMITS } from './shape-fields.ts';

/** A change to the fields of one shape. The last write by `at` wins for each field, so changes may arrive in any order and more than once. */
export interface Change {
  readonly id: string;
  /** A timestamp of a hybrid logical clock (shared/sync). */
  readonly at: string;
  readonly set: FieldValues;
}

/** Any of the fields. `removed` is true if the shape was deleted. */
export type FieldValues = { readonly [F in FieldName]?: z.infer<(typeof FIELDS)[F]> } & {
  readonly kind?: keyof typeof KINDS;
  readonly removed?: boolean;
};
export type RegisterName = keyof FieldValues;

/** The ID of the canvas itself. */
export const PAGE_ID = 'page';

export const idSchema = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/);

/** A change to a shape, as sent between clients. */
export const changeSchema = z.strictObject({
  id: idSchema,
  at: z.string().regex(/^\d{15}-[0-9a-z]{4}-[A-Za-z0-9_-]{1,128}$/),
  set: z.strictObject({ ...FIELDS, kind: z.enum(Object.keys(KINDS) as (keyof typeof KINDS)[]), removed: z.boolean() }).partial(),
});

const changesSchema = z.array(changeSchema).max(LIMITS.shapes * 10);

/** Parses changes from another tab or host. Throws a ZodError that names the invalid field. */
export const parseChanges = (input: unknown): Change[] => changesSchema.parse(input);
