import type { ServerResponse } from 'node:http';
import type { InHand } from './asking.ts';
import type { Receipt, SplicedCall, SpliceEnd } from '#shared/link/splice.ts';

/** How long it may take to find out whether an answer is good, before it goes the long way, by which the host hears every byte. */
export const FIRST_MS = 10_000;

/** What a spliced answer came to. */
export type Outcome = Pick<Receipt, 'usage' | 'chars'> & SpliceEnd;

/** An upstream's answer that goes to a caller past the host, for what has come of it is good. */
export interface GoodAnswer {
  /** What the caller's head has. */
  readonly headers: Record<string, string>;
  /** Told how it ended, before `pipe`'s own listener. */
  onover: ((end: SpliceEnd) => void) | undefined;
  /** Writes it behind the head. `over` is called once. */
  pipe(response: ServerResponse, over: (outcome: Outcome) => void): void;
  /** Nobody wants it any more: the upstream is hung up on at once. */
  leave(): void;
}

/** An exchange with a caller, as whoever answers it past its host sees it. */
export interface Exchange {
  /** False: the caller is gone, or has an answer. */
  readonly waits: boolean;
  /** The request's body; undefined where it is too large to be kept, or the exchange is answered. */
  body(): Buffer | undefined;
  /** An answer that was asked for already, for the host to judge; once, and where it asks that address. */
  inHand(url: string): InHand | undefined;
  /** Calls back when the caller is gone, or has an answer; the result stops it. */
  onover(listener: () => void): () => void;
  /** The answer is this caller's, where that one still waits. */
  commit(answer: GoodAnswer, call: SplicedCall): boolean;
}

/** Whether a status is one of success. */
export const isSuccess = ({ status }: { status: number }): boolean => status >= 200 && status < 300;

/** Whether a body begins as one that comes in one piece: JSON, or a page. */
export function isWhole(chunk: Uint8Array): boolean {
  const first = chunk.find((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
  return first === 0x7b || first === 0x5b || first === 0x3c;
}
