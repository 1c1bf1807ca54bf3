import type { ServerResponse } from 'node:http';
import type { PendingResponse } from './upstream-request.ts';
import type { UsageReceipt, SplicedCall, SpliceEnd } from '#shared/link/splice.ts';

/** Time limit for validating a response. After that it goes through the host, which handles every byte. */
export const VALIDATION_MS = 10_000;

/** Result of a response that bypassed the host. */
export type PassthroughOutcome = Pick<UsageReceipt, 'usage' | 'chars'> & SpliceEnd;

/** A validated upstream response that goes to the caller directly, past the host. */
export interface ValidatedResponse {
  /** Headers of the response to the caller. */
  readonly headers: Record<string, string>;
  /** Called with the result, before `pipe`'s own listener. */
  onend: ((end: SpliceEnd) => void) | undefined;
  /** Writes the body after the head. `onFinished` is called once. */
  pipe(response: ServerResponse, onFinished: (outcome: PassthroughOutcome) => void): void;
  /** Cancels the upstream request immediately. */
  cancel(): void;
}

/** An exchange with a caller, which can be answered past its host. */
export interface PassthroughExchange {
  /** False if the caller is gone or has a response. */
  readonly isWaiting: boolean;
  /** The request's body; undefined if it was too large to keep, or the exchange is answered. */
  body(): Buffer | undefined;
  /** Returns a pending upstream response for the host, once, if it is for the requested URL. */
  takePendingResponse(url: string): PendingResponse | undefined;
  /** Calls `listener` when the caller is gone or has a response. The result removes it. */
  onClose(listener: () => void): () => void;
  /** Answers the caller. Returns false if it is no longer waiting. */
  commit(answer: ValidatedResponse, call: SplicedCall): boolean;
}

/** Whether a status is in the 2xx range. */
export const isSuccess = ({ status }: { status: number }): boolean => status >= 200 && status < 300;

/** Whether a body starts like JSON or a page rather than an event stream. */
export function looksLikeDocument(chunk: Uint8Array): boolean {
  const first = chunk.find((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
  return first === 0x7b || first === 0x5b || first === 0x3c;
}
