import { SvelteMap } from 'svelte/reactivity';
import { RpcError } from '#shared/rpc/errors.ts';
import { asStored } from '#lib/chat/branch.ts';
import { textOf } from '#lib/chat/shown-files.ts';
import { named } from '#lib/demo.ts';
import { isLost, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/frame.ts';
import { asAttachment, type OutboxRecord, pageDb } from './page-db.ts';

/** How far the clocks of page and gateway may differ when a message is looked for in the history, milliseconds. */
const CLOCK_SLACK_MS = 5_000;
/** Kept with the message, in the language that it was said in. */
const heldBack = (): NonNullable<OutboxRecord['failure']> => ({ message: m.chat_held(), code: 'ABORTED' });

export interface OutboxEntry extends OutboxRecord {
  /** `sent`: this tab has handed it over, and waits for the gateway to store it. `moving`: this tab asks for it back. `taken`: another tab has, and is about to say what becomes of it. */
  state: 'waiting' | 'sent' | 'moving' | 'taken' | 'failed';
}

type StoredListener = (entry: OutboxEntry, messageId: string) => void;

/**
 * Messages between the person and the gateway. Each is kept in this browser until the gateway says that it has stored it, so that a lost
 * connection, a reload or a crash loses none. One tab at a time delivers a chat's messages, in order, by a Web Lock.
 */
class Outbox {
  readonly entries = new SvelteMap<string, OutboxEntry>();
  /** Set when this browser could not keep a message: it lives as long as the page. */
  problem = $state<string | null>(null);
  readonly #channel = new BroadcastChannel(named('perch-outbox'));
  readonly #delivering = new Set<string>();
  /** Has the one that delivers a chat's messages look what has come meanwhile. */
  readonly #wake = new Map<string, () => void>();
  /** Entries that this browser could not keep: no reading of what is kept tells that they are gone. */
  readonly #unkept = new Set<string>();
  /** Counts what this tab has changed: what was read before the last change is out of date. */
  #changes = 0;
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
    this.#channel.onmessage = () => void this.#read();
    gateway.on('chat.message', ({ agentId, sessionId, content, messageId }) => this.#stored(agentId, sessionId, content, messageId));
    void this.#read();
  }

  /** Entries of one chat, in the order in which they go. */
  of(agentId: string, sessionId: string): OutboxEntry[] {
    return [...this.entries.values()]
      .filter((entry) => entry.agentId === agentId && entry.sessionId === sessionId)
      .sort((a, b) => a.place - b.place);
  }

  /** `steer`: it goes now, into the reply under way. */
  async add(message: Pick<OutboxRecord, 'agentId' | 'sessionId' | 'message' | 'files' | 'model' | 'steer'>): Promise<void> {
    const createdAt = Date.now();
    const last = this.of(message.agentId, message.sessionId).at(-1)?.place ?? 0;
    const record: OutboxRecord = {
      ...message,
      id: crypto.randomUUID(),
      createdAt,
      place: Math.max(createdAt, last + 1),
      failure: null,
      tried: false,
    };
    await this.#change({ ...record, state: 'waiting' });
    if (message.steer) await this.sendNow(record.id);
    else this.pump();
  }

  /** Delivers all that waits. */
  pump(): void {
    if (gateway.state !== 'online') return;
    const chats = new Set([...this.entries.values()].filter(isDue).map(({ agentId, sessionId }) => `${agentId}/${sessionId}`));
    for (const chat of chats) void this.#deliverAll(chat);
  }

  /** Sends one that had failed again. */
  async retry(id: string): Promise<void> {
    const entry = this.entries.get(id);
    if (!entry) return;
    await this.#change({ ...entry, failure: null, state: 'waiting' });
    this.pump();
  }

  /** Takes a message back; its entry, for the composer. Undefined where its turn had come. */
  remove(id: string): Promise<OutboxEntry | undefined> {
    return this.#move(async () => {
      const entry = this.entries.get(id);
      const back = entry && (await this.#back(entry));
      if (!back) return undefined;
      this.#accept.get(id)?.();
      await this.#forget(id);
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
    const held = this.of(agentId, sessionId).flatMap((entry) => (entry.state === 'failed' ? [] : [this.#back(entry)]));
    return this.#move(async () => {
      for (const back of held) {
        const entry = await back;
        if (entry) await this.#change({ ...entry, state: 'failed', steer: false, failure: heldBack() });
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
          await this.#read(false);
          const [agentId = '', sessionId = ''] = chat.split('/');
          const due = this.of(agentId, sessionId).filter(isDue);
          if (due.length === 0 || gateway.state !== 'online') return;
          const stored: (() => Promise<boolean>)[] = [];
          for (const entry of together(due)) stored.push(await this.#handOver(entry));
          for (let outcomes: boolean[] | undefined; !outcomes;) {
            const woken = new Promise<undefined>((wake) => this.#wake.set(chat, () => wake(undefined)));
            outcomes = await Promise.race([Promise.all(stored.map((wait) => wait())), woken]);
            if (outcomes?.includes(false)) return;
            await this.#moving;
            // What is to go in beside what goes in already waits for nothing.
            if (due.some(({ steer }) => steer) && !outcomes)
              for (const entry of this.of(agentId, sessionId).filter(isDue)) if (entry.steer) stored.push(await this.#handOver(entry));
          }
        }
      });
    } finally {
      this.#delivering.delete(chat);
      this.#wake.delete(chat);
    }
  }

  /** Hands one entry over. What it returns waits until the gateway has stored it: false when there is no connection to do so. */
  async #handOver(entry: OutboxEntry): Promise<() => Promise<boolean>> {
    const settled = (): Promise<boolean> => Promise.resolve(true);
    if (entry.tried && (await this.#isStored(entry))) {
      await this.#forget(entry.id);
      return settled;
    }
    const due = this.entries.get(entry.id);
    if (due?.state !== 'waiting') return settled;
    const sent = await this.#alone(due, async () => {
      const { id, agentId, sessionId, message, files, model, steer } = due;
      await this.#change({ ...due, state: 'sent', tried: true }, true);
      // Held or moved while that was kept, here or in another tab.
      if (this.entries.get(id)?.state !== 'sent') return undefined;
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
      await this.#forget(id);
      return true;
    } catch (error) {
      return await this.#failed(id, error);
    } finally {
      this.#accept.delete(id);
    }
  }

  async #failed(id: string, error: unknown): Promise<boolean> {
    const entry = this.entries.get(id);
    if (!entry) return true;
    if (isLost(error)) {
      await this.#change({ ...entry, state: 'waiting' });
      return false;
    }
    const aborted = error instanceof RpcError && error.code === 'ABORTED';
    if (aborted && error.extra.details?.reason === 'taken_back') {
      // Whoever took it back says what becomes of it; another tab does so in what is kept, maybe only after this.
      if (entry.state !== 'moving') this.entries.set(id, { ...entry, state: 'taken' });
      return true;
    }
    await this.#change({ ...entry, state: 'failed', steer: false, failure: aborted ? heldBack() : problemOf(error, m.chat_doing_send()) });
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
      const entry = this.entries.get(id);
      if (!entry) return;
      const line = this.of(entry.agentId, entry.sessionId);
      const others = line.filter((each) => each.id !== id);
      const steering = others.findLastIndex(({ steer }) => steer);
      const [above, below] = [others[steering]?.place, others[steering + 1]?.place];
      const place = above === undefined ? (below ?? entry.place) - 1 : below === undefined ? above + 1 : (above + below) / 2;
      for (const each of line) {
        const mine = each.id === id;
        if (!mine && (!each.tried || each.state === 'failed')) continue;
        const back = await this.#back(each);
        if (back) await this.#change({ ...back, ...(mine ? { place, ...change } : {}), state: 'waiting', failure: null });
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
    if (!this.entries.has(id)) return undefined;
    if (back) return { ...held, tried: false };
    await this.#change({ ...held, state: 'waiting' });
    return undefined;
  }

  /** Holds a message in what is kept: no tab sends it from then on. As it was until then; undefined where it is no more. */
  async #hold(entry: OutboxEntry): Promise<OutboxEntry | undefined> {
    const moving = (record: OutboxRecord): OutboxEntry => ({ ...record, state: 'moving', failure: heldBack() });
    this.entries.set(entry.id, moving(entry));
    return this.#alone(entry, async () => {
      const kept = await this.#keptOf(entry);
      if (!kept || !this.entries.has(entry.id)) {
        this.entries.delete(entry.id);
        return undefined;
      }
      await this.#change(moving(kept));
      return { ...kept, state: kept.failure && entry.state !== 'moving' ? 'failed' : 'waiting' };
    });
  }

  /** One tab at a time hands a message over, or holds it back. */
  #alone<R>({ id }: OutboxEntry, work: () => Promise<R>): Promise<R> {
    return navigator.locks.request(named(`perch-outbox-entry:${id}`), work);
  }

  /** Whether an earlier try got through, though its answer did not. */
  async #isStored({ agentId, sessionId, message, createdAt }: OutboxEntry): Promise<boolean> {
    try {
      const { messages } = await gateway.call('chat.history', { agentId, sessionId, limit: 50 });
      const wanted = asStored(message);
      return messages.some(
        ({ role, content, timestamp }) =>
          role === 'user' && timestamp >= createdAt - CLOCK_SLACK_MS && asStored(textOf(content)) === wanted,
      );
    } catch {
      // The idempotency key still keeps a second try from making a second message.
      return false;
    }
  }

  #stored(agentId: string, sessionId: string, content: string, messageId: string): void {
    const wanted = asStored(content);
    const entry = this.of(agentId, sessionId).find(({ tried, message }) => tried && asStored(message) === wanted);
    if (!entry) return;
    for (const listener of this.#onstored) listener(entry, messageId);
    this.#accept.get(entry.id)?.();
    void this.#forget(entry.id);
  }

  /** `claim`: only while no other tab has taken it back or away, which only what is kept says for certain. */
  async #change(entry: OutboxEntry, claim = false): Promise<void> {
    this.#changes++;
    this.entries.set(entry.id, entry);
    const { state: _, ...record } = entry;
    try {
      const { store, done } = (await pageDb()).transaction('outbox', 'readwrite');
      if (claim && !this.#unkept.has(entry.id) && (await store.get(entry.id))?.failure !== null) {
        this.entries.delete(entry.id);
        return;
      }
      await Promise.all([store.put($state.snapshot(record)), done]);
      this.#unkept.delete(entry.id);
      this.problem = null;
      this.#channel.postMessage('changed');
    } catch (error) {
      this.#unkept.add(entry.id);
      this.problem = problemOf(error, m.chat_doing_keep_message()).message;
    }
  }

  async #forget(id: string): Promise<void> {
    this.#changes++;
    this.entries.delete(id);
    this.#unkept.delete(id);
    try {
      await (await pageDb()).delete('outbox', id);
      this.#channel.postMessage('changed');
    } catch {
      // At the next visit it is found in the history, and not sent again.
    }
  }

  async #read(pump = true): Promise<void> {
    try {
      const records = await this.#kept();
      const ids = new Set(records.map(({ id }) => id));
      for (const { id, state } of this.entries.values())
        if (!ids.has(id) && state !== 'sent' && state !== 'moving' && !this.#unkept.has(id)) this.entries.delete(id);
      for (const record of records) {
        const state = this.entries.get(record.id)?.state;
        const untold = state === 'taken' && record.tried && !record.failure;
        if (state !== 'sent' && state !== 'moving' && !untold)
          this.entries.set(record.id, { ...record, state: record.failure ? 'failed' : 'waiting' });
      }
    } catch (error) {
      this.problem = problemOf(error, m.chat_doing_read_waiting()).message;
    }
    if (pump) this.pump();
  }

  /** What is kept of an entry: another tab may have changed it. */
  async #keptOf(entry: OutboxEntry): Promise<OutboxRecord | undefined> {
    if (this.#unkept.has(entry.id)) return entry;
    try {
      const kept = await (await pageDb()).get('outbox', entry.id);
      return kept && withPlace(kept);
    } catch {
      return entry;
    }
  }

  /** What this browser has kept, as it is with every change that this tab has made. */
  async #kept(): Promise<OutboxRecord[]> {
    for (;;) {
      const changes = this.#changes;
      const records = (await (await pageDb()).getAll('outbox')).map(withPlace);
      if (changes === this.#changes) return records;
    }
  }
}

/** Those that an earlier build has kept go in the order in which they were written. */
const withPlace = (record: OutboxRecord): OutboxRecord => ({ ...{ place: record.createdAt, steer: false }, ...record });

/** What goes to the gateway at once: those that steer go into the reply under way together, any other waits for its turn alone. */
function together(due: readonly OutboxEntry[]): readonly OutboxEntry[] {
  const others = due.findIndex(({ steer }) => !steer);
  return due.slice(0, others === -1 ? due.length : Math.max(1, others));
}

const mayBeInLine = ({ tried, state }: OutboxEntry): boolean => tried && state !== 'failed' && gateway.state === 'online';

const isDue = (entry: OutboxEntry): boolean => entry.state === 'waiting';

export const outbox = new Outbox();
