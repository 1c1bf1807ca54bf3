import { plainText } from '../providers/parts.ts';
import type { MessageRecord, Vault } from '../vault.ts';
import { Bm25, type Hit } from './bm25.ts';

/** Of a long message only the beginning is searched. */
const INDEXED_CHARS = 4000;

/** Of what was said lately so much is looked through for each question, and so many of older messages. */
const RECENT = 2000;
const RELATED = 200;

/** The newest messages, and those of all chats that have most of a question's words. */
export async function messagesFor({ messages, search }: Pick<Vault, 'messages' | 'search'>, question: string): Promise<MessageRecord[]> {
  const [recent, related] = await Promise.all([messages.recent(RECENT), search.messages(question, { limit: RELATED, need: 'any' })]);
  const known = new Set(recent.map(({ id }) => id));
  return [...recent, ...related.flatMap(({ message }) => (known.has(message.id) ? [] : message))];
}

/** A searchable message. */
export interface FoundMessage {
  id: string;
  sessionKey: string;
  role: MessageRecord['role'];
  text: string;
  timestamp: number;
}

/** What is worth finding: what people and models said, but no commands, no tool output, and not what the guide itself quoted. */
export function worthFinding(message: MessageRecord): boolean {
  if (message.role === 'user') return !plainText(message.content).startsWith('/');
  return message.role === 'assistant' && !message.model?.startsWith('guide/');
}

/** Searches messages by BM25, and keeps its index between searches: only new messages are read in. */
export class MessageSearch {
  #index = new Bm25<FoundMessage>();
  #indexed = new Set<string>();

  /** The best of `messages` for a query; those that are no longer among them are not found. */
  search(messages: readonly MessageRecord[], query: string, limit: number): Hit<FoundMessage>[] {
    const current = messages.filter(worthFinding);
    const ids = new Set(current.map(({ id }) => id));
    // Deleted ones stay in the index until they are most of it.
    if (this.#indexed.size > 2 * ids.size + 100) {
      this.#index = new Bm25();
      this.#indexed = new Set();
    }
    for (const { id, sessionKey, role, content, timestamp } of current) {
      if (this.#indexed.has(id)) continue;
      const text = plainText(content).slice(0, INDEXED_CHARS);
      this.#index.add({ id, sessionKey, role, text, timestamp }, text);
      this.#indexed.add(id);
    }
    return this.#index
      .search(query, this.#indexed.size)
      .filter(({ doc }) => ids.has(doc.id))
      .slice(0, limit);
  }
}
