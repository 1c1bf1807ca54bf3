import { formatValuePath } from '#shared/truncate-text.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { PROTOCOL_LIMITS, type RequestFrame, requestFrame, hasTooManyTokens } from '#shared/rpc/frames.ts';

/** A request; an error response, if only the id is readable; or the reason to close the connection. */
type ClientFrameResult = { frame: RequestFrame } | { id: string; error: RpcError } | { close: string };

/** Parses a frame from a client. Malformed frames give an error response, or close the connection if they have no id. */
export function parseClientFrame(text: string): ClientFrameResult {
  if (hasTooManyTokens(text)) {
    const message = `A frame over 1 MiB can have at most ${PROTOCOL_LIMITS.maxStructuralChars} structural characters.`;
    // A frame that is too dense to parse has its id near the start.
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
  // Zod drops `__proto__` when it parses: pass the original params on, so that it is refused like any unknown parameter.
  if (frame.success) return { frame: { ...frame.data, params: (value as { params?: Record<string, unknown> }).params ?? {} } };
  const id = typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string' ? value.id : undefined;
  if (id === undefined) return { close: 'not a request frame' };
  const issue = frame.error.issues[0];
  const problem = issue ? `${formatValuePath(issue.path)} ${issue.message}` : 'malformed';
  return { id, error: new RpcError('INVALID_PARAMS', `Invalid request frame: ${problem}.`) };
}
