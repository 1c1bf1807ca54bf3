import { SvelteMap } from 'svelte/reactivity';
import { toScopedName } from './demo.ts';
import { toProblem } from '#kit/problems.ts';
import { m } from '../i18n/messages.ts';
import { type OutboxRecord, pageDb } from './page-db.ts';

export interface OutboxEntry extends OutboxRecord {
  /**
   * `sent`: this tab has sent it and waits for the gateway to store it. `moving`: this tab is withdrawing it. `taken`: another tab has
   * withdrawn it and will store its new state.
   */
  state: 'waiting' | 'sent' | 'moving' | 'taken' | 'failed';
}

/** The stored messages of the outbox, with their states in this tab. Other tabs are notified of every change. */
export class OutboxEntries {
  readonly entries = new SvelteMap<string, OutboxEntry>();
  readonly #channel = new BroadcastChannel(toScopedName('perch-outbox'));
  /** Reasons why entries could not be stored, by id: these entries live as long as the page, although they are missing in the store. */
  readonly #saveErrors = new SvelteMap<string, string>();
  #readError = $state<string | null>(null);
  /** Reason why messages could not be loaded or stored. Failed entries show their own; for withdrawn ones it is irrelevant. */
  readonly problem = $derived.by(() => {
    const [, saveError] =
      [...this.#saveErrors].find(([id]) => ['waiting', 'sent', 'taken'].includes(this.entries.get(id)?.state ?? '')) ?? [];
    return this.#readError ?? saveError ?? null;
  });
  /** Makes the browser ask before it closes the page, which has the only copy. */
  readonly #preventUnload = (event: Event): void => event.preventDefault();
  /** Keys of chats that are known to exist: entries loaded before no longer create them. */
  readonly #existingChats = new Set<string>();
  /** Counts the changes by this tab: records read before the last one are outdated. */
  #changeCount = 0;

  /** Calls the listener when another tab has changed stored entries. */
  onChanged(listener: () => void): void {
    this.#channel.onmessage = listener;
  }

  /** Entries of a chat, in the order in which they are sent. */
  getEntries(agentId: string, sessionId: string): OutboxEntry[] {
    return [...this.entries.values()]
      .filter((entry) => entry.agentId === agentId && entry.sessionId === sessionId)
      .sort((a, b) => a.place - b.place);
  }

  /** Stores an entry. `claim`: only if no other tab has withdrawn or removed it, according to the store. */
  async update(changed: OutboxEntry, claim = false): Promise<void> {
    const entry = { ...changed, begins: changed.begins && !this.#existingChats.has(`${changed.agentId}/${changed.sessionId}`) };
    this.#changeCount++;
    this.entries.set(entry.id, entry);
    const { state: _, ...record } = entry;
    try {
      const { store, done } = (await pageDb()).transaction('outbox', 'readwrite');
      if (claim && !this.#saveErrors.has(entry.id) && (await store.get(entry.id))?.failure !== null) {
        this.entries.delete(entry.id);
        return;
      }
      await Promise.all([store.put($state.snapshot(record)), done]);
      this.#clearSaveError(entry.id);
      this.#channel.postMessage('changed');
    } catch (error) {
      // The entry may have been withdrawn in the meantime.
      if (!this.entries.has(entry.id)) return;
      this.#saveErrors.set(entry.id, toProblem(error, m.chat_doing_keep_message()).message);
      addEventListener('beforeunload', this.#preventUnload);
    }
  }

  /** Records that a chat exists: its entries no longer create it. */
  async markChatExists(agentId: string, sessionId: string): Promise<void> {
    this.#existingChats.add(`${agentId}/${sessionId}`);
    const beginning = this.getEntries(agentId, sessionId).filter(({ begins }) => begins);
    for (const entry of beginning) this.entries.set(entry.id, { ...entry, begins: false });
    if (beginning.length === 0) return;
    const { store, done } = (await pageDb()).transaction('outbox', 'readwrite');
    for (const { id } of beginning) {
      // Another tab may have sent or withdrawn it in the meantime.
      const stored = await store.get(id);
      if (stored) await store.put({ ...stored, begins: false });
    }
    await done;
  }

  async remove(id: string): Promise<void> {
    this.#changeCount++;
    this.entries.delete(id);
    this.#clearSaveError(id);
    try {
      await (await pageDb()).delete('outbox', id);
      this.#channel.postMessage('changed');
    } catch {
      // The next visit finds the message in the history and does not send it again.
    }
  }

  /** Loads the entries stored by other tabs and earlier visits. */
  async read(): Promise<void> {
    try {
      const records = await this.#readRecords();
      this.#readError = null;
      const ids = new Set(records.map(({ id }) => id));
      for (const { id, state } of this.entries.values())
        if (!ids.has(id) && state !== 'sent' && state !== 'moving' && !this.#saveErrors.has(id)) this.entries.delete(id);
      for (const record of records) {
        const state = this.entries.get(record.id)?.state;
        const isPending = state === 'taken' && record.tried && !record.failure;
        // An entry that could not be stored is newer than its stored record.
        if (state !== 'sent' && state !== 'moving' && !isPending && !this.#saveErrors.has(record.id))
          this.entries.set(record.id, { ...record, state: record.failure ? 'failed' : 'waiting' });
      }
    } catch (error) {
      this.#readError = toProblem(error, m.chat_doing_read_waiting()).message;
    }
  }

  /** Returns the stored record of an entry: another tab may have changed it. */
  async readRecord(entry: OutboxEntry): Promise<OutboxRecord | undefined> {
    if (this.#saveErrors.has(entry.id)) return entry;
    try {
      const stored = await (await pageDb()).get('outbox', entry.id);
      return stored && withPosition(stored);
    } catch {
      return entry;
    }
  }

  /** The entry is stored or removed: closing the page loses nothing. */
  #clearSaveError(id: string): void {
    this.#saveErrors.delete(id);
    if (this.#saveErrors.size === 0) removeEventListener('beforeunload', this.#preventUnload);
  }

  /** Reads this browser's stored records, with all changes that this tab has made. */
  async #readRecords(): Promise<OutboxRecord[]> {
    for (;;) {
      const changes = this.#changeCount;
      const records = (await (await pageDb()).getAll('outbox')).map(withPosition);
      if (changes === this.#changeCount) return records;
    }
  }
}

/** Records of earlier builds are ordered by the time they were written. */
const withPosition = (record: OutboxRecord): OutboxRecord => ({
  ...{ place: record.createdAt, steer: false, begins: true },
  ...record,
});
