import { getContext, setContext } from 'svelte';

/** The chat whose messages are shown. */
interface ShownChat {
  readonly agentId: string;
  /** Null if it is not stored. */
  readonly sessionId: string | null;
}

const KEY = Symbol('chat');

/** Tells the components below which chat they belong to. */
export const setShownChat = (getChat: () => ShownChat): void => void setContext(KEY, getChat);

/** The chat that a component belongs to; undefined outside of one. */
export const getShownChat = (): (() => ShownChat) | undefined => getContext<(() => ShownChat) | undefined>(KEY);
