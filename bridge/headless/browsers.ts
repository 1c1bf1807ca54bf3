import type { Hosts } from '../server/hosts.ts';
import { reasonOf } from '../home.ts';
import { keepHosted } from './keep-hosted.ts';
import { type Rest, restOf } from './rest.ts';

/** A vault's managed Chromium that runs. */
export interface Running {
  restart(reason: string): Promise<void>;
  close(): Promise<void>;
}

/** A vault that may have a browser. */
export interface Hosted {
  hosts: Hosts;
  /** Clients that are connected, and requests under way. */
  callers(): number;
  start(): Promise<Running>;
  /** It keeps its browser, until another vault needs the room. */
  stays: boolean;
  log(line: string): void;
}

export interface BrowsersOptions {
  /** How many may run at a time. */
  limit: number;
  /** A browser that nobody has used for so long is ended, milliseconds. */
  idleMs?: number;
  /** Between looks, milliseconds. */
  lookMs?: number;
  /** For how long clients wait for a browser, milliseconds. */
  waitMs?: number;
  /** Before a job is due its host is started; and so long a browser runs at the least that was started for a job alone. */
  leadMs?: number;
  /** After a start that failed, the next one, milliseconds. */
  retryMs?: number;
  rest?: typeof restOf;
}

interface Entry {
  vault: Hosted;
  state: 'off' | 'starting' | 'on' | 'ending';
  browser: Running | null;
  /** Ends what keeps it attached. */
  ending: AbortController;
  startedAt: number;
  usedAt: number;
  /** While it is off: when it is wanted by itself, milliseconds since 1970. */
  dueAt: number | null;
  /** Not started again before. */
  notBefore: number;
}

/**
 * The managed Chromiums of several vaults, as many at a time as may be (docs/decisions/0076). One is started when somebody waits for its vault, or something is due there; to make room, the
 * one is ended that nobody has used for longest. Before it is ended, its host is asked what is due next. What a vault has to do is not known before its host has run once: each is started once.
 */
export class Browsers {
  readonly #options: Required<BrowsersOptions>;
  readonly #entries: Entry[];
  readonly #timer: NodeJS.Timeout;
  #closing = false;
  #work: Promise<void> = Promise.resolve();
  #looking = false;

  constructor(vaults: readonly Hosted[], options: BrowsersOptions) {
    this.#options = { idleMs: 600_000, lookMs: 2_000, waitMs: 15_000, leadMs: 15_000, retryMs: 5_000, rest: restOf, ...options };
    this.#entries = vaults.map((vault) => ({
      ...{ vault, state: 'off', browser: null, ending: new AbortController() },
      ...{ startedAt: 0, usedAt: 0, dueAt: 0, notBefore: 0 },
    }));
    for (const entry of this.#entries) this.#watch(entry);
    this.#timer = setInterval(() => this.look(), this.#options.lookMs).unref();
  }

  /** How many run, or are about to. */
  get running(): number {
    return this.#entries.filter(({ state }) => state !== 'off').length;
  }

  /** Starts a vault's browser at once. Rejects where it does not start. */
  async start(vault: Hosted): Promise<void> {
    const entry = this.#entries.find((each) => each.vault === vault);
    if (entry) await this.#start(entry);
  }

  /** Looks who needs a browser and who does not. Whatever is being done is done first. */
  look(): void {
    if (this.#looking || this.#closing) return;
    this.#looking = true;
    this.#work = this.#work
      .then(async () => {
        this.#looking = false;
        await this.#lookOnce();
      })
      .catch((error: unknown) => this.#entries[0]?.vault.log(`Couldn’t check the managed browsers: ${reasonOf(error)}`));
  }

  /** Starts none any more, nor sees to those that run. */
  rest(): void {
    this.#closing = true;
    clearInterval(this.#timer);
    for (const { ending } of this.#entries) ending.abort();
  }

  /** Ends all of them. */
  async close(): Promise<void> {
    this.rest();
    const running = this.#entries.map(({ browser }) => browser?.close());
    await this.#work;
    await Promise.all([...running, ...this.#entries.map(({ browser }) => browser?.close())]);
  }

  #watch(entry: Entry): void {
    const { hosts } = entry.vault;
    hosts.on('wanted', () => {
      if (entry.state === 'on' || this.#closing) return;
      hosts.expectHost(this.#options.waitMs);
      this.look();
    });
    hosts.on('leave', ({ kind }) => {
      // A tab's host knew what was due, and has told nobody.
      if (kind !== 'tab' || hosts.holder || entry.state !== 'off') return;
      entry.dueAt = 0;
      this.look();
    });
  }

  async #lookOnce(): Promise<void> {
    for (const entry of this.#entries) if (entry.vault.callers() > 0 || entry.vault.hosts.waiting > 0) entry.usedAt = performance.now();
    for (const entry of this.#entries) {
      const { stays } = entry.vault;
      if (!stays && isIdle(entry) && performance.now() - entry.usedAt >= this.#options.idleMs) await this.#spare(entry, 'it is idle');
    }
    for (const entry of this.#wanting()) {
      if (this.#closing) return;
      if (this.running >= this.#options.limit && !(await this.#makeRoom(entry))) continue;
      await this.#start(entry).catch((error: unknown) => {
        entry.notBefore = performance.now() + this.#options.retryMs;
        entry.vault.log(reasonOf(error));
      });
    }
  }

  /** Those for whom somebody waits first, then those that are due, the longest first. */
  #wanting(): Entry[] {
    const now = performance.now();
    return this.#entries
      .filter((entry) => entry.state === 'off' && entry.notBefore <= now && (isAwaited(entry) || this.#isDue(entry)))
      .sort((a, b) => Number(isAwaited(b)) - Number(isAwaited(a)) || (a.dueAt ?? Infinity) - (b.dueAt ?? Infinity));
  }

  #isDue({ vault, dueAt }: Entry): boolean {
    return vault.hosts.holder === null && dueAt !== null && dueAt - Date.now() <= this.#options.leadMs;
  }

  /** Ends the browser that has been idle for longest and can be spared. False: there is none. */
  async #makeRoom(wanting: Entry): Promise<boolean> {
    const least = isAwaited(wanting) ? 0 : this.#options.leadMs;
    const idle = this.#entries
      .filter((entry) => isIdle(entry) && performance.now() - entry.startedAt >= least)
      .sort((a, b) => a.usedAt - b.usedAt);
    for (const entry of idle) if (await this.#spare(entry, 'another vault needs its place')) return true;
    return false;
  }

  /** Ends a browser whose host has nothing to do now. False: it has. */
  async #spare(entry: Entry, why: string): Promise<boolean> {
    const { hosts } = entry.vault;
    let rest: Rest = { busy: false, dueAt: null };
    // Where a tab serves, that one does what is due.
    if (hosts.kind === 'headless' && hosts.current)
      rest = await this.#options.rest(hosts.current).catch((error: unknown) => {
        entry.vault.log(`Keeping the managed Chromium: its host didn’t say whether it can stop (${reasonOf(error)})`);
        return { busy: true, dueAt: null };
      });
    const isSoon = rest.dueAt !== null && rest.dueAt - Date.now() <= 2 * this.#options.leadMs;
    if (rest.busy || isSoon) entry.usedAt = performance.now();
    // Somebody may have come meanwhile.
    if (rest.busy || isSoon || !isIdle(entry)) return false;
    entry.vault.log(`Stopping the managed Chromium: ${why}`);
    entry.dueAt = rest.dueAt;
    await this.#end(entry);
    return true;
  }

  async #start(entry: Entry): Promise<void> {
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
    keepHosted(vault.hosts, entry.browser, entry.ending.signal);
  }

  async #end(entry: Entry): Promise<void> {
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

const isAwaited = ({ vault }: Entry): boolean => vault.hosts.waiting > 0;

/** It runs, its host has come, and nobody uses it. */
const isIdle = ({ state, vault }: Entry): boolean =>
  state === 'on' && vault.hosts.holder !== null && vault.hosts.waiting === 0 && vault.callers() === 0;
