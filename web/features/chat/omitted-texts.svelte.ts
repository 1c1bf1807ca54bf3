import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';

/** Maximum bytes of a text that is fetched automatically. */
export const MAX_AUTO_FETCH_BYTES = 1024 * 1024;
/** Number of messages at the end of a chat whose texts are fetched before they are shown. */
const NEWEST_COUNT = 3;

/** Texts of messages that the history of a chat omits for their size. */
export class OmittedTexts {
  #texts = $state.raw<ReadonlyMap<string, string>>(new Map());
  readonly #fetchText: (messageId: string) => Promise<string>;

  constructor(fetchText: (messageId: string) => Promise<string>) {
    this.#fetchText = fetchText;
  }

  /** Adds fetched texts to messages. */
  fillIn(messages: readonly HistoryMessage[]): readonly HistoryMessage[] {
    const texts = this.#texts;
    if (texts.size === 0) return messages;
    return messages.map((message) => {
      const { leftOut, ...fields } = message;
      const content = leftOut?.text && texts.get(message.id);
      return typeof content === 'string' ? { ...fields, content } : message;
    });
  }

  async fetch(messageId: string): Promise<void> {
    const text = await this.#fetchText(messageId);
    this.#texts = new Map([...this.#texts, [messageId, text]]);
  }

  /** Fetches texts of the newest messages, except results of tools, which are folded. Texts that cannot be fetched stay omitted. */
  async fetchNewest(messages: readonly HistoryMessage[]): Promise<void> {
    const pending = messages
      .slice(-NEWEST_COUNT)
      .filter(({ id, role, leftOut }) => role !== 'tool' && leftOut?.text && leftOut.bytes <= MAX_AUTO_FETCH_BYTES && !this.#texts.has(id));
    await Promise.all(pending.map(({ id }) => this.fetch(id).catch(() => {})));
  }
}
