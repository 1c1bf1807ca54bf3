import { z } from '../rpc/zod.ts';
import { LIMITS, type Shape } from './shape-fields.ts';
import { shapeSchema } from './shape-schema.ts';

const FORMAT = 'perch-shapes';

const clipSchema = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(1),
  shapes: z.array(shapeSchema).min(1).max(LIMITS.shapes),
});

/** Serializes shapes as text for the clipboard, lowest first. */
export const shapesToText = (shapes: readonly Shape[]): string => JSON.stringify({ format: FORMAT, version: 1, shapes });

/** Parses shapes from a clipboard's text. Undefined for any other or damaged text. */
export function shapesFromText(text: string): Shape[] | undefined {
  if (text.length > LIMITS.fileLength) return undefined;
  try {
    const { success, data } = clipSchema.safeParse(JSON.parse(text));
    return success ? (data.shapes as Shape[]) : undefined;
  } catch {
    return undefined;
  }
}
