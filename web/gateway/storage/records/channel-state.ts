import type { ChannelEntry } from '#shared/rpc/methods/channel-contracts.ts';

/** A file sent with a message, which the adapter fetches when it is needed (`ChannelAdapter.fetchFile`). */
export interface IncomingFile {
  /** The platform's id or address of the file. */
  id: string;
  kind: 'image' | 'audio' | 'document';
  name: string;
  mimeType: string;
  /** Bytes; undefined if the platform does not say. */
  size?: number;
}

/** A message sent to a channel. */
export interface IncomingMessage {
  /** The platform's id with its kind; stable across polls. */
  id: string;
  /** Id of the conversation, which maps to a session: letters, digits, `_` and `-`. */
  conversation: string;
  user: { id: string; name: string };
  text: string;
  /** Whether everybody can read the answer: errors are not mentioned in it then. */
  isPublic: boolean;
  /** The chat, post or person to answer, as the platform's id. */
  to: string;
  /** Title of the session. */
  title: string;
  /** Milliseconds since 1970. */
  at: number;
  /** Whether the sender forwarded somebody else's text. */
  isForwarded?: boolean;
  /** A command to the channel itself, not to the agent. */
  command?: 'help' | 'new' | 'stop';
  files?: IncomingFile[];
  /** Whether the sender recorded the message by voice: the reply is spoken too. */
  isVoice?: boolean;
  /** Whether several people write in the conversation. */
  isGroup?: boolean;
  /** The group, as the platform's id; undefined in a private chat. */
  room?: string;
  /** In a group: whether the message addresses the account, by a mention or as a reply to it. */
  isMention?: boolean;
  /** The platform's id of the message, for replies, reactions and edits. */
  platformId?: string;
  /** The thread within the chat `to`, as the platform's id. */
  thread?: string;
  /** Whether the message replaces an earlier one with the same `platformId`. */
  isEdit?: boolean;
  /** Sent as the reply instead of an agent's, such as that the platform encrypts the chat. */
  notice?: string;
}

/** A message that waits to be answered, or whose answer is being sent. */
export interface PendingMessage extends IncomingMessage {
  /** Number of the conversation's session that it belongs to. */
  session: number;
  /** Number of failed runs. */
  failures?: number;
  /** The answer, while it waits for approval. Undefined in states of older builds. */
  held?: { approvalId: string; expiresAt: number; runId: string; outside: string[]; answer: NonNullable<PendingMessage['answer']> };
  /** The answer in pieces that the platform accepts, and the platform's ids of those sent. */
  answer?: {
    parts: string[];
    sent: string[];
    /** Whether the next piece may already be in transit: it is not sent again without a lookup. */
    trying?: boolean;
    /** The message whose files are attached, and the number of files sent. */
    files?: { messageId: string; sent: number };
    /** Text that is sent as speech after the pieces. */
    spoken?: string;
    /** Whether the text only says that there is no answer. */
    isApology?: boolean;
  };
}

/** A sender that got a code and waits for the owner. */
export interface SenderRequest {
  /** SHA-256 of the code. */
  codeHash: string;
  user: IncomingMessage['user'];
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  expiresAt: number;
}

/** State of a channel, for all hosts. One record, so that read positions and their messages are stored in one write. */
export interface ChannelState {
  /** Id of the channel. */
  id: string;
  /** Increases with each host that takes over the channel: writes under a lower fence are refused. */
  fence: number;
  /** Read positions, by type of item. */
  cursors: Record<string, string>;
  pending: PendingMessage[];
  /** Ids of the most recent messages. */
  seen: string[];
  /** Senders that wait for the owner; undefined in states of older builds. */
  requests?: SenderRequest[];
  /** `platformId` of the last message of the most recent conversations; undefined in states of older builds. */
  last?: Record<string, string>;
  /** Number of times that each conversation was started over. */
  sessions: Record<string, number>;
  metrics: NonNullable<ChannelEntry['metrics']>;
  /** Searches used in a calendar month (UTC), such as `2026-11`. */
  budget?: { month: string; used: number; lastAt: number };
  status: 'running' | 'error';
  problem?: string;
}

export const createChannelState = (id: string): ChannelState => ({
  id,
  fence: 0,
  cursors: {},
  pending: [],
  seen: [],
  sessions: {},
  metrics: { messages_received: 0, messages_sent: 0, messages_failed: 0, last_message_at: null, connected_since: null },
  status: 'running',
});
