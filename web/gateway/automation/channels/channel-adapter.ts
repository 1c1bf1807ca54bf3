import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import type { IncomingMessage, PendingMessage } from '../../storage/records/channel-state.ts';

/** Result of polling the platform. */
export interface PollResult {
  messages: IncomingMessage[];
  /** Read positions; stored in one write with the messages. */
  cursors: Record<string, string>;
  /** Milliseconds until the next poll. */
  nextMs: number;
  /** A problem that disables a part of the channel. */
  problem?: string;
}

export interface SearchBudget {
  month: string;
  used: number;
  /** Time of the last search, in milliseconds since 1970. */
  lastAt: number;
}

/** Input and callbacks for a poll. */
export interface PollContext {
  cursors: Readonly<Record<string, string>>;
  budget: SearchBudget | undefined;
  /** Stores the number of used searches, before each search. */
  spend(budget: SearchBudget): Promise<void>;
  signal: AbortSignal;
}

export interface SendContext {
  /** The platform's ids of the pieces sent so far. */
  sent: readonly string[];
  signal: AbortSignal;
}

/** One platform. Its methods throw `PlatformError` if the platform is at fault; the gateway then waits and retries. */
export interface ChannelAdapter {
  /** Display name, for errors. */
  readonly name: string;
  /** Minimum delay before a retry after a failure, in milliseconds. */
  readonly minRetryMs: number;
  /** Polls for messages after the cursors; may wait for some to arrive. */
  poll(context: PollContext): Promise<PollResult>;
  /** Splits an answer into pieces that the platform accepts, in the order in which they are sent. */
  split(text: string, message: IncomingMessage): string[];
  /** Sends a piece of an answer; resolves with the platform's id of it. */
  send(message: PendingMessage, part: string, before: SendContext): Promise<string>;
  /** The platform's id of a piece that may have been sent; null if it was not. Undefined if the platform cannot be asked. */
  findSent?(message: PendingMessage, part: string, before: SendContext): Promise<string | null>;
  /** Sends a file of an answer; undefined if the platform takes no files. */
  sendFile?(message: PendingMessage, file: Exclude<MessagePart, { type: 'text' }>, signal: AbortSignal): Promise<void>;
  /** Shows a typing indicator; resolves at once if that makes no sense for the message. */
  typing?(message: IncomingMessage, signal: AbortSignal): Promise<void>;
  /** Help text for new senders. */
  readonly help?: string;
}
