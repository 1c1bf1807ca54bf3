import { RpcError } from '#shared/rpc/rpc-error.ts';
import { toStoredText } from '#lib/chat/branch.ts';
import { toScopedName } from '#lib/demo.ts';
import { isConnectionLost, toProblem } from '#lib/problems.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { m } from '#lib/i18n/frame-messages.ts';
import { OutboxEntries, type OutboxEntry } from './outbox-entries.svelte.ts';
import { toAttachment, type OutboxRecord } from './page-db.ts';

/** Code of a message that Stop held back: it waits for a decision, and nothing failed. */
export const HELD_CODE = 'ABORTED';

/** Kept with the message, in the language that it was said in. */
const createHeldFailure = (): NonNullable<OutboxRecord['failure']> => ({ message: m.chat_held(), code: HELD_CODE });

type StoredListener = (entry: OutboxEntry, messageId: string) => void;

/**
 * Messages between the person and the gateway. Each is kept in this browser until the gateway says that it has stored it, so that a lost
 * connection, a reload or a crash loses none. One tab at a time delivers a chat's messages, in order, by a Web Lock.
 */
class Outbox {
  readonly records = new OutboxEntries();
  readonly #delivering = new Set<string>();
  /** Has the one that delivers a chat's messages look what has come meanwhile. */
  readonly #wakeCallbacks = new Map<string, () => void>();
  /** Settles when no message is being moved: what goes next is chosen behind that. */
  #lastMove: Promise<unknown> = Promise.resolve();
  /** Ends the wait for an entry: the gateway has stored its message. */
  readonly #acceptCallbacks = new Map<string, () => void>();
  readonly #storedListeners = new Set<StoredListener>();
  #started = false;

  /** Reads what an earlier visit left, and sends it. */
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

  /** `steer`: it goes now, into the reply under way. */
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

  /** Delivers all that waits. */
  pump(): void {
    if (gateway.state !== 'online') return;
    const chats = new Set([...this.records.entries.values()].filter(isDue).map(({ agentId, sessionId }) => `${agentId}/${sessionId}`));
    for (const chat of chats) void this.#deliverAll(chat);
  }

  /** Sends one that had failed again. */
  async retry(id: string): Promise<void> {
    const entry = this.records.entries.get(id);
    if (!entry) return;
    await this.records.update({ ...entry, failure: null, state: 'waiting' });
    this.pump();
  }

  /** Takes a message back; its entry, for the composer. Undefined where its turn had come. */
  remove(id: string): Promise<OutboxEntry | undefined> {
    return this.#move(async () => {
      const entry = this.records.entries.get(id);
      const back = entry && (await this.#takeBack(entry));
      if (!back) return undefined;
      this.#acceptCallbacks.get(id)?.();
      await this.records.remove(id);
      return back;
    });
  }

  /** The reply under way takes it in. */
  sendNow(id: string): Promise<void> {
    return this.#moveToFront(id, { steer: true });
  }

  /** Its turn comes next. */
  moveToFront(id: string): Promise<void> {
    return this.#moveToFront(id, {});
  }

  /** Holds back what has not become a message: Stop stops what is in line, too. */
  holdAll(agentId: string, sessionId: string): Promise<void> {
    // Asked for at once: the reply that is stopped would make room for it.
    const heldEntries = this.records
      .getEntries(agentId, sessionId)
      .flatMap((entry) => (entry.state === 'failed' ? [] : [this.#takeBack(entry)]));
    return this.#move(async () => {
      for (const back of heldEntries) {
        const entry = await back;
        if (entry) await this.records.update({ ...entry, state: 'failed', steer: false, failure: createHeldFailure() });
      }
    });
  }

  /** Listens to entries becoming messages: the entry has the files, which the event does not carry. */
  onStored(listener: StoredListener): () => void {
    this.#storedListeners.add(listener);
    return () => this.#storedListeners.delete(listener);
  }

  async #deliverAll(chat: string): Promise<void> {
    if (this.#delivering.has(chat)) return this.#wakeCallbacks.get(chat)?.();
    this.#delivering.add(chat);
    try {
      // Queues behind the tab that is at it; that tab's death frees the lock.
      await navigator.locks.request(toScopedName(`perch-outbox:${chat}`), async () => {
        for (;;) {
          await this.#lastMove;
          await this.records.read();
          const [agentId = '', sessionId = ''] = chat.split('/');
          const due = this.records.getEntries(agentId, sessionId).filter(isDue);
          if (due.length === 0 || gateway.state !== 'online') return;
          // Awaited before anything is handed over: what comes meanwhile is not missed.
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

  /** Hands one entry over. What it returns waits until the gateway has stored it: false when there is no connection to do so. */
  async #handOver(entry: OutboxEntry): Promise<() => Promise<boolean>> {
    const settled = (): Promise<boolean> => Promise.resolve(true);
    if (entry.tried && (await this.#isStored(entry))) {
      await this.records.remove(entry.id);
      return settled;
    }
    const due = this.records.entries.get(entry.id);
    if (due?.state !== 'waiting') return settled;
    const handedOver = await this.#runExclusive(due, async () => {
      const { id, agentId, sessionId, message, files, model, steer } = due;
      await this.records.update({ ...due, state: 'sent', tried: true }, true);
      // Held or moved while that was kept, here or in another tab.
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
      return { accepted, answer: response };
    });
    if (!handedOver) return settled;
    // Once the message is stored, whatever ends the run is told by the run's own events.
    handedOver.answer.catch(() => {});
    const stored = this.#settle(due.id, Promise.race([handedOver.accepted, handedOver.answer]));
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

  /** Puts a message before all others of its chat but those that steer. What is in line at the gateway comes back for it, and waits here. */
  #moveToFront(id: string, change: Partial<OutboxRecord>): Promise<void> {
    return this.#move(async () => {
      const entry = this.records.entries.get(id);
      if (!entry) return;
      const queue = this.records.getEntries(entry.agentId, entry.sessionId);
      const others = queue.filter((each) => each.id !== id);
      const steering = others.findLastIndex(({ steer }) => steer);
      const [above, below] = [others[steering]?.place, others[steering + 1]?.place];
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

  /** Has the gateway give back what it may have in line. Undefined where the message had its turn. */
  async #takeBack(entry: OutboxEntry): Promise<OutboxEntry | undefined> {
    const { id, agentId, sessionId } = entry;
    const requestAbort = async (): Promise<boolean> => (await gateway.call('chat.abort', { agentId, sessionId, sentWith: id })).aborted;
    const early = isPossiblyQueued(entry) ? requestAbort() : Promise.resolve(false);
    early.catch(() => {});
    const heldEntry = await this.#hold(entry);
    if (!heldEntry || !isPossiblyQueued(heldEntry)) return heldEntry;
    // Asked again, for another tab may have handed it over only now.
    const back = await early.then(
      async (aborted) => aborted || (await requestAbort()) || !(await this.#isStored(entry)),
      () => false,
    );
    if (!this.records.entries.has(id)) return undefined;
    if (back) return { ...heldEntry, tried: false };
    await this.records.update({ ...heldEntry, state: 'waiting' });
    return undefined;
  }

  /** Holds a message in what is kept: no tab sends it from then on. As it was until then; undefined where it is no more. */
  async #hold(entry: OutboxEntry): Promise<OutboxEntry | undefined> {
    const moving = (record: OutboxRecord): OutboxEntry => ({ ...record, state: 'moving', failure: createHeldFailure() });
    this.records.entries.set(entry.id, moving(entry));
    return this.#runExclusive(entry, async () => {
      const stored = await this.records.readRecord(entry);
      if (!stored || !this.records.entries.has(entry.id)) {
        this.records.entries.delete(entry.id);
        return undefined;
      }
      await this.records.update(moving(stored));
      return { ...stored, state: stored.failure && entry.state !== 'moving' ? 'failed' : 'waiting' };
    });
  }

  /** One tab at a time hands a message over, or holds it back. */
  #runExclusive<R>({ id }: OutboxEntry, work: () => Promise<R>): Promise<R> {
    return navigator.locks.request(toScopedName(`perch-outbox-entry:${id}`), work);
  }

  /** Whether an earlier try got through, though its answer did not. */
  async #isStored(entry: OutboxEntry): Promise<boolean> {
    try {
      const { isMessageStored } = await import('./is-message-stored.ts');
      return await isMessageStored(entry);
    } catch {
      // The idempotency key still keeps a second try from making a second message.
      return false;
    }
  }

  #onMessageStored(agentId: string, sessionId: string, content: string, messageId: string): void {
    // If this cannot be stored, the chat counts as new after its deletion.
    this.records.loadChat(agentId, sessionId).catch(() => {});
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
