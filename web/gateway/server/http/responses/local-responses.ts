import type { ResponseRecord } from '../../../storage/records/response-record.ts';

/** Limits of one connection: number of conversations, and characters of each as JSON. The oldest are removed first. */
const MAX_CONVERSATIONS = 32;
const MAX_CHARS = 16 * 1024 * 1024;

/** Responses of one connection that are not stored (`store: false`), each with the responses before it. In memory only. */
export class LocalResponses {
  readonly #conversations = new Map<string, readonly ResponseRecord[]>();

  /** The response and its predecessors, the oldest first. */
  find(id: string): ResponseRecord[] | undefined {
    const found = this.#conversations.get(id);
    return found && [...found];
  }

  /** Adds a response to the ones before it. Too large a conversation is left out. */
  add(earlier: readonly ResponseRecord[], record: Omit<ResponseRecord, 'chars'>): void {
    const records = [...earlier, { ...record, chars: JSON.stringify(record).length }];
    if (records.reduce((sum, { chars }) => sum + chars, 0) > MAX_CHARS) return;
    this.#conversations.set(record.id, records);
    const [oldest] = this.#conversations.keys();
    if (this.#conversations.size > MAX_CONVERSATIONS && oldest !== undefined) this.#conversations.delete(oldest);
  }

  remove(id: string): void {
    this.#conversations.delete(id);
  }
}

/** A request that came over a WebSocket. */
export interface SocketTurn {
  earlier: LocalResponses;
  /** Whether the model answers; otherwise only the input is added, for a later turn. */
  generate: boolean;
}
