import type { Part } from '#shared/rpc/records.ts';
import type { Incoming, PendingMessage } from './state.ts';

/** What a look at the platform has brought. */
export interface Look {
  messages: Incoming[];
  /** How far has been read now; stored in one write with the messages. */
  cursors: Record<string, string>;
  /** Milliseconds until the next look. */
  nextMs: number;
  /** Something that keeps a part of it from working. */
  problem?: string;
}

export interface Budget {
  month: string;
  used: number;
  /** The last search, in milliseconds since 1970. */
  lastAt: number;
}

/** What an adapter is told of, and can note, while it looks. */
export interface LookContext {
  cursors: Readonly<Record<string, string>>;
  budget: Budget | undefined;
  /** Stores what searches have been used, before one is made. */
  spend(budget: Budget): Promise<void>;
  signal: AbortSignal;
}

export interface SentBefore {
  /** What the platform calls the pieces that it has. */
  sent: readonly string[];
  signal: AbortSignal;
}

/**
 * One platform, as the gateway sees it. What it throws is a `PlatformError` where the platform is at fault; the gateway waits, and calls again.
 */
export interface ChannelAdapter {
  /** For errors. */
  readonly name: string;
  /** The least time between two tries after a failure. */
  readonly leastWaitMs: number;
  /** Looks for messages once, from where the cursors point to; may wait for them. */
  look(context: LookContext): Promise<Look>;
  /** An answer in pieces that the platform takes, in the order in which they are sent. */
  split(text: string, message: Incoming): string[];
  /** Sends a piece of an answer; what the platform calls it. */
  send(message: PendingMessage, part: string, before: SentBefore): Promise<string>;
  /** What the platform calls a piece that may have been sent; null: it was not. Not there where the platform cannot be asked. */
  findSent?(message: PendingMessage, part: string, before: SentBefore): Promise<string | null>;
  /** Whether a file of an answer can be sent, and does it. */
  sendFile?(message: PendingMessage, file: Exclude<Part, { type: 'text' }>, signal: AbortSignal): Promise<void>;
  /** Shows that an answer is being written; resolves at once where that has no use. */
  typing?(message: Incoming, signal: AbortSignal): Promise<void>;
  /** What a newcomer is told. */
  readonly help?: string;
}
