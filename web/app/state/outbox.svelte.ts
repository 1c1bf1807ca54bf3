import { RpcError } from '#shared/rpc/rpc-error.ts';
import { toStoredText } from './branch.ts';
import { toScopedName } from './demo.ts';
import { isConnectionLost, toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { OutboxEntries, type OutboxEntry } from './outbox-entries.svelte.ts';
import { toAttachment, type OutboxRecord } from './page-db.ts';

/** Error code of a message that Stop held back: it waits for a decision. */
export const HELD_CODE = 'ABORTED';

/** Failure of a held message, stored in the current language. */
const createHeldFailure = (): NonNullable<OutboxRecord['failure']> => ({ message: m.chat_held(), code: HELD_CODE });

type StoredListener = (entry: OutboxEntry, messageId: string) => void;

/**
 * Messages on their way to the gateway. Each is stored in this browser until the gateway confirms that it has stored it, so that a lost
 * connection, a reload or a crash loses none. One tab at a time delivers a chat's messages, in order, by a Web Lock.
 */
class Outbox {
  readonly records = new OutboxEntries();
  readonly #delivering = new Set<string>();
  /** Callbacks that make a running delivery check for new entries, by chat. */
  readonly #wakeCallbacks = new Map<string, () => void>();
  /** Settles when no message is being moved; delivery waits for it. */
  #lastMove: Promise<unknown> = Promise.resolve();
  /** Callbacks for when the gateway has stored a message, by entry. */
  readonly #acceptCallbacks = new Map<string, () => void>();
  readonly #storedListeners = new Set<StoredListener>();
  #started = false;

  /** Loads entries of earlier visits and sends them. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.records.onChanged(() => void this.#read());
    gateway.on('chat.message', ({ agentId, sessionId, content, messageId }) =>
      this.#onMessageStored(agentId, sessionId, content, messageId),
    );
    void this.#read();
  }

  async #read(): Promise<void> {
    await this.records.read();
    this.pump();
  }

  /** Adds a message and sends it. `steer`: now, into the running reply. */
  async add(message: Pick<OutboxRecord, 'agentId' | 'sessionId' | 'message' | 'files' | 'model' | 'steer' | 'begins'>): Promise<void> {
    const createdAt = Date.now();
    const last = this.records.getEntries(message.agentId, message.sessionId).at(-1)?.place ?? 0;
    const record: OutboxRecord = {
      ...message,
      id: crypto.randomUUID(),
      createdAt,
      place: Math.max(createdAt, last + 1),
      failure: null,
      tried: false,
    };
    await this.records.update({ ...record, state: 'waiting' });
    if (message.steer) await this.sendNow(record.id);
    else this.pump();
  }

  /** Delivers all waiting entries. */
  pump(): void {
    if (gateway.state !== 'online') return;
    const chats = new Set([...this.records.entries.values()].filter(isDue).map(({ agentId, sessionId }) => `${agentId}/${sessionId}`));
    for (const chat of chats) void this.#deliverAll(chat);
  }

  /** Sends a failed message again. */
  async retry(id: string): Promise<void> {
    const entry = this.records.entries.get(id);
    if (!entry) return;
    await this.records.update({ ...entry, failure: null, state: 'waiting' });
    this.pump();
  }

  /** Withdraws a message and returns its entry, for the composer; undefined if the gateway has already processed it. */
  remove(id: string): Promise<OutboxEntry | undefined> {
    return this.#move(async () => {
      const entry = this.records.entries.get(id);
      const withdrawn = entry && (await this.#takeBack(entry));
      if (!withdrawn) return undefined;
      this.#acceptCallbacks.get(id)?.();
      await this.records.remove(id);
      return withdrawn;
    });
  }

  /** Sends a message into the running reply. */
  sendNow(id: string): Promise<void> {
    return this.#moveToFront(id, { steer: true });
  }

  /** Sends a message before all others that wait. */
  moveToFront(id: string): Promise<void> {
    return this.#moveToFront(id, {});
  }

  /** Holds back all queued messages of a chat, when the person stops the reply. */
  holdAll(agentId: string, sessionId: string): Promise<void> {
    // Requested immediately: otherwise the end of the stopped reply would start the next message.
    const heldEntries = this.records
      .getEntries(agentId, sessionId)
      .flatMap((entry) => (entry.state === 'failed' ? [] : [this.#takeBack(entry)]));
    return this.#move(async () => {
      for (const heldEntry of heldEntries) {
        const entry = await heldEntry;
        if (entry) await this.records.update({ ...entry, state: 'failed', steer: false, failure: createHeldFailure() });
      }
    });
  }

  /** Calls the listener when an entry was stored as a message; the entry has the files, which the event lacks. */
  onStored(listener: StoredListener): () => void {
    this.#storedListeners.add(listener);
    return () => this.#storedListeners.delete(listener);
  }

  async #deliverAll(chat: string): Promise<void> {
    if (this.#delivering.has(chat)) return this.#wakeCallbacks.get(chat)?.();
    this.#delivering.add(chat);
    try {
      // Waits for the tab that delivers; if that tab closes, the lock is released.
      await navigator.locks.request(toScopedName(`perch-outbox:${chat}`), async () => {
        for (;;) {
          await this.#lastMove;
          await this.records.read();
          const [agentId = '', sessionId = ''] = chat.split('/');
          const due = this.records.getEntries(agentId, sessionId).filter(isDue);
          if (due.length === 0 || gateway.state !== 'online') return;
          // Created before the first send, so that no new entry is missed.
          let woken = this.#waitForWake(chat);
          const stored: (() => Promise<boolean>)[] = [];
          for (const entry of getNextBatch(due)) stored.push(await this.#handOver(entry));
          for (;;) {
            const outcomes = await Promise.race([Promise.all(stored.map((wait) => wait())), woken]);
            if (outcomes?.includes(false)) return;
            if (outcomes) break;
            woken = this.#waitForWake(chat);
            await this.#lastMove;
            // Messages that steer the current reply wait for nothing else in the queue.
            for (const entry of this.records.getEntries(agentId, sessionId).filter(isDue))
              if (entry.steer) stored.push(await this.#handOver(entry));
          }
        }
      });
    } finally {
      this.#delivering.delete(chat);
      this.#wakeCallbacks.delete(chat);
    }
  }

  #waitForWake(chat: string): Promise<undefined> {
    return new Promise((wake) => this.#wakeCallbacks.set(chat, () => wake(undefined)));
  }

  /** Sends an entry. The returned function resolves once the gateway has stored it, or to false if the connection was lost. */
  async #handOver(entry: OutboxEntry): Promise<() => Promise<boolean>> {
    const settled = (): Promise<boolean> => Promise.resolve(true);
    if (entry.tried && (await this.#isStored(entry))) {
      await this.records.remove(entry.id);
      return settled;
    }
    const due = this.records.entries.get(entry.id);
    if (due?.state !== 'waiting') return settled;
    const sent = await this.#runExclusive(due, async () => {
      const { id, agentId, sessionId, message, files, model, steer } = due;
      await this.records.update({ ...due, state: 'sent', tried: true }, true);
      // It may have been held or moved in the meantime, here or in another tab.
      if (this.records.entries.get(id)?.state !== 'sent') return undefined;
      const accepted = new Promise<void>((resolve) => this.#acceptCallbacks.set(id, resolve));
      const response = gateway.call('chat.send', {
        agentId,
        sessionId,
        message,
        idempotencyKey: id,
        ...(files.length > 0 ? { attachments: files.map(toAttachment) } : {}),
        ...(model === null ? {} : { model }),
        ...(steer ? { steer } : {}),
      });
      return { accepted, response };
    });
    if (!sent) return settled;
    // Once the message is stored, events of the run report how it ends.
    sent.response.catch(() => {});
    const stored = this.#settle(due.id, Promise.race([sent.accepted, sent.response]));
    return () => stored;
  }

  async #settle(id: string, stored: Promise<unknown>): Promise<boolean> {
    try {
      await stored;
      await this.records.remove(id);
      return true;
    } catch (error) {
      return await this.#onFailure(id, error);
    } finally {
      this.#acceptCallbacks.delete(id);
    }
  }

  async #onFailure(id: string, error: unknown): Promise<boolean> {
    const entry = this.records.entries.get(id);
    if (!entry) return true;
    if (isConnectionLost(error)) {
      await this.records.update({ ...entry, state: 'waiting' });
      return false;
    }
    const aborted = error instanceof RpcError && error.code === 'ABORTED';
    if (aborted && error.extra.details?.reason === 'taken_back') {
      // The caller that withdrew the entry decides what happens to it; another tab does so through the store, possibly later.
      if (entry.state !== 'moving') this.records.entries.set(id, { ...entry, state: 'taken' });
      return true;
    }
    await this.records.update({
      ...entry,
      state: 'failed',
      steer: false,
      failure: aborted ? createHeldFailure() : toProblem(error, m.chat_doing_send()),
    });
    return true;
  }

  #move<R>(work: () => Promise<R>): Promise<R> {
    const done = this.#lastMove.then(work);
    this.#lastMove = done.catch(() => {});
    return done;
  }

  /** Moves a message before all others of its chat except those that steer. Messages queued at the gateway are withdrawn and wait here. */
  #moveToFront(id: string, change: Partial<OutboxRecord>): Promise<void> {
    return this.#move(async () => {
      const entry = this.records.entries.get(id);
      if (!entry) return;
      const queue = this.records.getEntries(entry.agentId, entry.sessionId);
      const otherEntries = queue.filter((each) => each.id !== id);
      const lastSteering = otherEntries.findLastIndex(({ steer }) => steer);
      const [above, below] = [otherEntries[lastSteering]?.place, otherEntries[lastSteering + 1]?.place];
      const position = above === undefined ? (below ?? entry.place) - 1 : below === undefined ? above + 1 : (above + below) / 2;
      for (const each of queue) {
        const isTarget = each.id === id;
        if (!isTarget && (!each.tried || each.state === 'failed')) continue;
        const takenBack = await this.#takeBack(each);
        if (takenBack)
          await this.records.update({ ...takenBack, ...(isTarget ? { place: position, ...change } : {}), state: 'waiting', failure: null });
      }
    }).then(() => this.pump());
  }

  /** Withdraws a message, also from the gateway's queue. Undefined if the gateway has already processed it. */
  async #takeBack(entry: OutboxEntry): Promise<OutboxEntry | undefined> {
    const { id, agentId, sessionId } = entry;
    const requestAbort = async (): Promise<boolean> => (await gateway.call('chat.abort', { agentId, sessionId, sentWith: id })).aborted;
    const earlyAbort = isPossiblyQueued(entry) ? requestAbort() : Promise.resolve(false);
    earlyAbort.catch(() => {});
    const heldEntry = await this.#hold(entry);
    if (!heldEntry || !isPossiblyQueued(heldEntry)) return heldEntry;
    // Requested again, as another tab may have sent it in the meantime.
    const isWithdrawn = await earlyAbort.then(
      async (aborted) => aborted || (await requestAbort()) || !(await this.#isStored(entry)),
      () => false,
    );
    if (!this.records.entries.has(id)) return undefined;
    if (isWithdrawn) return { ...heldEntry, tried: false };
    await this.records.update({ ...heldEntry, state: 'waiting' });
    return undefined;
  }

  /** Marks a message as held in the store, so that no tab sends it. Returns the previous entry; undefined if it no longer exists. */
  async #hold(entry: OutboxEntry): Promise<OutboxEntry | undefined> {
    const toMovingEntry = (record: OutboxRecord): OutboxEntry => ({ ...record, state: 'moving', failure: createHeldFailure() });
    this.records.entries.set(entry.id, toMovingEntry(entry));
    return this.#runExclusive(entry, async () => {
      const stored = await this.records.readRecord(entry);
      if (!stored || !this.records.entries.has(entry.id)) {
        this.records.entries.delete(entry.id);
        return undefined;
      }
      await this.records.update(toMovingEntry(stored));
      return { ...stored, state: stored.failure && entry.state !== 'moving' ? 'failed' : 'waiting' };
    });
  }

  /** Runs work under a lock of the entry: one tab at a time sends or holds it. */
  #runExclusive<R>({ id }: OutboxEntry, work: () => Promise<R>): Promise<R> {
    return navigator.locks.request(toScopedName(`perch-outbox-entry:${id}`), work);
  }

  /** Whether an earlier attempt reached the gateway although its response was lost. */
  async #isStored(entry: OutboxEntry): Promise<boolean> {
    try {
      const { isMessageStored } = await import('./is-message-stored.ts');
      return await isMessageStored(entry);
    } catch {
      // The idempotency key still prevents a duplicate message.
      return false;
    }
  }

  #onMessageStored(agentId: string, sessionId: string, content: string, messageId: string): void {
    // If this cannot be stored, the chat counts as new after its deletion.
    this.records.markChatExists(agentId, sessionId).catch(() => {});
    const storedText = toStoredText(content);
    const entry = this.records.getEntries(agentId, sessionId).find(({ tried, message }) => tried && toStoredText(message) === storedText);
    if (!entry) return;
    for (const listener of this.#storedListeners) listener(entry, messageId);
    this.#acceptCallbacks.get(entry.id)?.();
    void this.records.remove(entry.id);
  }
}

/** Entries to send now: all leading ones that steer the current reply together, any other one alone. */
function getNextBatch(due: readonly OutboxEntry[]): readonly OutboxEntry[] {
  const firstOther = due.findIndex(({ steer }) => !steer);
  return due.slice(0, firstOther === -1 ? due.length : Math.max(1, firstOther));
}

const isPossiblyQueued = ({ tried, state }: OutboxEntry): boolean => tried && state !== 'failed' && gateway.state === 'online';

const isDue = (entry: OutboxEntry): boolean => entry.state === 'waiting';

export const outbox = new Outbox();
