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
  /** Null: it is kept nowhere, so that nothing can be linked to or made of it. */
  readonly sessionId: string | null;
};
