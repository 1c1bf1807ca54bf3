import { SvelteMap } from 'svelte/reactivity';
import { toScopedName } from '#lib/demo.ts';
import { toProblem } from '#lib/problems.ts';
import { m } from '#lib/i18n/frame-messages.ts';
import { type OutboxRecord, pageDb } from './page-db.ts';

export interface OutboxEntry extends OutboxRecord {
  /** `sent`: this tab has handed it over, and waits for the gateway to store it. `moving`: this tab asks for it back. `taken`: another tab has, and is about to say what becomes of it. */
  state: 'waiting' | 'sent' | 'moving' | 'taken' | 'failed';
}

/** The messages of the outbox as this browser keeps them, and what this tab does with each. Other tabs are told of every change. */
export class OutboxEntries {
  readonly entries = new SvelteMap<string, OutboxEntry>();
  readonly #channel = new BroadcastChannel(toScopedName('perch-outbox'));
  /** Entries that this browser could not keep, and why: they live as long as the page, and no reading of what is kept tells that they are gone. */
  readonly #saveErrors = new SvelteMap<string, string>();
  #readError = $state<string | null>(null);
  /** Why what waits could not be read, or a message not be kept. One that failed says so where it stands; of one that is taken back nobody needs to know. */
  readonly problem = $derived.by(() => {
    const [, untold] = [...this.#saveErrors].find(([id]) => ['waiting', 'sent', 'taken'].includes(this.entries.get(id)?.state ?? '')) ?? [];
    return this.#readError ?? untold ?? null;
  });
  /** The only copy would go with the page: the browser asks first. */
  readonly #preventUnload = (event: Event): void => event.preventDefault();
  /** Chats that there are by what this tab was told: an entry that was read before makes none. */
  readonly #loadedChats = new Set<string>();
  /** Counts what this tab has changed: what was read before the last change is out of date. */
  #changeCount = 0;

  /** Another tab has changed what is kept. */
  onChanged(listener: () => void): void {
    this.#channel.onmessage = listener;
  }

  /** Entries of one chat, in the order in which they go. */
  getEntries(agentId: string, sessionId: string): OutboxEntry[] {
    return [...this.entries.values()]
      .filter((entry) => entry.agentId === agentId && entry.sessionId === sessionId)
      .sort((a, b) => a.place - b.place);
  }

  /** `claim`: only while no other tab has taken it back or away, which only what is kept says for certain. */
  async update(next: OutboxEntry, claim = false): Promise<void> {
    const entry = { ...next, begins: next.begins && !this.#loadedChats.has(`${next.agentId}/${next.sessionId}`) };
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
      this.#isOwned(entry.id);
      this.#channel.postMessage('changed');
    } catch (error) {
      // The entry may have been withdrawn in the meantime.
      if (!this.entries.has(entry.id)) return;
      this.#saveErrors.set(entry.id, toProblem(error, m.chat_doing_keep_message()).message);
      addEventListener('beforeunload', this.#preventUnload);
    }
  }

  /** There is the chat: none of its messages makes it any more. */
  async loadChat(agentId: string, sessionId: string): Promise<void> {
    this.#loadedChats.add(`${agentId}/${sessionId}`);
    const beginning = this.getEntries(agentId, sessionId).filter(({ begins }) => begins);
    for (const entry of beginning) this.entries.set(entry.id, { ...entry, begins: false });
    if (beginning.length === 0) return;
    const { store, done } = (await pageDb()).transaction('outbox', 'readwrite');
    for (const { id } of beginning) {
      // Another tab may have sent it meanwhile, or taken it back.
      const stored = await store.get(id);
      if (stored) await store.put({ ...stored, begins: false });
    }
    await done;
  }

  async remove(id: string): Promise<void> {
    this.#changeCount++;
    this.entries.delete(id);
    this.#isOwned(id);
    try {
      await (await pageDb()).delete('outbox', id);
      this.#channel.postMessage('changed');
    } catch {
      // At the next visit it is found in the history, and not sent again.
    }
  }

  /** Takes over what other tabs and earlier visits have kept. */
  async read(): Promise<void> {
    try {
      const records = await this.#readRecords();
      this.#readError = null;
      const ids = new Set(records.map(({ id }) => id));
      for (const { id, state } of this.entries.values())
        if (!ids.has(id) && state !== 'sent' && state !== 'moving' && !this.#saveErrors.has(id)) this.entries.delete(id);
      for (const record of records) {
        const state = this.entries.get(record.id)?.state;
        const untold = state === 'taken' && record.tried && !record.failure;
        // An entry that could not be stored is newer than its stored record.
        if (state !== 'sent' && state !== 'moving' && !untold && !this.#saveErrors.has(record.id))
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
  #isOwned(id: string): void {
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
