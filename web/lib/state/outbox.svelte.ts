import { RpcError } from '#shared/rpc/errors.ts';
import { asStored } from '#lib/chat/branch.ts';
import { named } from '#lib/demo.ts';
import { isLost, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/frame.ts';
import { OutboxEntries, type OutboxEntry } from './outbox-entries.svelte.ts';
import { asAttachment, type OutboxRecord } from './page-db.ts';

/** Code of a message that Stop held back: it waits for a decision, and nothing failed. */
export const HELD = 'ABORTED';

/** Kept with the message, in the language that it was said in. */
const heldBack = (): NonNullable<OutboxRecord['failure']> => ({ message: m.chat_held(), code: HELD });

type StoredListener = (entry: OutboxEntry, messageId: string) => void;

/**
 * Messages between the person and the gateway. Each is kept in this browser until the gateway says that it has stored it, so that a lost
 * connection, a reload or a crash loses none. One tab at a time delivers a chat's messages, in order, by a Web Lock.
 */
class Outbox {
  readonly kept = new OutboxEntries();
  readonly #delivering = new Set<string>();
  /** Has the one that delivers a chat's messages look what has come meanwhile. */
  readonly #wake = new Map<string, () => void>();
  /** Settles when no message is being moved: what goes next is chosen behind that. */
  #moving: Promise<unknown> = Promise.resolve();
  /** Ends the wait for an entry: the gateway has stored its message. */
  readonly #accept = new Map<string, () => void>();
  readonly #onstored = new Set<StoredListener>();
  #started = false;

  /** Reads what an earlier visit left, and sends it. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.kept.onChanged(() => void this.#read());
    gateway.on('chat.message', ({ agentId, sessionId, content, messageId }) => this.#stored(agentId, sessionId, content, messageId));
    void this.#read();
  }

  async #read(): Promise<void> {
    await this.kept.read();
    this.pump();
  }

  /** `steer`: it goes now, into the reply under way. */
  async add(message: Pick<OutboxRecord, 'agentId' | 'sessionId' | 'message' | 'files' | 'model' | 'steer' | 'begins'>): Promise<void> {
    const createdAt = Date.now();
    const last = this.kept.of(message.agentId, message.sessionId).at(-1)?.place ?? 0;
    const record: OutboxRecord = {
      ...message,
      id: crypto.randomUUID(),
      createdAt,
      place: Math.max(createdAt, last + 1),
      failure: null,
      tried: false,
    };
    await this.kept.change({ ...record, state: 'waiting' });
    if (message.steer) await this.sendNow(record.id);
    else this.pump();
  }

  /** Delivers all that waits. */
  pump(): void {
    if (gateway.state !== 'online') return;
    const chats = new Set([...this.kept.entries.values()].filter(isDue).map(({ agentId, sessionId }) => `${agentId}/${sessionId}`));
    for (const chat of chats) void this.#deliverAll(chat);
  }

  /** Sends one that had failed again. */
  async retry(id: string): Promise<void> {
    const entry = this.kept.entries.get(id);
    if (!entry) return;
    await this.kept.change({ ...entry, failure: null, state: 'waiting' });
    this.pump();
  }

  /** Takes a message back; its entry, for the composer. Undefined where its turn had come. */
  remove(id: string): Promise<OutboxEntry | undefined> {
    return this.#move(async () => {
      const entry = this.kept.entries.get(id);
      const back = entry && (await this.#back(entry));
      if (!back) return undefined;
      this.#accept.get(id)?.();
      await this.kept.forget(id);
      return back;
    });
  }

  /** The reply under way takes it in. */
  sendNow(id: string): Promise<void> {
    return this.#first(id, { steer: true });
  }

  /** Its turn comes next. */
  toFront(id: string): Promise<void> {
    return this.#first(id, {});
  }

  /** Holds back what has not become a message: Stop stops what is in line, too. */
  hold(agentId: string, sessionId: string): Promise<void> {
    // Asked for at once: the reply that is stopped would make room for it.
    const held = this.kept.of(agentId, sessionId).flatMap((entry) => (entry.state === 'failed' ? [] : [this.#back(entry)]));
    return this.#move(async () => {
      for (const back of held) {
        const entry = await back;
        if (entry) await this.kept.change({ ...entry, state: 'failed', steer: false, failure: heldBack() });
      }
    });
  }

  /** Listens to entries becoming messages: the entry has the files, which the event does not carry. */
  onStored(listener: StoredListener): () => void {
    this.#onstored.add(listener);
    return () => this.#onstored.delete(listener);
  }

  async #deliverAll(chat: string): Promise<void> {
    if (this.#delivering.has(chat)) return this.#wake.get(chat)?.();
    this.#delivering.add(chat);
    try {
      // Queues behind the tab that is at it; that tab's death frees the lock.
      await navigator.locks.request(named(`perch-outbox:${chat}`), async () => {
        for (;;) {
          await this.#moving;
          await this.kept.read();
          const [agentId = '', sessionId = ''] = chat.split('/');
          const due = this.kept.of(agentId, sessionId).filter(isDue);
          if (due.length === 0 || gateway.state !== 'online') return;
          // Awaited before anything is handed over: what comes meanwhile is not missed.
          let woken = this.#woken(chat);
          const stored: (() => Promise<boolean>)[] = [];
          for (const entry of together(due)) stored.push(await this.#handOver(entry));
          for (;;) {
            const outcomes = await Promise.race([Promise.all(stored.map((wait) => wait())), woken]);
            if (outcomes?.includes(false)) return;
            if (outcomes) break;
            woken = this.#woken(chat);
            await this.#moving;
            // Messages that steer the current reply wait for nothing else in the queue.
            for (const entry of this.kept.of(agentId, sessionId).filter(isDue)) if (entry.steer) stored.push(await this.#handOver(entry));
          }
        }
      });
    } finally {
      this.#delivering.delete(chat);
      this.#wake.delete(chat);
    }
  }

  #woken(chat: string): Promise<undefined> {
    return new Promise((wake) => this.#wake.set(chat, () => wake(undefined)));
  }

  /** Hands one entry over. What it returns waits until the gateway has stored it: false when there is no connection to do so. */
  async #handOver(entry: OutboxEntry): Promise<() => Promise<boolean>> {
    const settled = (): Promise<boolean> => Promise.resolve(true);
    if (entry.tried && (await this.#isStored(entry))) {
      await this.kept.forget(entry.id);
      return settled;
    }
    const due = this.kept.entries.get(entry.id);
    if (due?.state !== 'waiting') return settled;
    const sent = await this.#alone(due, async () => {
      const { id, agentId, sessionId, message, files, model, steer } = due;
      await this.kept.change({ ...due, state: 'sent', tried: true }, true);
      // Held or moved while that was kept, here or in another tab.
      if (this.kept.entries.get(id)?.state !== 'sent') return undefined;
      const accepted = new Promise<void>((resolve) => this.#accept.set(id, resolve));
      const answer = gateway.call('chat.send', {
        agentId,
        sessionId,
        message,
        idempotencyKey: id,
        ...(files.length > 0 ? { attachments: files.map(asAttachment) } : {}),
        ...(model === null ? {} : { model }),
        ...(steer ? { steer } : {}),
      });
      return { accepted, answer };
    });
    if (!sent) return settled;
    // Once the message is stored, whatever ends the run is told by the run's own events.
    sent.answer.catch(() => {});
    const stored = this.#settle(due.id, Promise.race([sent.accepted, sent.answer]));
    return () => stored;
  }

  async #settle(id: string, stored: Promise<unknown>): Promise<boolean> {
    try {
      await stored;
      await this.kept.forget(id);
      return true;
    } catch (error) {
      return await this.#failed(id, error);
    } finally {
      this.#accept.delete(id);
    }
  }

  async #failed(id: string, error: unknown): Promise<boolean> {
    const entry = this.kept.entries.get(id);
    if (!entry) return true;
    if (isLost(error)) {
      await this.kept.change({ ...entry, state: 'waiting' });
      return false;
    }
    const aborted = error instanceof RpcError && error.code === 'ABORTED';
    if (aborted && error.extra.details?.reason === 'taken_back') {
      // The caller that withdrew the entry decides what happens to it; another tab does so through the store, possibly later.
      if (entry.state !== 'moving') this.kept.entries.set(id, { ...entry, state: 'taken' });
      return true;
    }
    await this.kept.change({
      ...entry,
      state: 'failed',
      steer: false,
      failure: aborted ? heldBack() : problemOf(error, m.chat_doing_send()),
    });
    return true;
  }

  #move<R>(work: () => Promise<R>): Promise<R> {
    const done = this.#moving.then(work);
    this.#moving = done.catch(() => {});
    return done;
  }

  /** Puts a message before all others of its chat but those that steer. What is in line at the gateway comes back for it, and waits here. */
  #first(id: string, change: Partial<OutboxRecord>): Promise<void> {
    return this.#move(async () => {
      const entry = this.kept.entries.get(id);
      if (!entry) return;
      const line = this.kept.of(entry.agentId, entry.sessionId);
      const others = line.filter((each) => each.id !== id);
      const steering = others.findLastIndex(({ steer }) => steer);
      const [above, below] = [others[steering]?.place, others[steering + 1]?.place];
      const place = above === undefined ? (below ?? entry.place) - 1 : below === undefined ? above + 1 : (above + below) / 2;
      for (const each of line) {
        const mine = each.id === id;
        if (!mine && (!each.tried || each.state === 'failed')) continue;
        const back = await this.#back(each);
        if (back) await this.kept.change({ ...back, ...(mine ? { place, ...change } : {}), state: 'waiting', failure: null });
      }
    }).then(() => this.pump());
  }

  /** Has the gateway give back what it may have in line. Undefined where the message had its turn. */
  async #back(entry: OutboxEntry): Promise<OutboxEntry | undefined> {
    const { id, agentId, sessionId } = entry;
    const ask = async (): Promise<boolean> => (await gateway.call('chat.abort', { agentId, sessionId, sentWith: id })).aborted;
    const early = mayBeInLine(entry) ? ask() : Promise.resolve(false);
    early.catch(() => {});
    const held = await this.#hold(entry);
    if (!held || !mayBeInLine(held)) return held;
    // Asked again, for another tab may have handed it over only now.
    const back = await early.then(
      async (aborted) => aborted || (await ask()) || !(await this.#isStored(entry)),
      () => false,
    );
    if (!this.kept.entries.has(id)) return undefined;
    if (back) return { ...held, tried: false };
    await this.kept.change({ ...held, state: 'waiting' });
    return undefined;
  }

  /** Holds a message in what is kept: no tab sends it from then on. As it was until then; undefined where it is no more. */
  async #hold(entry: OutboxEntry): Promise<OutboxEntry | undefined> {
    const moving = (record: OutboxRecord): OutboxEntry => ({ ...record, state: 'moving', failure: heldBack() });
    this.kept.entries.set(entry.id, moving(entry));
    return this.#alone(entry, async () => {
      const kept = await this.kept.keptOf(entry);
      if (!kept || !this.kept.entries.has(entry.id)) {
        this.kept.entries.delete(entry.id);
        return undefined;
      }
      await this.kept.change(moving(kept));
      return { ...kept, state: kept.failure && entry.state !== 'moving' ? 'failed' : 'waiting' };
    });
  }

  /** One tab at a time hands a message over, or holds it back. */
  #alone<R>({ id }: OutboxEntry, work: () => Promise<R>): Promise<R> {
    return navigator.locks.request(named(`perch-outbox-entry:${id}`), work);
  }

  /** Whether an earlier try got through, though its answer did not. */
  async #isStored(entry: OutboxEntry): Promise<boolean> {
    try {
      const { isStored } = await import('./outbox-stored.ts');
      return await isStored(entry);
    } catch {
      // The idempotency key still keeps a second try from making a second message.
      return false;
    }
  }

  #stored(agentId: string, sessionId: string, content: string, messageId: string): void {
    // If this cannot be stored, the chat counts as new after its deletion.
    this.kept.begun(agentId, sessionId).catch(() => {});
    const wanted = asStored(content);
    const entry = this.kept.of(agentId, sessionId).find(({ tried, message }) => tried && asStored(message) === wanted);
    if (!entry) return;
    for (const listener of this.#onstored) listener(entry, messageId);
    this.#accept.get(entry.id)?.();
    void this.kept.forget(entry.id);
  }
}

/** Entries to send now: all leading ones that steer the current reply together, any other one alone. */
function together(due: readonly OutboxEntry[]): readonly OutboxEntry[] {
  const others = due.findIndex(({ steer }) => !steer);
  return due.slice(0, others === -1 ? due.length : Math.max(1, others));
}

const mayBeInLine = ({ tried, state }: OutboxEntry): boolean => tried && state !== 'failed' && gateway.state === 'online';

const isDue = (entry: OutboxEntry): boolean => entry.state === 'waiting';

export const outbox = new Outbox();
