import { textOf } from './json-type.ts';
import { z } from './zod.ts';

/**
 * What a schema takes (`input`) or gives (`output`), as a person writes a type: `{ path: string, limit?: integer 1–200 = 50 }`. Objects of more than one line
 * are laid out with two spaces a level.
 */
export function typeText(schema: z.ZodType, io: 'input' | 'output'): string {
  return textOf(z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }), '');
}
