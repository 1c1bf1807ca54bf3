import { MAX_BODY_BYTES } from '#shared/http/body-limits.ts';
import { parseJson } from '#shared/parse-json.ts';
import { hasTooManyTokens } from '#shared/rpc/frames.ts';
import { badRequest, HttpError } from './http-error.ts';

const createTooLargeError = (): HttpError => new HttpError(413, 'invalid_request_error', 'The body must not be larger than 20 MB.');

async function readBodyText(request: Request): Promise<{ text: string; size: number }> {
  if (!request.body) return { text: '', size: 0 };
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = request.body.getReader();
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > MAX_BODY_BYTES) {
      void reader.cancel().catch(() => {});
      throw createTooLargeError();
    }
    try {
      text += decoder.decode(value, { stream: true });
    } catch {
      void reader.cancel().catch(() => {});
      throw badRequest('The body is not valid UTF-8.');
    }
  }
  try {
    return { text: text + decoder.decode(), size };
  } catch {
    throw badRequest('The body is not valid UTF-8.');
  }
}

/** Parses a request's JSON object; see `readJsonBody`. */
export const readJson = async (request: Request): Promise<Record<string, unknown>> => (await readJsonBody(request)).value;

/**
 * Parses a request's JSON object; returns it with its text and size in bytes. Throws `HttpError`: 400 if the body is not a JSON object, 413
 * if it is too large or too deeply nested.
 */
export async function readJsonBody(request: Request): Promise<{ value: Record<string, unknown>; text: string; size: number }> {
  const type = request.headers.get('content-type');
  if (type && !/^application\/(json|[\w.+-]+\+json)\s*(;|$)/i.test(type.trim())) throw badRequest('Content-Type must be application/json.');
  const { text, size } = await readBodyText(request);
  if (hasTooManyTokens(text))
    throw new HttpError(413, 'invalid_request_error', 'The body must not have more than 200,000 structural characters.');
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw badRequest(
      text.trim() === '' ? 'The body is empty. Send a JSON object.' : 'The body is not valid JSON, or it is nested too deeply.',
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest('The body must be a JSON object.');
  return { value: { ...value }, text, size };
}
