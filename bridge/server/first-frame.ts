import { formatValuePath } from '#shared/truncate-text.ts';
import { CLOSE_CODES, PROTOCOL_LIMITS, type RequestFrame, requestFrame } from '#shared/rpc/frames.ts';
import type { ErrorShape } from '#shared/rpc/rpc-error.ts';

/** Result of reading a client's first message. `error` answers the request with that id, if any; `close` then ends the connection. */
type FirstFrame =
  { connect: RequestFrame } | { connect?: undefined; error?: { id: string; shape: ErrorShape }; close?: { code: number; reason: string } };

const createTooLongFrame = `frames before connect are limited to ${PROTOCOL_LIMITS.maxPayloadBeforeConnect} bytes`;

/** Parses the client's first message, the only one that the bridge inspects. */
export function readFirstFrame(data: Buffer): FirstFrame {
  if (data.byteLength > PROTOCOL_LIMITS.maxPayloadBeforeConnect) return { close: { code: CLOSE_CODES.tooBig, reason: createTooLongFrame } };
  let value: unknown;
  try {
    value = JSON.parse(data.toString());
  } catch {
    return { close: { code: CLOSE_CODES.policy, reason: 'malformed JSON' } };
  }
  const frame = requestFrame.safeParse(value);
  if (!frame.success) {
    const id =
      typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string' ? value.id.slice(0, 256) : undefined;
    if (!id) return { close: { code: CLOSE_CODES.policy, reason: 'not a request frame' } };
    const issue = frame.error.issues[0];
    const message = `Not a request frame: ${issue ? `${formatValuePath(issue.path)} ${issue.message}` : 'malformed'}`;
    return { error: { id, shape: { code: 'INVALID_PARAMS', message } } };
  }
  if (frame.data.method === 'connect') return { connect: frame.data };
  const message = 'The first request must be connect';
  return { error: { id: frame.data.id, shape: { code: 'AUTH_REQUIRED', message } }, close: { code: CLOSE_CODES.policy, reason: message } };
}

export const FIRST_FRAME_TOO_LONG = { code: CLOSE_CODES.tooBig, reason: createTooLongFrame };
