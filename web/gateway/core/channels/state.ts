import type { ChannelEntry } from '#shared/rpc/methods/channels.ts';

/** A message that somebody sent to a channel. */
export interface Incoming {
  /** The platform's, with its kind; the same whenever it is seen. */
  id: string;
  /** Messages of one conversation have one session: letters, digits, `_` and `-`. */
  conversation: string;
  user: { id: string; name: string };
  text: string;
  /** Everybody can read the answer: nothing of what goes wrong is said there. */
  isPublic: boolean;
  /** What is answered: a chat, a post or a person, as the platform knows it. */
  to: string;
  /** What the session is called. */
  title: string;
  /** Milliseconds since 1970. */
  at: number;
  /** Somebody else wrote what the sender passes on. */
  isForwarded?: boolean;
  /** A word to the channel itself, not to the agent. */
  command?: 'help' | 'new' | 'stop';
}

/** A message that waits to be answered, or whose answer is being sent. */
export interface PendingMessage extends Incoming {
  /** Which of the conversation's sessions it belongs to. */
  session: number;
  /** How often its run has failed. */
  failures?: number;
  /** The answer, while it waits for the approval of this id. Absent in states of older builds. */
  held?: { approvalId: string; expiresAt: number; runId: string; outside: string[]; answer: NonNullable<PendingMessage['answer']> };
  /** The answer in the pieces that the platform takes, with what it calls those that it has. */
  answer?: {
    parts: string[];
    sent: string[];
    /** The next piece is on its way, or may be: it is not sent again unseen. */
    trying?: boolean;
    /** The message whose files go along, and how many of them have been sent. */
    files?: { messageId: string; sent: number };
    /** It says that there is no answer. */
    isApology?: boolean;
  };
}

/** A sender that got a code and waits for the owner. */
export interface SenderRequest {
  /** SHA-256 of the code. */
  codeHash: string;
  user: Incoming['user'];
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  expiresAt: number;
}

/** How a channel stands, for all hosts. One record, so that how far it has read and what came of it are one write. */
export interface ChannelState {
  /** The channel's. */
  id: string;
  /** Higher with each host that takes the channel over: what another one still writes loses. */
  fence: number;
  /** How far it has read, by what is read. */
  cursors: Record<string, string>;
  pending: PendingMessage[];
  /** Ids of the last messages that came. */
  seen: string[];
  /** Senders that wait for the owner; absent in states of older builds. */
  requests?: SenderRequest[];
  /** Conversations that were begun anew, and how often. */
  sessions: Record<string, number>;
  metrics: NonNullable<ChannelEntry['metrics']>;
  /** Searches of a calendar month (UTC), `2026-11`. */
  budget?: { month: string; used: number; lastAt: number };
  status: 'running' | 'error';
  problem?: string;
}

export const newState = (id: string): ChannelState => ({
  id,
  fence: 0,
  cursors: {},
  pending: [],
  seen: [],
  sessions: {},
  metrics: { messages_received: 0, messages_sent: 0, messages_failed: 0, last_message_at: null, connected_since: null },
  status: 'running',
});
