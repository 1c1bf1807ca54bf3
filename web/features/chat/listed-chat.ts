import type { Chat } from './chat.svelte.ts';

/** The part of a chat that the message list shows. */
export type ListedChat = Pick<
  Chat,
  | 'agentId'
  | 'items'
  | 'messages'
  | 'versions'
  | 'cursor'
  | 'live'
  | 'phase'
  | 'problem'
  | 'edits'
  | 'loadingOlder'
  | 'asking'
  | 'elsewhere'
  | 'outgoing'
  | 'queued'
  | 'busy'
  | 'loadOlder'
  | 'choose'
  | 'find'
  | 'fetchFile'
  | 'fetchText'
> & {
  /** Null: the chat is not stored, so it cannot be linked to. */
  readonly sessionId: string | null;
};
