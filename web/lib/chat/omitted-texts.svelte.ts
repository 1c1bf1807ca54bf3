import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';

/** Bytes up to which a text is fetched without being asked for. */
export const MAX_AUTO_FETCH_BYTES = 1024 * 1024;
/** Number of messages at the end of a chat whose files are loaded before they are shown. */
const NEWEST_COUNT = 3;

/** The texts of a chat's messages that its history leaves out for their size. */
export class OmittedTexts {
  #texts = $state.raw<ReadonlyMap<string, string>>(new Map());
  readonly #get: (messageId: string) => Promise<string>;

  constructor(get: (messageId: string) => Promise<string>) {
    this.#get = get;
  }

  /** The messages with what has been fetched of them. */
  fillIn(messages: readonly HistoryMessage[]): readonly HistoryMessage[] {
    const texts = this.#texts;
    if (texts.size === 0) return messages;
    return messages.map((message) => {
      const { leftOut, ...rest } = message;
      const content = leftOut?.text && texts.get(message.id);
      return typeof content === 'string' ? { ...rest, content } : message;
    });
  }

  async fetch(messageId: string): Promise<void> {
    const text = await this.#get(messageId);
    this.#texts = new Map([...this.#texts, [messageId, text]]);
  }

  /** Loads files of the newest messages, except results of tools, which are folded. Files that are unavailable now stay left out. */
  async fetchNewest(messages: readonly HistoryMessage[]): Promise<void> {
    const pending = messages
      .slice(-NEWEST_COUNT)
      .filter(({ id, role, leftOut }) => role !== 'tool' && leftOut?.text && leftOut.bytes <= MAX_AUTO_FETCH_BYTES && !this.#texts.has(id));
    await Promise.all(pending.map(({ id }) => this.fetch(id).catch(() => {})));
  }
}
