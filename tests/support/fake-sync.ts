import type { SyncState } from '#shared/rpc/methods/sync-contracts.ts';
import type { SyncPort } from '../../web/gateway/sync/sync-port.ts';

/** A sync port controlled by the test, which records its calls. */
export class FakeSync implements SyncPort {
  #state: SyncState = { state: 'synced', role: 'holder', pending: 0, lastSyncAt: null, progress: null, problem: null };
  readonly #watchers = new Set<() => void>();
  readonly #listeners = new Set<(from: string, payload: unknown) => void>();
  readonly sentSignals: { to: string | undefined; payload: unknown }[] = [];
  readonly claimedRuns: { runId: string; executor: string }[] = [];
  /** Result of `claim`. */
  fence: number | null = null;
  /** Whether `signal` has listeners. */
  canDeliver = true;
  journal: Awaited<ReturnType<SyncPort['info']>> = null;
  /** Result of `isShared`. */
  sharedState: boolean | undefined = false;
  clusterFacts: Awaited<ReturnType<SyncPort['cluster']>> = null;

  constructor(state: Partial<SyncState> = {}) {
    this.#state = { ...this.#state, ...state };
  }

  state(): SyncState {
    return { ...this.#state };
  }

  setState(state: Partial<SyncState>): void {
    this.#state = { ...this.#state, ...state };
    for (const watcher of this.#watchers) watcher();
  }

  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /** Sequence numbers that callers wait for; `read` resolves each. */
  readonly pendingReads: { seq: number; read: () => void }[] = [];

  waitForPosition(seq: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.pendingReads.push({ seq, read: resolve });
    return promise;
  }

  async info(): ReturnType<SyncPort['info']> {
    return this.journal;
  }

  isShared(): boolean | undefined {
    return this.sharedState;
  }

  async cluster(): ReturnType<SyncPort['cluster']> {
    return this.clusterFacts;
  }

  async claim(runId: string, executor: string): Promise<number | null> {
    this.claimedRuns.push({ runId, executor });
    return this.fence;
  }

  /** Results of `lease` by name; 1 by default. */
  readonly leases = new Map<string, number | null>();
  readonly leaseCalls: string[] = [];

  /** Whether stored records have reached the other machines, a condition for settled leases. */
  isSettled = true;

  async lease(name: string, _ttlMs: number, settled = false): Promise<number | null> {
    if (settled && !this.isSettled) return null;
    if (!settled) this.leaseCalls.push(name);
    return this.leases.get(name) ?? (this.leases.has(name) ? null : 1);
  }

  readonly releaseCalls: string[] = [];

  async release(name: string): Promise<void> {
    this.releaseCalls.push(name);
  }

  async signal(to: string | undefined, payload: unknown): Promise<boolean> {
    this.sentSignals.push({ to, payload });
    return this.canDeliver;
  }

  onsignal(listener: (from: string, payload: unknown) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Simulates a signal from another host. */
  receive(from: string, payload: unknown): void {
    for (const listener of this.#listeners) listener(from, payload);
  }
}
