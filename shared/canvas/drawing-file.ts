import { z } from '../rpc/zod.ts';
import { PAGE_ID } from './change.ts';
import { Drawing, type DrawingOptions } from './drawing.ts';
import { type Kind, KINDS, LIMITS, type Shape } from './shape-fields.ts';
import { shapeSchema } from './shape-schema.ts';

const FORMAT = 'perch-drawing';
/** Version of the file format; older files are migrated here. 2: pictures may be mirrored. */
const FORMAT_VERSION = 2;

const fileSchema = z.strictObject({
  format: z.literal(FORMAT),
  version: z.int().min(1).max(FORMAT_VERSION),
  page: KINDS.page,
  shapes: z
    .array(shapeSchema)
    .max(LIMITS.shapes)
    .refine((shapes) => new Set(shapes.map(({ id }) => id)).size === shapes.length, 'must not contain duplicate ids')
    .refine((shapes) => shapes.every(({ id }) => id !== PAGE_ID), `must not contain a shape with the reserved id ${PAGE_ID}`),
});

/** Thrown for a file that is not a drawing or can't be read. The message contains the position and reason. */
export class DrawingFileError extends Error {
  override readonly name = 'DrawingFileError';
}

/** Serializes the drawing as versioned JSON for editing. It includes content that redactions hide. */
export function drawingToJson(drawing: Drawing): string {
  return JSON.stringify({ format: FORMAT, version: FORMAT_VERSION, page: drawing.page, shapes: drawing.shapes });
}

/** Parses a drawing from untrusted JSON. Throws a DrawingFileError. */
export function drawingFromJson(json: string, options: Pick<DrawingOptions, 'origin' | 'now'> = {}): Drawing {
  if (json.length > LIMITS.fileLength)
    throw new DrawingFileError(`The drawing is too large. The maximum is ${LIMITS.fileLength} characters.`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw new DrawingFileError('The file is not a drawing: it is not valid JSON.');
  }
  const header = z.object({ format: z.literal(FORMAT), version: z.int() }).safeParse(parsed);
  if (!header.success) throw new DrawingFileError('The file is not a Perch drawing.');
  if (header.data.version > FORMAT_VERSION)
    throw new DrawingFileError(
      `The drawing has version ${header.data.version}, but this version of Perch supports up to version ${FORMAT_VERSION}.`,
    );
  const { success, data, error } = fileSchema.safeParse(parsed);
  if (!success) {
    const [issue] = error.issues;
    throw new DrawingFileError(`The drawing is damaged: ${issue?.path.join('.')} ${issue?.message}.`);
  }
  const drawing = new Drawing({ ...data.page, ...options });
  drawing.write([
    [PAGE_ID, { ...data.page }],
    ...(data.shapes as Shape<Kind>[]).map(({ id, ...fields }) => [id, { ...fields, removed: false }] as const),
  ]);
  return drawing;
}
