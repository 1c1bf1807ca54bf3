import { toPlainText } from '../../../providers/content-parts.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import type { MessageRecord } from '../../../storage/chat-records.ts';
import { TextIndex, type SearchHit } from '../../../knowledge/search/text-index.ts';

/** Number of leading characters of a message that are indexed. */
const MAX_INDEXED_CHARS = 4000;

/** Number of recent messages, and of related older ones, searched per question. */
const MAX_RECENT = 2000;
const MAX_RELATED = 200;

/** The newest messages, and those of all chats that share most words with a question. */
export async function findMessages({ messages, search }: Pick<Vault, 'messages' | 'search'>, question: string): Promise<MessageRecord[]> {
  const [recent, related] = await Promise.all([
    messages.recent(MAX_RECENT),
    search.messages(question, { limit: MAX_RELATED, need: 'any' }),
  ]);
  const known = new Set(recent.map(({ id }) => id));
  return [...recent, ...related.flatMap(({ message }) => (known.has(message.id) ? [] : message))];
}

/** A searchable message. */
export interface IndexedMessage {
  id: string;
  sessionKey: string;
  role: MessageRecord['role'];
  text: string;
  timestamp: number;
}

/** Whether a message is worth finding: text of users and models, but no commands, tool output or quotations by the guide. */
export function isSearchable(message: MessageRecord): boolean {
  if (message.role === 'user') return !toPlainText(message.content).startsWith('/');
  return message.role === 'assistant' && !message.model?.startsWith('guide/');
}

/** Searches messages. The index is kept between searches, so that only new messages are added. */
export class MessageSearch {
  #index = new TextIndex<IndexedMessage>();
  #indexed = new Set<string>();

  /** The best of `messages` for a query; indexed messages that are not among them are skipped. */
  search(messages: readonly MessageRecord[], query: string, limit: number): SearchHit<IndexedMessage>[] {
    const current = messages.filter(isSearchable);
    const ids = new Set(current.map(({ id }) => id));
    // Deleted messages stay in the index until they outnumber the others.
    if (this.#indexed.size > 2 * ids.size + 100) {
      this.#index = new TextIndex();
      this.#indexed = new Set();
    }
    for (const { id, sessionKey, role, content, timestamp } of current) {
      if (this.#indexed.has(id)) continue;
      const text = toPlainText(content).slice(0, MAX_INDEXED_CHARS);
      this.#index.add({ id, sessionKey, role, text, timestamp }, text);
      this.#indexed.add(id);
    }
    return this.#index
      .search(query, this.#indexed.size)
      .filter(({ doc }) => ids.has(doc.id))
      .slice(0, limit);
  }
}
