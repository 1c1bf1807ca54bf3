import type { SyncState } from '#shared/rpc/methods/sync.ts';
import type { SyncPort } from '../../web/gateway/core/sync.ts';

/** A sync port controlled by the test, which records its calls. */
export class FakeSync implements SyncPort {
  #state: SyncState = { state: 'synced', role: 'holder', pending: 0, lastSyncAt: null, progress: null, problem: null };
  readonly #watchers = new Set<() => void>();
  readonly #listeners = new Set<(from: string, payload: unknown) => void>();
  readonly sent: { to: string | undefined; payload: unknown }[] = [];
  readonly claimed: { runId: string; executor: string }[] = [];
  /** Result of `claim`. */
  fence: number | null = null;
  /** Whether `signal` reaches somebody. */
  delivers = true;
  journal: Awaited<ReturnType<SyncPort['info']>> = null;
  /** Result of `shared`. */
  isShared: boolean | undefined = false;
  facts: Awaited<ReturnType<SyncPort['cluster']>> = null;

  constructor(state: Partial<SyncState> = {}) {
    this.#state = { ...this.#state, ...state };
  }

  state(): SyncState {
    return { ...this.#state };
  }

  set(state: Partial<SyncState>): void {
    this.#state = { ...this.#state, ...state };
    for (const watcher of this.#watchers) watcher();
  }

  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /** Sequence numbers that callers wait for; `read` resolves each. */
  readonly awaited: { seq: number; read: () => void }[] = [];

  reached(seq: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.awaited.push({ seq, read: resolve });
    return promise;
  }

  async info(): ReturnType<SyncPort['info']> {
    return this.journal;
  }

  shared(): boolean | undefined {
    return this.isShared;
  }

  async cluster(): ReturnType<SyncPort['cluster']> {
    return this.facts;
  }

  async claim(runId: string, executor: string): Promise<number | null> {
    this.claimed.push({ runId, executor });
    return this.fence;
  }

  /** Results of `lease` by name; 1 by default. */
  readonly leases = new Map<string, number | null>();
  readonly leased: string[] = [];

  /** Whether stored records have reached the other machines, a condition for settled leases. */
  isSettled = true;

  async lease(name: string, _ttlMs: number, settled = false): Promise<number | null> {
    if (settled && !this.isSettled) return null;
    if (!settled) this.leased.push(name);
    return this.leases.get(name) ?? (this.leases.has(name) ? null : 1);
  }

  readonly released: string[] = [];

  async release(name: string): Promise<void> {
    this.released.push(name);
  }

  async signal(to: string | undefined, payload: unknown): Promise<boolean> {
    this.sent.push({ to, payload });
    return this.delivers;
  }

  onsignal(listener: (from: string, payload: unknown) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Simulates a signal of another host. */
  hear(from: string, payload: unknown): void {
    for (const listener of this.#listeners) listener(from, payload);
  }
}
