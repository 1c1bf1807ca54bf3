import type { HostRegistry } from '../server/hosts.ts';
import { describeError } from '../home-directory.ts';
import { keepHostAttached } from './keep-host-attached.ts';
import { type PendingWork, getPendingWork } from './pending-work.ts';

/** A running managed Chromium of a vault. */
export interface RunningBrowser {
  restart(reason: string): Promise<void>;
  close(): Promise<void>;
}

/** A vault that can have a browser. */
export interface HostedVault {
  hosts: HostRegistry;
  /** Number of connected clients and requests in progress. */
  callers(): number;
  start(): Promise<RunningBrowser>;
  /** Whether it keeps its browser until another vault needs the place. */
  stays: boolean;
  log(line: string): void;
}

export interface BrowserPoolOptions {
  /** Maximum number of browsers running at a time. */
  limit: number;
  /** Time after which an unused browser is ended, in milliseconds. */
  idleMs?: number;
  /** Interval between checks, in milliseconds. */
  checkMs?: number;
  /** Time that clients wait for a browser, in milliseconds. */
  waitMs?: number;
  /** Time before a job is due at which its host is started, and minimum run time of a browser started only for a job, in milliseconds. */
  leadMs?: number;
  /** Delay after a failed start, in milliseconds. */
  retryMs?: number;
  getPendingWork?: typeof getPendingWork;
}

interface PoolEntry {
  vault: HostedVault;
  state: 'off' | 'starting' | 'on' | 'ending';
  browser: RunningBrowser | null;
  /** Aborting it ends the supervision. */
  ending: AbortController;
  startedAt: number;
  usedAt: number;
  /** While off: when a browser is next needed without a client, in milliseconds since the Unix epoch. */
  dueAt: number | null;
  /** Earliest time of the next start. */
  notBefore: number;
}

/**
 * Runs the managed Chromiums of several vaults, up to a limit (docs/decisions/0076). A browser is started when a client waits for its vault
 * or a job is due there. If the limit is reached, the least recently used one is ended first. Before that its host is asked for its next
 * due time. Each vault's browser is started once, since its jobs are unknown before its host has run.
 */
export class BrowserPool {
  readonly #options: Required<BrowserPoolOptions>;
  readonly #entries: PoolEntry[];
  readonly #timer: NodeJS.Timeout;
  #closing = false;
  #work: Promise<void> = Promise.resolve();
  #checking = false;

  constructor(vaults: readonly HostedVault[], options: BrowserPoolOptions) {
    this.#options = {
      idleMs: 600_000,
      checkMs: 2_000,
      waitMs: 15_000,
      leadMs: 15_000,
      retryMs: 5_000,
      getPendingWork,
      ...options,
    };
    this.#entries = vaults.map((vault) => ({
      ...{ vault, state: 'off', browser: null, ending: new AbortController() },
      ...{ startedAt: 0, usedAt: 0, dueAt: 0, notBefore: 0 },
    }));
    for (const entry of this.#entries) this.#watch(entry);
    this.#timer = setInterval(() => this.check(), this.#options.checkMs).unref();
  }

  /** Number of browsers that are running or starting. */
  get running(): number {
    return this.#entries.filter(({ state }) => state !== 'off').length;
  }

  /** Starts a vault's browser immediately. Rejects if it does not start. */
  async start(vault: HostedVault): Promise<void> {
    const entry = this.#entries.find((each) => each.vault === vault);
    if (entry) await this.#start(entry);
  }

  /** Checks which vaults need a browser and which do not, after the operation in progress. */
  check(): void {
    if (this.#checking || this.#closing) return;
    this.#checking = true;
    this.#work = this.#work
      .then(async () => {
        this.#checking = false;
        await this.#checkOnce();
      })
      .catch((error: unknown) => this.#entries[0]?.vault.log(`Couldn’t check the managed browsers: ${describeError(error)}`));
  }

  /** Stops starting and supervising browsers. */
  stopSupervision(): void {
    this.#closing = true;
    clearInterval(this.#timer);
    for (const { ending } of this.#entries) ending.abort();
  }

  /** Ends all browsers. */
  async close(): Promise<void> {
    this.stopSupervision();
    const running = this.#entries.map(({ browser }) => browser?.close());
    await this.#work;
    await Promise.all([...running, ...this.#entries.map(({ browser }) => browser?.close())]);
  }

  #watch(entry: PoolEntry): void {
    const { hosts } = entry.vault;
    hosts.on('wanted', () => {
      if (entry.state === 'on' || this.#closing) return;
      hosts.expectHost(this.#options.waitMs);
      this.check();
    });
    hosts.on('leave', ({ kind }) => {
      // Only the tab's host knew the due time, and nobody else was told.
      if (kind !== 'tab' || hosts.holder || entry.state !== 'off') return;
      entry.dueAt = 0;
      this.check();
    });
  }

  async #checkOnce(): Promise<void> {
    for (const entry of this.#entries) if (entry.vault.callers() > 0 || entry.vault.hosts.waiting > 0) entry.usedAt = performance.now();
    for (const entry of this.#entries) {
      const { stays } = entry.vault;
      if (!stays && isIdle(entry) && performance.now() - entry.usedAt >= this.#options.idleMs) await this.#findIdle(entry, 'it is idle');
    }
    for (const entry of this.#listWaiting()) {
      if (this.#closing) return;
      if (this.running >= this.#options.limit && !(await this.#freeSlot(entry))) continue;
      await this.#start(entry).catch((error: unknown) => {
        entry.notBefore = performance.now() + this.#options.retryMs;
        entry.vault.log(describeError(error));
      });
    }
  }

  /** Vaults with waiting clients first, then those with due jobs, the longest overdue first. */
  #listWaiting(): PoolEntry[] {
    const now = performance.now();
    return this.#entries
      .filter((entry) => entry.state === 'off' && entry.notBefore <= now && (hasWaitingClients(entry) || this.#isDue(entry)))
      .sort((a, b) => Number(hasWaitingClients(b)) - Number(hasWaitingClients(a)) || (a.dueAt ?? Infinity) - (b.dueAt ?? Infinity));
  }

  #isDue({ vault, dueAt }: PoolEntry): boolean {
    return vault.hosts.holder === null && dueAt !== null && dueAt - Date.now() <= this.#options.leadMs;
  }

  /** Ends the longest idle browser that can be spared. Returns false if there is none. */
  async #freeSlot(wanting: PoolEntry): Promise<boolean> {
    const least = hasWaitingClients(wanting) ? 0 : this.#options.leadMs;
    const idle = this.#entries
      .filter((entry) => isIdle(entry) && performance.now() - entry.startedAt >= least)
      .sort((a, b) => a.usedAt - b.usedAt);
    for (const entry of idle) if (await this.#findIdle(entry, 'another vault needs its place')) return true;
    return false;
  }

  /** Ends a browser whose host has nothing to do. Returns false if it is busy. */
  async #findIdle(entry: PoolEntry, reason: string): Promise<boolean> {
    const { hosts } = entry.vault;
    let rest: PendingWork = { busy: false, dueAt: null };
    // If a tab's host is active, it runs due jobs.
    if (hosts.kind === 'headless' && hosts.current)
      rest = await this.#options.getPendingWork(hosts.current).catch((error: unknown) => {
        entry.vault.log(`Keeping the background browser: its gateway didn’t say whether it can stop (${describeError(error)})`);
        return { busy: true, dueAt: null };
      });
    const isSoon = rest.dueAt !== null && rest.dueAt - Date.now() <= 2 * this.#options.leadMs;
    if (rest.busy || isSoon) entry.usedAt = performance.now();
    // A client may have connected in the meantime.
    if (rest.busy || isSoon || !isIdle(entry)) return false;
    entry.vault.log(`Stopping the background browser: ${reason}`);
    entry.dueAt = rest.dueAt;
    await this.#end(entry);
    return true;
  }

  async #start(entry: PoolEntry): Promise<void> {
    const { vault } = entry;
    entry.state = 'starting';
    entry.ending = new AbortController();
    vault.hosts.expectHost(this.#options.waitMs);
    try {
      entry.browser = await vault.start();
    } catch (error) {
      entry.state = 'off';
      vault.hosts.expectHost(0);
      throw error;
    }
    entry.state = 'on';
    entry.startedAt = entry.usedAt = performance.now();
    if (this.#closing) return this.#end(entry);
    keepHostAttached(vault.hosts, entry.browser, entry.ending.signal);
  }

  async #end(entry: PoolEntry): Promise<void> {
    entry.state = 'ending';
    entry.ending.abort();
    try {
      await entry.browser?.close();
    } finally {
      entry.browser = null;
      entry.state = 'off';
    }
  }
}

const hasWaitingClients = ({ vault }: PoolEntry): boolean => vault.hosts.waiting > 0;

/** Whether a browser is running with an active host and without clients. */
const isIdle = ({ state, vault }: PoolEntry): boolean =>
  state === 'on' && vault.hosts.holder !== null && vault.hosts.waiting === 0 && vault.callers() === 0;
