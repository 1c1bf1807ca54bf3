import { Chat } from './chat.svelte.ts';

/** Chats that stay ready: going back to one is instant, and what it showed is not lost when the gateway changes. */
const KEPT = 6;

/** Key for the draft and the chosen model of an agent's chat that does not exist yet. */
export const newChatKey = (agentId: string): string => (agentId === 'main' ? 'new' : `new ${agentId}`);

class Chats {
  readonly #open = new Map<string, Chat>();
  readonly #fresh = new Set<string>();

  /** An id for a chat that does not exist yet: nothing is created before the first message. */
  newId(): string {
    const id = crypto.randomUUID();
    this.#fresh.add(id);
    return id;
  }

  get(agentId: string, sessionId: string): Chat {
    const key = `${agentId}/${sessionId}`;
    const chat = this.#open.get(key) ?? new Chat(agentId, sessionId, this.#fresh.delete(sessionId));
    this.#open.delete(key);
    this.#open.set(key, chat);
    for (const [old, idle] of this.#open) {
      if (this.#open.size <= KEPT) break;
      if (idle.busy || old === key) continue;
      idle.dispose();
      this.#open.delete(old);
    }
    return chat;
  }
}

export const chats = new Chats();
