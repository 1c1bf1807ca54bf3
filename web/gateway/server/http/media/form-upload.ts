import { isUpload, MAX_UPLOAD_BYTES, formatBodyTooLarge } from '#shared/http/body-limits.ts';
import { z } from '#shared/rpc/zod.ts';
import { badRequest, HttpError } from '../http-error.ts';

const MAX_FIELDS = 1000;

/** A file in a form. */
export const fileField = z
  .custom<File>((value) => value instanceof File, 'must be a file')
  .refine((file) => file.size > 0, 'is empty')
  .meta({ type: 'string', format: 'binary' });

/** Reads a `multipart/form-data` body. Throws `HttpError`: 400 if the body is not a form, 413 if it is too large. */
export async function readForm(request: Request): Promise<FormData> {
  const type = request.headers.get('content-type');
  if (!isUpload(type)) throw badRequest('Content-Type must be multipart/form-data.');
  const body = await readBytes(request);
  let form: FormData;
  try {
    form = await new Response(body, { headers: { 'content-type': type ?? '' } }).formData();
  } catch {
    throw badRequest('The body is not valid multipart/form-data.');
  }
  if ([...form.keys()].length > MAX_FIELDS) throw badRequest(`The form must not have more than ${MAX_FIELDS} fields.`);
  return form;
}

async function readBytes(request: Request): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > MAX_UPLOAD_BYTES) {
      void reader.cancel().catch(() => {});
      throw new HttpError(413, 'invalid_request_error', `${formatBodyTooLarge(MAX_UPLOAD_BYTES)}.`);
    }
    parts.push(value);
  }
  return new Blob(parts);
}

/** The fields by name. Names that end in `[]` and repeated names are lists. */
export function toFields(form: FormData): Record<string, unknown> {
  const fields = new Map<string, unknown>();
  for (const key of new Set(form.keys())) {
    const values = form.getAll(key);
    const name = key.endsWith('[]') ? key.slice(0, -2) : key;
    fields.set(name, key.endsWith('[]') || values.length > 1 ? values : values[0]);
  }
  return Object.fromEntries(fields);
}

/** The form for another server: the same fields in the same order, with the provider's own name of the model. */
export function withModel(form: FormData, model: string): FormData {
  const upload = new FormData();
  upload.set('model', model);
  for (const [name, value] of form) if (name !== 'model') upload.append(name, value);
  return upload;
}

/** A number as text of a form field. */
export const formNumber = (min: number, max: number): z.ZodType<number, unknown> =>
  z
    .unknown()
    .transform((value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value))
    .pipe(z.number().min(min).max(max))
    .meta({ type: 'number', minimum: min, maximum: max });

/** A boolean as text of a form field. */
export const formBoolean = z.union(
  [z.boolean(), z.enum(['true', 'false']).transform((value) => value === 'true')],
  'must be true or false',
);
