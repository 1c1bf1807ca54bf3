import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import type { MediaFile } from './media/channel-media.ts';
import type { IncomingFile, IncomingMessage, PendingMessage } from '../../storage/records/channel-state.ts';

/** A press of a button under a post. */
export interface ButtonPress {
  /** The platform's id of the press; stable across polls. */
  id: string;
  user: IncomingMessage['user'];
  conversation: string;
  /** Whether only the user and the account see the chat with the button. */
  isPrivate: boolean;
  /** `Button.value` of the pressed button. */
  value: string;
  /** The platform's id of the post. */
  postId: string;
}

/** News about a sent piece. */
export interface SentReceipt {
  /** The platform's id of the piece, as `send` or `post` returned it. */
  sentId: string;
  state: 'delivered' | 'read' | 'failed';
  /** Milliseconds since the Unix epoch. */
  at: number;
  /** Why it failed. */
  error?: string;
}

/** A message that its sender has deleted. */
export interface DeletedMessage {
  /** The chat, as `IncomingMessage.to`. */
  to: string;
  platformId: string;
}

/** Result of polling the platform. */
export interface PollResult {
  messages: IncomingMessage[];
  /** Messages that are not answered any more if they still wait. */
  deleted?: DeletedMessage[];
  presses?: ButtonPress[];
  receipts?: SentReceipt[];
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

export interface Button {
  label: string;
  /** At most 64 characters: returned when the button is pressed. */
  value: string;
  /** The reaction that stands for the button, on platforms without buttons. */
  emoji?: string;
}

/** A message that answers none, such as the result of a job. */
export interface Post {
  /** Id of the delivery: a platform that takes an idempotency key gets it with the number of the piece. */
  id: string;
  /** The chat, room or person, as the platform's id. */
  to: string;
  thread?: string;
  /** Time of the delivery, in milliseconds since the Unix epoch: no earlier message is one of its pieces. */
  createdAt: number;
  /** Under the last piece, where the platform has buttons. */
  buttons?: readonly Button[];
}

/** A file of an answer or a post. */
export type FilePart = Exclude<MessagePart, { type: 'text' }>;

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
  /**
   * The platform's id of a piece that may have been sent; null if it was not, undefined if that is not known. No such method if the
   * platform cannot be asked.
   */
  findSent?(message: PendingMessage, part: string, before: SendContext): Promise<string | null | undefined>;
  /** Sends a file of an answer; undefined if the platform takes no files. */
  sendFile?(message: PendingMessage, file: FilePart, signal: AbortSignal): Promise<void>;
  /** Sends speech as a voice message in reply; undefined if the platform has none. */
  sendVoice?(message: PendingMessage, speech: MediaFile, signal: AbortSignal): Promise<void>;
  /** Shows a typing indicator; resolves at once if that makes no sense for the message. */
  typing?(message: IncomingMessage, signal: AbortSignal): Promise<void>;
  /** Help text for new senders. */
  readonly help?: string;
  /** Whether the platform responds to `post` with the message as it is in the chat. Otherwise only a receipt proves that it arrived. */
  readonly confirmsPosts?: boolean;
  /** Sends a piece of a post; resolves with the platform's id of it. Undefined if the platform only replies. */
  post?(post: Post, part: string, before: SendContext): Promise<string>;
  /** The same for a piece of a post. */
  findPosted?(post: Post, part: string, before: SendContext): Promise<string | null | undefined>;
  /** Sends a file to the chat of a post. */
  postFile?(post: Post, file: FilePart, signal: AbortSignal): Promise<void>;
  /** Replaces the text of a sent piece, and removes its buttons. */
  edit?(to: string, sentId: string, text: string, signal: AbortSignal): Promise<void>;
  /** Ends the wait of the person who pressed a button, with a short text. */
  answerPress?(press: ButtonPress, text: string, signal: AbortSignal): Promise<void>;
  /** Fetches a file of a message. */
  fetchFile?(file: IncomingFile, signal: AbortSignal): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }>;
  /** Sets the account's reaction to a message, for example while an answer is written; null removes it. */
  react?(message: IncomingMessage, emoji: string | null, signal: AbortSignal): Promise<void>;
  /** Answers a call of the platform to `/hooks/channels/<id>`, once what it brings is stored. Undefined if the platform does not call. */
  receiveCall?(request: Request): Promise<Response>;
  /** Closes a connection that stays open between polls. */
  close?(): void;
}
