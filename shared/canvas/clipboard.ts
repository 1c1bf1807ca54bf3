import { z } from '../rpc/zod.ts';
import { LIMITS, type Shape } from './shape-fields.ts';
import { shapeSchema } from './shape-schema.ts';

const FORMAT = 'perch-shapes';

const clipSchema = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(1),
  shapes: z.array(shapeSchema).min(1).max(LIMITS.shapes),
});

/** Shapes as text for the clipboard, the lowest first. */
export const shapesToText = (shapes: readonly Shape[]): string => JSON.stringify({ format: FORMAT, version: 1, shapes });

/** Parses shapes from a clipboard's text; undefined if it is anything else, or damaged. */
export function shapesFromText(text: string): Shape[] | undefined {
  if (text.length > LIMITS.fileLength) return undefined;
  try {
    const { success, data } = clipSchema.safeParse(JSON.parse(text));
    return success ? (data.shapes as Shape[]) : undefined;
  } catch {
    return undefined;
  }
}
