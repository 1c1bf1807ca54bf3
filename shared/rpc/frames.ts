import { PROTOCOL_LIMITS } from './limits.ts';
import { z } from './zod.ts';
import { ERROR_CODES, type ErrorShape } from './rpc-error.ts';

export { CLOSE_CODES, PROTOCOL_LIMITS, MIN_PROTOCOL_VERSION, PROTOCOL_VERSION } from './limits.ts';

export const errorShape = z.object({
  code: z.enum(ERROR_CODES),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
  retryable: z.boolean().optional(),
  retryAfterMs: z.number().optional(),
});

export const requestFrame = z.object({
  type: z.literal('req'),
  id: z.string().min(1).max(256),
  method: z.string().min(1).max(128),
  params: z.record(z.string(), z.unknown()).default({}),
});
/** A request from client to server. */
export type RequestFrame = z.infer<typeof requestFrame>;

export type ResponseFrame =
  { type: 'res'; id: string; ok: true; payload: unknown } | { type: 'res'; id: string; ok: false; error: ErrorShape };

/** A message pushed from server to client. */
export interface EventFrame {
  type: 'event';
  event: string;
  /** Counts per connection from 1, without gaps. */
  seq: number;
  payload: Record<string, unknown>;
}

/** An ID: up to 128 letters, digits, `_` and `-`. */
export const id = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'must match [A-Za-z0-9_-]{1,128}');

/**
 * Returns whether a text has too many structural characters to be parsed: JSON over 1 MiB full of them blocks the parser for most of a second.
 * Counts `{ } [ ] , :` inside and outside strings alike.
 */
export function hasTooManyTokens(text: string): boolean {
  if (text.length <= PROTOCOL_LIMITS.scanFrom) return false;
  let parts = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x7b:
      case 0x7d:
      case 0x5b:
      case 0x5d:
      case 0x2c:
      case 0x3a:
        if (++parts > PROTOCOL_LIMITS.maxStructuralChars) return true;
    }
  }
  return false;
}
