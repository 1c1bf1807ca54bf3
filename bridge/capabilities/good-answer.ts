import type { ServerResponse } from 'node:http';
import type { InHand } from './asking.ts';
import type { Receipt, SplicedCall, SpliceEnd } from '#shared/link/splice.ts';

/** Time limit for validating a response. After that it goes through the host, which handles every byte. */
export const FIRST_MS = 10_000;

/** Result of a response that bypassed the host. */
export type Outcome = Pick<Receipt, 'usage' | 'chars'> & SpliceEnd;

/** A validated upstream response that goes to the caller directly, past the host. */
export interface GoodAnswer {
  /** Headers of the response to the caller. */
  readonly headers: Record<string, string>;
  /** Called with the result, before `pipe`'s own listener. */
  onover: ((end: SpliceEnd) => void) | undefined;
  /** Writes the body after the head. `over` is called once. */
  pipe(response: ServerResponse, over: (outcome: Outcome) => void): void;
  /** Cancels the upstream request immediately. */
  leave(): void;
}

/** An exchange with a caller, which can be answered past its host. */
export interface Exchange {
  /** False if the caller is gone or has a response. */
  readonly waits: boolean;
  /** The request's body; undefined if it was too large to keep, or the exchange is answered. */
  body(): Buffer | undefined;
  /** Returns a pending upstream response for the host, once, if it is for the requested URL. */
  inHand(url: string): InHand | undefined;
  /** Calls `listener` when the caller is gone or has a response. The result removes it. */
  onover(listener: () => void): () => void;
  /** Answers the caller. Returns false if it is no longer waiting. */
  commit(answer: GoodAnswer, call: SplicedCall): boolean;
}

/** Whether a status is in the 2xx range. */
export const isSuccess = ({ status }: { status: number }): boolean => status >= 200 && status < 300;

/** Whether a body starts like JSON or a page rather than an event stream. */
export function isWhole(chunk: Uint8Array): boolean {
  const first = chunk.find((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
  return first === 0x7b || first === 0x5b || first === 0x3c;
}
