import { Mutex } from '#shared/async/mutex.ts';
import type { FileIndex } from '../index/file-index.ts';
import { formatDate, toDialogPath } from '../layout.ts';
import type { MemoryMessage } from '../memory-message.ts';
import { formatDialogLine, toMessageKey } from './dialog-lines.ts';

/** Conversations word for word, one file per day. */
export class DialogLog {
  readonly #index: FileIndex;
  readonly #now: () => number;
  readonly #mutex = new Mutex();
  /** Messages already written, including those without a key. */
  readonly #written = new WeakSet<MemoryMessage>();

  constructor(index: FileIndex, now: () => number) {
    [this.#index, this.#now] = [index, now];
  }

  /**
   * Appends messages that are not recorded yet, in order, and returns their number. A message is identified by its id in the session, else
   * by its time and text, else by object identity.
   */
  persist(messages: readonly MemoryMessage[], sessionKey: string, signal: AbortSignal): Promise<number> {
    return this.#mutex.take(signal, async () => {
      await this.#index.follow();
      const days = new Map<string, MemoryMessage[]>();
      const keys = new Set<string>();
      for (const message of messages) {
        const key = toMessageKey(message, sessionKey);
        if (this.#written.has(message) || (key !== undefined && (keys.has(key) || this.#index.hasMessage(key)))) continue;
        if (key !== undefined) keys.add(key);
        const day = formatDate(getValidTime(message) ?? this.#now());
        days.set(day, [...(days.get(day) ?? []), message]);
      }
      let count = 0;
      for (const [day, dayMessages] of days) {
        const line = (message: MemoryMessage): string =>
          formatDialogLine({ ...message, timestamp: getValidTime(message) ?? this.#now() }, sessionKey);
        await this.#index.append(toDialogPath(day), dayMessages.map(line).join(''));
        for (const message of dayMessages) this.#written.add(message);
        count += dayMessages.length;
      }
      return count;
    });
  }
}

/** The timestamp if it is valid: years have four digits. */
const getValidTime = ({ timestamp }: MemoryMessage): number | undefined =>
  timestamp !== undefined && timestamp >= 0 && timestamp < Date.UTC(10_000, 0) ? timestamp : undefined;
