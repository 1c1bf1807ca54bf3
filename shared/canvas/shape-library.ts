import { z } from '../rpc/zod.ts';
import { LIMITS, type Shape } from './shape-fields.ts';
import { shapeSchema } from './shape-schema.ts';

/** A named group of shapes for reuse in drawings. */
export interface LibraryItem {
  readonly id: string;
  readonly name: string;
  readonly shapes: readonly Shape[];
}

/** Maximum number of items of a library. */
export const MAX_LIBRARY_ITEMS = 1000;

const FORMAT = 'perch-library';

const fileSchema = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(1),
  items: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(128),
        name: z.string().max(LIMITS.labelLength),
        shapes: z.array(shapeSchema).min(1).max(LIMITS.shapes),
      }),
    )
    .max(MAX_LIBRARY_ITEMS)
    .refine((items) => new Set(items.map(({ id }) => id)).size === items.length, 'must not contain duplicate ids'),
});

/** Serializes a library as versioned JSON. */
export const libraryToJson = (items: readonly LibraryItem[]): string => JSON.stringify({ format: FORMAT, version: 1, items });

/** Parses a library from untrusted JSON. Throws an Error for any other or damaged text. */
export function libraryFromJson(json: string): LibraryItem[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw new Error('The shape library is damaged: it is not valid JSON.');
  }
  const { success, data, error } = fileSchema.safeParse(parsed);
  if (success) return data.items as LibraryItem[];
  const [issue] = error.issues;
  throw new Error(`The shape library is damaged: ${issue?.path.join('.')} ${issue?.message}.`);
}
