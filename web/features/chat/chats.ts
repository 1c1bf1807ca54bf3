import { Chat } from './chat.svelte.ts';

/** Maximum number of cached chats: returning to one is instant, and it keeps its content when the gateway changes. */
const MAX_CACHED = 6;

/** Key for the draft and the chosen model of an agent's chat that does not exist yet. */
export const toNewChatKey = (agentId: string): string => (agentId === 'main' ? 'new' : `new ${agentId}`);

/** The chats opened last, by agent and session id. */
class ChatCache {
  readonly #openChats = new Map<string, Chat>();
  readonly #newIds = new Set<string>();

  /** An id for a chat that does not exist yet: nothing is created before the first message. */
  createId(): string {
    const id = crypto.randomUUID();
    this.#newIds.add(id);
    return id;
  }

  get(agentId: string, sessionId: string): Chat {
    const key = `${agentId}/${sessionId}`;
    const chat = this.#openChats.get(key) ?? new Chat(agentId, sessionId, this.#newIds.delete(sessionId));
    this.#openChats.delete(key);
    this.#openChats.set(key, chat);
    for (const [cachedKey, cached] of this.#openChats) {
      if (this.#openChats.size <= MAX_CACHED) break;
      if (cached.busy || cachedKey === key) continue;
      cached.dispose();
      this.#openChats.delete(cachedKey);
    }
    return chat;
  }
}

export const chats = new ChatCache();
