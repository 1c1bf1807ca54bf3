import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SyncState } from '#shared/rpc/methods/sync-contracts.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { EventBus } from '../../system/event-bus.ts';
import { coalesce } from '#shared/async/coalesce.ts';
import { createSessionChangedEvent } from '../../storage/session-views.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { VaultReadOnlyError } from '../../storage/vault-errors.ts';
import type { RunRecord } from '../../storage/chat-records.ts';

/** Interval, in milliseconds, of checks whether the executor of a run is gone. */
const CHECK_INTERVAL_MS = 10_000;
/** Without the connection to the bridge, the state of another host's run is unknown: after this time, its session is free. */
const DISCONNECT_MS = 10_000;

/** Error for readers of a run whose host is gone. */
const createHostGoneError = (): RpcError =>
  new RpcError('INTERNAL_ERROR', 'Interrupted: the gateway that wrote this reply was closed.', { details: { reason: 'interrupted' } });

interface RemoteRunsDeps {
  vault: Vault;
  hub: EventBus;
  clock: Clock;
  sync: SyncPort | undefined;
  /** Called when a run has ended without its host. Never rejects. */
  onLost(run: RunRecord): Promise<void>;
  fault(error: unknown): unknown;
}

/**
 * Unfinished runs that this host does not execute: another host does, or did before it went away. One host at a time ends the runs of such
 * a host, with a fence issued by the journal.
 */
export class RemoteRuns {
  readonly #deps: RemoteRunsDeps;
  /** Runs by id. */
  #runs = new Map<string, RunRecord>();
  /** Text so far, as their executors report it. */
  readonly #texts = new Map<string, string>();
  /** Runs that this host is ending or has ended: later reports of their executors are ignored. */
  readonly #claimed = new Map<string, 'ending' | 'ended'>();
  /** Runs that a user stopped while their executors could not be reached: the abort is sent as soon as they report. */
  readonly #pendingAborts = new Set<string>();
  /** Runs of sessions that have been cleared since. */
  readonly #released = new Set<string>();
  readonly #waiters = new Set<() => void>();
  readonly #check = coalesce(() => this.#checkOnce());
  readonly #refresh = coalesce(() => this.#read());
  #reading: Promise<void> | undefined;
  #unwatch = (): void => {};
  #connectionState = '';
  #isDisconnected = false;
  #cancelDisconnect = (): void => {};
  #cancelCheck: (() => void) | undefined;
  #stopped = false;

  constructor(deps: RemoteRunsDeps) {
    this.#deps = deps;
  }

  /**
   * Reads the unfinished runs, and ends those of this host's previous instance. Call it before the first run. Rejects if the vault cannot
   * be read.
   */
  async start(): Promise<void> {
    const { vault, sync } = this.#deps;
    this.#updateConnection();
    if (sync) this.#unwatch = sync.watch(() => this.#updateConnection() && void this.refresh().then(() => this.#check()));
    const unfinished = await vault.runs.unfinished();
    // This host has not started any run yet, so its unfinished ones are from before.
    for (const { id, executor } of unfinished) if (executor === vault.origin) this.#claimed.set(id, 'ending');
    await this.#refresh();
    await this.#check();
  }

  stop(): void {
    this.#stopped = true;
    this.#unwatch();
    this.#cancelDisconnect();
    this.#cancelCheck?.();
  }

  /** Runs of a session on other hosts. */
  listBySession(key: string): RunRecord[] {
    return [...this.#runs.values()].filter(
      (run) => run.sessionKey === key && !this.#released.has(run.id) && (!this.#isDisconnected || this.#isLocalReplica(run)),
    );
  }

  getText(runId: string): string {
    return this.#texts.get(runId) ?? '';
  }

  /** Whether this host has ended the run, or is about to. */
  isClaimed(runId: string): boolean {
    return this.#claimed.has(runId);
  }

  /** Whether a user stopped the run and its executor does not know yet. */
  isAborted(runId: string): boolean {
    return this.#pendingAborts.has(runId);
  }

  /** Sets the text so far; null if the run has ended. */
  setText(runId: string, text: string | null): void {
    if (text === null) this.#texts.delete(runId);
    else this.#texts.set(runId, text);
  }

  /** The session was cleared: its runs on other hosts no longer block it. */
  release(key: string): void {
    for (const { id, sessionKey } of this.#runs.values()) if (sessionKey === key) this.#released.add(id);
    this.#wake();
  }

  /** Reads the unfinished runs again, after changes by other hosts. */
  async refresh(): Promise<void> {
    const reading = this.#refresh().catch((error: unknown) => void this.#deps.fault(error));
    this.#reading = reading;
    await reading;
  }

  /** Resolves when a session has no run on other hosts; rejects if `signal` is aborted first. */
  async waitUntilEnded(key: string, signal: AbortSignal): Promise<void> {
    // Changes of other hosts may have arrived that have not been read yet.
    await this.#reading;
    await new Promise<void>((resolve, reject) => {
      const check = (): void => {
        const free = this.listBySession(key).length === 0;
        if (!free && !signal.aborted) return;
        this.#waiters.delete(check);
        signal.removeEventListener('abort', check);
        if (free) resolve();
        else reject(signal.reason);
      };
      this.#waiters.add(check);
      signal.addEventListener('abort', check);
      check();
    });
  }

  /**
   * Forwards an abort to the hosts that execute runs of a session; a run whose host is gone is taken over immediately. Resolves with the
   * ids of the aborted runs. Runs that are not known here yet, or are queued on another host, are aborted too but not included.
   */
  async abort(key: string): Promise<string[]> {
    const { sync } = this.#deps;
    const all = this.#abortOnAllHosts(key);
    await this.#reading;
    const runs = this.listBySession(key);
    const sendAbort = async ({ id, executor }: RunRecord): Promise<boolean> =>
      executor !== undefined && sync !== undefined && (await sync.signal(executor, { type: 'abort', runId: id }).catch(() => false));
    const delivered = await Promise.all(runs.map(sendAbort));
    runs.forEach(({ id }, index) => delivered[index] || this.#pendingAborts.add(id));
    if (delivered.includes(false)) await this.#check();
    await all;
    return runs.filter(({ id }, index) => delivered[index] || !this.#runs.has(id)).map(({ id }) => id);
  }

  async #abortOnAllHosts(sessionKey: string): Promise<void> {
    const { sync, vault } = this.#deps;
    const { hosts } = (await sync?.info()) ?? { hosts: [] };
    const others = hosts.filter(({ origin }) => origin !== '' && origin !== vault.origin);
    await Promise.all(others.map(({ origin }) => sync?.signal(origin, { type: 'abort-session', sessionKey }).catch(() => false)));
  }

  /** Updates the state of the connection to other hosts; returns whether it changed. */
  #updateConnection(): boolean {
    const state = this.#state();
    const connectionState = state ? `${state.state} ${state.role}` : '';
    if (connectionState === this.#connectionState) return false;
    this.#connectionState = connectionState;
    this.#cancelDisconnect();
    this.#isDisconnected = false;
    if (state?.state === 'away') {
      this.#cancelDisconnect = this.#deps.clock.after(DISCONNECT_MS, () => this.#handleDisconnect());
    }
    return true;
  }

  /**
   * Reports to readers that the connection to these runs is lost; a run that still continues is shown again. Runs of this copy of the data
   * are ended here.
   */
  #handleDisconnect(): void {
    for (const run of this.#runs.values()) if (!this.#released.has(run.id) && !this.#isLocalReplica(run)) this.#emitLost(run);
    this.#isDisconnected = true;
    this.#wake();
    void this.#check();
  }

  /** Whether the run started on this copy of the data, which this host owns now. Data of a build without replicas counts as such. */
  #isLocalReplica({ replica }: RunRecord): boolean {
    return replica === undefined || replica === this.#deps.vault.replica;
  }

  #emitLost({ id: runId, sessionKey }: RunRecord, messageId?: string): void {
    const [agentId = '', sessionId = ''] = sessionKey.split('/');
    const payload = {
      agentId,
      sessionId,
      runId,
      error: createHostGoneError().toShape(),
      ...(messageId === undefined ? {} : { messageId }),
    };
    this.#deps.hub.emit({ event: 'chat.error', payload }, sessionKey);
  }

  #state(): SyncState | undefined {
    return this.#deps.sync?.state();
  }

  async #read(): Promise<void> {
    const { vault } = this.#deps;
    const unfinished = await vault.runs.unfinished();
    // The read may be older than an end that was stored meanwhile.
    const runs = unfinished.filter(({ id, executor }) =>
      this.#claimed.has(id) ? this.#claimed.get(id) === 'ending' : executor !== vault.origin,
    );
    const before = this.#runs;
    this.#runs = new Map(runs.map((run) => [run.id, run]));
    for (const id of before.keys()) {
      if (this.#runs.has(id)) continue;
      this.#texts.delete(id);
      this.#released.delete(id);
    }
    this.#wake();
    this.#scheduleCheck();
  }

  #wake(): void {
    for (const check of [...this.#waiters]) check();
  }

  #scheduleCheck(): void {
    if (this.#runs.size === 0 || this.#stopped) return;
    this.#cancelCheck ??= this.#deps.clock.after(CHECK_INTERVAL_MS, () => {
      this.#cancelCheck = undefined;
      void this.#check();
    });
  }

  /** Ends each run that this host has to end. */
  async #checkOnce(): Promise<void> {
    for (const run of [...this.#runs.values()]) {
      if (this.#stopped) return;
      try {
        if (this.#claimed.has(run.id) || (await this.#claim(run))) await this.#end(run);
      } catch (error) {
        // A read-only vault cannot end runs; this is reported elsewhere.
        if (error instanceof VaultReadOnlyError) break;
        this.#deps.fault(error);
      }
    }
    this.#scheduleCheck();
  }

  async #claim(run: RunRecord): Promise<boolean> {
    const { id, fence, executor = 'nobody' } = run;
    const { vault, sync } = this.#deps;
    const state = this.#state();
    const isFromHere = this.#isLocalReplica(run);
    let next: number | null = null;
    // While the bridge may still respond, another host may be ending the run: that would create two versions of the reply.
    const isAlone = !state || state.state === 'off' || (this.#isDisconnected && isFromHere);
    if (isAlone) next = (fence ?? 0) + 1;
    else if (state.role === 'holder' || (isFromHere && state.state === 'synced')) {
      // A host counts as connected for some time after it has gone. A run of this copy is known to have ended, unless the browser's profile
      // was copied.
      const isDisconnected = isFromHere && !(await sync?.info())?.hosts.some(({ origin }) => origin === executor);
      next = (await sync?.claim(id, isDisconnected ? 'nobody' : executor)) ?? null;
    }
    if (next === null) return false;
    // Recorded first: once claimed, the run would be read as one that this host executes.
    this.#claimed.set(id, 'ending');
    const claimed = await vault.runs.claim(id, next).catch((error: unknown) => {
      this.#claimed.delete(id);
      throw error;
    });
    if (claimed) return true;
    this.#claimed.delete(id);
    this.#runs.delete(id);
    return false;
  }

  async #end(run: RunRecord): Promise<void> {
    const { vault, hub, clock } = this.#deps;
    const { endInterrupted } = await import('./interrupted-run.ts');
    const text = this.getText(run.id);
    const messageId = await endInterrupted(vault, clock, text.length > run.partial.length ? { ...run, partial: text } : run);
    this.#claimed.set(run.id, 'ended');
    this.#runs.delete(run.id);
    this.#texts.delete(run.id);
    await this.#deps.onLost(run);
    this.#emitLost(run, messageId);
    hub.emit(createSessionChangedEvent(run.sessionKey), run.sessionKey);
    this.#wake();
  }
}
