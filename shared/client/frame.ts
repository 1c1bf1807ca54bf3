import type { EventFrame, ResponseFrame } from '../rpc/frames.ts';

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

const isResponse = (frame: Fields): boolean =>
  typeof frame.id === 'string' &&
  (frame.ok === true ||
    (frame.ok === false && isObject(frame.error) && typeof frame.error.code === 'string' && typeof frame.error.message === 'string'));

const isEvent = (frame: Fields): boolean => typeof frame.event === 'string' && Number.isInteger(frame.seq) && isObject(frame.payload);

/**
 * Parses a frame from the server; null for unknown kinds, which a newer server may have added. Throws if it is invalid. Written by hand,
 * since a schema would copy every delta's payload; the payload is checked by the contract.
 */
export function readFrame(text: string): ResponseFrame | EventFrame | null {
  const frame: unknown = JSON.parse(text);
  if (!isObject(frame) || typeof frame.type !== 'string') throw new TypeError('not a frame');
  if (frame.type !== 'res' && frame.type !== 'event') return null;
  if (!(frame.type === 'res' ? isResponse(frame) : isEvent(frame))) throw new TypeError(`not a valid frame of type ${frame.type}`);
  return frame as unknown as ResponseFrame | EventFrame;
}
