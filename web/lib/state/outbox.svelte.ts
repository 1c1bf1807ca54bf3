import { SvelteMap } from 'svelte/reactivity';
import { RpcError } from '#shared/rpc/errors.ts';
import { asStored } from '#lib/chat/branch.ts';
import { textOf } from '#lib/chat/shown-files.ts';
import { named } from '#lib/demo.ts';
import { isLost, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { asAttachment, type OutboxRecord, pageDb } from './page-db.ts';

/** How far the clocks of page and gateway may differ when a message is looked for in the history, milliseconds. */
const CLOCK_SLACK_MS = 5_000;
const HELD = { message: 'Stopped before its turn came; it was not sent.', code: 'ABORTED' };

export interface OutboxEntry extends OutboxRecord {
  /** `sent`: this tab has handed it over, and waits for the gateway to store it. */
  state: 'waiting' | 'sent' | 'failed';
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
  /** Entries that this browser could not keep: no reading of what is kept tells that they are gone. */
  readonly #unkept = new Set<string>();
  /** Counts what this tab has changed: what was read before the last change is out of date. */
  #changes = 0;
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

  /** Entries of one chat, oldest first. */
  of(agentId: string, sessionId: string): OutboxEntry[] {
    return [...this.entries.values()]
      .filter((entry) => entry.agentId === agentId && entry.sessionId === sessionId)
      .sort((a, b) => a.createdAt - b.createdAt);
  }

  async add(message: Pick<OutboxRecord, 'agentId' | 'sessionId' | 'message' | 'files' | 'model'>): Promise<void> {
    const record: OutboxRecord = {
      ...message,
      id: crypto.randomUUID(),
      createdAt: Date.now(),
      failure: null,
      tried: false,
    };
    await this.#change({ ...record, state: 'waiting' });
    this.pump();
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

  /** Takes a message back; its entry, for the composer. */
  async remove(id: string): Promise<OutboxEntry | undefined> {
    const entry = this.entries.get(id);
    this.#accept.get(id)?.();
    await this.#forget(id);
    return entry;
  }

  /** Holds back what has not been handed over: Stop stops what is in line, too. */
  async hold(agentId: string, sessionId: string): Promise<void> {
    for (const entry of this.of(agentId, sessionId))
      if (entry.state === 'waiting') await this.#change({ ...entry, state: 'failed', failure: HELD });
  }

  /** Listens to entries becoming messages: the entry has the files, which the event does not carry. */
  onStored(listener: StoredListener): () => void {
    this.#onstored.add(listener);
    return () => this.#onstored.delete(listener);
  }

  async #deliverAll(chat: string): Promise<void> {
    if (this.#delivering.has(chat)) return;
    this.#delivering.add(chat);
    try {
      // Queues behind the tab that is at it; that tab's death frees the lock.
      await navigator.locks.request(named(`perch-outbox:${chat}`), async () => {
        await this.#read(false);
        for (;;) {
          const [agentId = '', sessionId = ''] = chat.split('/');
          const next = this.of(agentId, sessionId).find(isDue);
          if (!next || gateway.state !== 'online') return;
          if (!(await this.#deliver(next))) return;
        }
      });
    } finally {
      this.#delivering.delete(chat);
    }
  }

  /** Hands one entry over. False when there is no connection to do so. */
  async #deliver(entry: OutboxEntry): Promise<boolean> {
    const { id, agentId, sessionId, message, files, model } = entry;
    if (entry.tried && (await this.#isStored(entry))) {
      await this.remove(id);
      return true;
    }
    await this.#change({ ...entry, state: 'sent', tried: true });
    const accepted = new Promise<void>((resolve) => this.#accept.set(id, resolve));
    const answer = gateway.call('chat.send', {
      agentId,
      sessionId,
      message,
      idempotencyKey: id,
      ...(files.length > 0 ? { attachments: files.map(asAttachment) } : {}),
      ...(model === null ? {} : { model }),
    });
    // Once the message is stored, whatever ends the run is told by the run's own events.
    answer.catch(() => {});
    try {
      await Promise.race([accepted, answer]);
      if (this.entries.has(id)) await this.remove(id);
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
    await this.#change({ ...entry, state: 'failed', failure: aborted ? HELD : problemOf(error, 'send this message') });
    return true;
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

  async #change(entry: OutboxEntry): Promise<void> {
    this.#changes++;
    this.entries.set(entry.id, entry);
    const { state: _, ...record } = entry;
    try {
      await (await pageDb()).put('outbox', $state.snapshot(record));
      this.#unkept.delete(entry.id);
      this.problem = null;
      this.#channel.postMessage('changed');
    } catch (error) {
      this.#unkept.add(entry.id);
      this.problem = problemOf(error, 'keep the message in this browser').message;
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
        if (!ids.has(id) && state !== 'sent' && !this.#unkept.has(id)) this.entries.delete(id);
      for (const record of records) {
        if (this.entries.get(record.id)?.state !== 'sent')
          this.entries.set(record.id, { ...record, state: record.failure ? 'failed' : 'waiting' });
      }
    } catch (error) {
      this.problem = problemOf(error, 'read the messages that wait in this browser').message;
    }
    if (pump) this.pump();
  }

  /** What this browser has kept, as it is with every change that this tab has made. */
  async #kept(): Promise<OutboxRecord[]> {
    for (;;) {
      const changes = this.#changes;
      const records = await (await pageDb()).getAll('outbox');
      if (changes === this.#changes) return records;
    }
  }
}

const isDue = (entry: OutboxEntry): boolean => entry.state === 'waiting';

export const outbox = new Outbox();
