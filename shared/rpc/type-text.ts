import { type FieldDocs, formatType } from './json-type.ts';
import { z } from './zod.ts';

/**
 * Formats the type that a schema accepts (`input`) or returns (`output`): `{ path: string, limit?: integer 1–200 = 50 }`. Objects of more than one line
 * are indented by two spaces a level. With `docs`, fields that have documentation get a comment.
 */
export function formatSchemaType(schema: z.ZodType, io: 'input' | 'output', docs?: FieldDocs): string {
  return formatType(z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }), '', docs);
}
