import { placeOf } from '#shared/cut-short.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { LIMITS, type RequestFrame, requestFrame, tooManyParts } from '#shared/rpc/frames.ts';

/** A request; what is answered with an error, for its id could be read; or what ends the connection, and why. */
export type ReadFrame = { frame: RequestFrame } | { id: string; error: RpcError } | { close: string };

/** Reads what a client sent (decisions, "Frames and connection": malformed frames). */
export function readClientFrame(text: string): ReadFrame {
  if (tooManyParts(text)) {
    const message = `A frame over 1 MiB can have at most ${LIMITS.maxStructuralChars} structural characters.`;
    // The id of a frame that is too dense stands near its start.
    const id = /"id"\s*:\s*"([^"\\]{1,256})"/.exec(text.slice(0, 4096))?.[1];
    return id === undefined ? { close: message } : { id, error: new RpcError('INVALID_PARAMS', message) };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { close: 'malformed JSON' };
  }
  const frame = requestFrame.safeParse(value);
  // Zod leaves `__proto__` out of what it parses: the params go on as they came, so that it is refused like any unknown one.
  if (frame.success) return { frame: { ...frame.data, params: (value as { params?: Record<string, unknown> }).params ?? {} } };
  const id = typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string' ? value.id : undefined;
  if (id === undefined) return { close: 'not a request frame' };
  const issue = frame.error.issues[0];
  const what = issue ? `${placeOf(issue.path)} ${issue.message}` : 'malformed';
  return { id, error: new RpcError('INVALID_PARAMS', `Invalid request frame: ${what}.`) };
}
