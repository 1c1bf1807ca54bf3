import type { SyncState } from '#shared/rpc/methods/sync.ts';
import type { Clock } from '../clock.ts';
import type { Hub } from '../hub.ts';
import { repeated } from '../repeated.ts';
import { sessionChanged } from '../sessions.ts';
import type { SyncPort } from '../sync.ts';
import { type RunRecord, type Vault, VaultReadOnly } from '../vault.ts';
import { endInterrupted, hostGone } from './interrupted.ts';

/** Interval, in milliseconds, of checks whether the executor of a run is gone. */
const LOOK_MS = 10_000;
/** Without the connection to the bridge, the state of another host's run is unknown: after this time, its session is free. */
const CUT_OFF_MS = 10_000;

export interface ForeignRunsDeps {
  vault: Vault;
  hub: Hub;
  clock: Clock;
  sync: SyncPort | undefined;
  /** Called when a run has ended without its host. Never rejects. */
  lost(run: RunRecord): Promise<void>;
  fault(error: unknown): unknown;
}

/**
 * Unfinished runs that this host does not execute: another host does, or did before it went away. One host at a time ends the runs of such
 * a host, with a fence issued by the journal.
 */
export class ForeignRuns {
  readonly #deps: ForeignRunsDeps;
  /** Runs by id. */
  #runs = new Map<string, RunRecord>();
  /** Text so far, as their executors report it. */
  readonly #texts = new Map<string, string>();
  /** Runs that this host is ending or has ended: later reports of their executors are ignored. */
  readonly #taken = new Map<string, 'ending' | 'ended'>();
  /** Runs that a user stopped while their executors could not be reached: the abort is sent as soon as they report. */
  readonly #unwanted = new Set<string>();
  /** Runs of sessions that have been cleared since. */
  readonly #released = new Set<string>();
  readonly #waiting = new Set<() => void>();
  readonly #look = repeated(() => this.#lookOnce());
  readonly #refresh = repeated(() => this.#read());
  #reading: Promise<void> | undefined;
  #unwatch = (): void => {};
  #standing = '';
  #cutOff = false;
  #cancelCutOff = (): void => {};
  #cancelLook: (() => void) | undefined;
  #stopped = false;

  constructor(deps: ForeignRunsDeps) {
    this.#deps = deps;
  }

  /**
   * Reads the unfinished runs, and ends those of this host's previous instance. Call it before the first run. Rejects if the vault cannot
   * be read.
   */
  async start(): Promise<void> {
    const { vault, sync } = this.#deps;
    this.#stands();
    if (sync) this.#unwatch = sync.watch(() => this.#stands() && void this.refresh().then(() => this.#look()));
    const left = await vault.runs.unfinished();
    // This host has not started any run yet, so its unfinished ones are from before.
    for (const { id, executor } of left) if (executor === vault.origin) this.#taken.set(id, 'ending');
    await this.#refresh();
    await this.#look();
  }

  stop(): void {
    this.#stopped = true;
    this.#unwatch();
    this.#cancelCutOff();
    this.#cancelLook?.();
  }

  /** Runs of a session on other hosts. */
  of(key: string): RunRecord[] {
    return [...this.#runs.values()].filter(
      (run) => run.sessionKey === key && !this.#released.has(run.id) && (!this.#cutOff || this.#isFromHere(run)),
    );
  }

  textOf(runId: string): string {
    return this.#texts.get(runId) ?? '';
  }

  /** Whether this host has ended the run, or is about to. */
  isTaken(runId: string): boolean {
    return this.#taken.has(runId);
  }

  /** Whether a user stopped the run and its executor does not know yet. */
  isUnwanted(runId: string): boolean {
    return this.#unwanted.has(runId);
  }

  /** Sets the text so far; null if the run has ended. */
  note(runId: string, text: string | null): void {
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
  async ended(key: string, signal: AbortSignal): Promise<void> {
    // Changes of other hosts may have arrived that have not been read yet.
    await this.#reading;
    await new Promise<void>((resolve, reject) => {
      const check = (): void => {
        const free = this.of(key).length === 0;
        if (!free && !signal.aborted) return;
        this.#waiting.delete(check);
        signal.removeEventListener('abort', check);
        if (free) resolve();
        else reject(signal.reason);
      };
      this.#waiting.add(check);
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
    const all = this.#tellAll(key);
    await this.#reading;
    const runs = this.of(key);
    const tell = async ({ id, executor }: RunRecord): Promise<boolean> =>
      executor !== undefined && sync !== undefined && (await sync.signal(executor, { type: 'abort', runId: id }).catch(() => false));
    const told = await Promise.all(runs.map(tell));
    runs.forEach(({ id }, at) => told[at] || this.#unwanted.add(id));
    if (told.includes(false)) await this.#look();
    await all;
    return runs.filter(({ id }, at) => told[at] || !this.#runs.has(id)).map(({ id }) => id);
  }

  async #tellAll(sessionKey: string): Promise<void> {
    const { sync, vault } = this.#deps;
    const { hosts } = (await sync?.info()) ?? { hosts: [] };
    const others = hosts.filter(({ origin }) => origin !== '' && origin !== vault.origin);
    await Promise.all(others.map(({ origin }) => sync?.signal(origin, { type: 'abort-session', sessionKey }).catch(() => false)));
  }

  /** Updates the state of the connection to other hosts; returns whether it changed. */
  #stands(): boolean {
    const state = this.#state();
    const standing = state ? `${state.state} ${state.role}` : '';
    if (standing === this.#standing) return false;
    this.#standing = standing;
    this.#cancelCutOff();
    this.#cutOff = false;
    if (state?.state === 'away') {
      this.#cancelCutOff = this.#deps.clock.after(CUT_OFF_MS, () => this.#cutsOff());
    }
    return true;
  }

  /**
   * Reports to readers that the connection to these runs is lost; a run that still continues is shown again. Runs of this copy of the data
   * are ended here.
   */
  #cutsOff(): void {
    for (const run of this.#runs.values()) if (!this.#released.has(run.id) && !this.#isFromHere(run)) this.#tellLost(run);
    this.#cutOff = true;
    this.#wake();
    void this.#look();
  }

  /** Whether the run started on this copy of the data, which this host owns now. Data of a build without replicas counts as such. */
  #isFromHere({ replica }: RunRecord): boolean {
    return replica === undefined || replica === this.#deps.vault.replica;
  }

  #tellLost({ id: runId, sessionKey }: RunRecord, messageId?: string): void {
    const [agentId = '', sessionId = ''] = sessionKey.split('/');
    const payload = { agentId, sessionId, runId, error: hostGone().toShape(), ...(messageId === undefined ? {} : { messageId }) };
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
      this.#taken.has(id) ? this.#taken.get(id) === 'ending' : executor !== vault.origin,
    );
    const before = this.#runs;
    this.#runs = new Map(runs.map((run) => [run.id, run]));
    for (const id of before.keys()) {
      if (this.#runs.has(id)) continue;
      this.#texts.delete(id);
      this.#released.delete(id);
    }
    this.#wake();
    this.#lookLater();
  }

  #wake(): void {
    for (const check of [...this.#waiting]) check();
  }

  #lookLater(): void {
    if (this.#runs.size === 0 || this.#stopped) return;
    this.#cancelLook ??= this.#deps.clock.after(LOOK_MS, () => {
      this.#cancelLook = undefined;
      void this.#look();
    });
  }

  /** Ends each run that this host has to end. */
  async #lookOnce(): Promise<void> {
    for (const run of [...this.#runs.values()]) {
      if (this.#stopped) return;
      try {
        if (this.#taken.has(run.id) || (await this.#take(run))) await this.#end(run);
      } catch (error) {
        // A read-only vault cannot end runs; this is reported elsewhere.
        if (error instanceof VaultReadOnly) break;
        this.#deps.fault(error);
      }
    }
    this.#lookLater();
  }

  async #take(run: RunRecord): Promise<boolean> {
    const { id, fence, executor = 'nobody' } = run;
    const { vault, sync } = this.#deps;
    const state = this.#state();
    const isFromHere = this.#isFromHere(run);
    let next: number | null = null;
    // While the bridge may still respond, another host may be ending the run: that would create two versions of the reply.
    const isAlone = !state || state.state === 'off' || (this.#cutOff && isFromHere);
    if (isAlone) next = (fence ?? 0) + 1;
    else if (state.role === 'holder' || (isFromHere && state.state === 'synced')) {
      // A host counts as connected for some time after it has gone. A run of this copy is known to have ended, unless the browser's profile
      // was copied.
      const isGone = isFromHere && !(await sync?.info())?.hosts.some(({ origin }) => origin === executor);
      next = (await sync?.claim(id, isGone ? 'nobody' : executor)) ?? null;
    }
    if (next === null) return false;
    // Recorded first: once claimed, the run would be read as one that this host executes.
    this.#taken.set(id, 'ending');
    const claimed = await vault.runs.claim(id, next).catch((error: unknown) => {
      this.#taken.delete(id);
      throw error;
    });
    if (claimed) return true;
    this.#taken.delete(id);
    this.#runs.delete(id);
    return false;
  }

  async #end(run: RunRecord): Promise<void> {
    const { vault, hub, clock } = this.#deps;
    const text = this.textOf(run.id);
    const messageId = await endInterrupted(vault, clock, text.length > run.partial.length ? { ...run, partial: text } : run);
    this.#taken.set(run.id, 'ended');
    this.#runs.delete(run.id);
    this.#texts.delete(run.id);
    await this.#deps.lost(run);
    this.#tellLost(run, messageId);
    hub.emit(sessionChanged(run.sessionKey), run.sessionKey);
    this.#wake();
  }
}
