import { EventEmitter } from 'node:events';
import { describe, expect } from 'vitest';
import { HostRegistry } from '../server/hosts.ts';
import type { Mux } from '#shared/link/mux.ts';
import { verifies } from '../../tests/requirements.ts';
import { BrowserPool, type BrowserPoolOptions, type HostedVault } from './browser-pool.ts';
import type { PendingWork } from './pending-work.ts';

/** A multiplexer that answers pings until it is closed. */
class FakeMux extends EventEmitter {
  readonly closed: Promise<void>;
  readonly #over = Promise.withResolvers<void>();
  readonly #gone: (mux: Mux) => void;
  constructor(onClosed: (mux: Mux) => void) {
    super();
    this.closed = this.#over.promise;
    this.#gone = onClosed;
  }
  ping = (): Promise<number> => Promise.resolve(0);
  close(): void {
    this.#gone(this as unknown as Mux);
    this.#over.resolve();
  }
}

/** A vault whose browser attaches immediately. */
class FakeVault implements HostedVault {
  readonly name: string;
  readonly hosts = new HostRegistry('auto');
  readonly stays: boolean;
  readonly lines: string[] = [];
  clients = 0;
  starts = 0;
  fails = false;
  #mux: FakeMux | null = null;
  readonly #happened: string[];

  constructor(name: string, happened: string[], stays = false) {
    this.name = name;
    this.stays = stays;
    this.#happened = happened;
  }

  readonly log = (line: string): void => void this.lines.push(line);
  readonly callers = (): number => this.clients;
  get mux(): Mux {
    return this.#mux as unknown as Mux;
  }

  async start() {
    this.starts++;
    if (this.fails) throw new Error('it did not start');
    this.#happened.push(`+${this.name}`);
    const mux = new FakeMux((closedMux) => this.hosts.leave(closedMux, 1001, 'gone'));
    this.#mux = mux;
    this.hosts.join(mux as unknown as Mux, 'headless', { build: 'b', capabilities: [] });
    return {
      restart: async () => {},
      close: async () => {
        this.#happened.push(`-${this.name}`);
        mux.close();
      },
    };
  }
}

interface Pool extends AsyncDisposable {
  browsers: BrowserPool;
  vaults: Record<'a' | 'b' | 'c', FakeVault>;
  /** Starts and ends, in order. */
  happened: string[];
  rests: Map<FakeVault, PendingWork>;
}

/** Three vaults; the first one keeps its browser. */
function pool(options: Partial<BrowserPoolOptions> = {}): Pool {
  const happened: string[] = [];
  const vaults = { a: new FakeVault('a', happened, true), b: new FakeVault('b', happened), c: new FakeVault('c', happened) };
  const rests = new Map<FakeVault, PendingWork>();
  const browsers = new BrowserPool(Object.values(vaults), {
    ...{ limit: 2, checkMs: 5, leadMs: 0, waitMs: 200, retryMs: 5, idleMs: 60_000 },
    getPendingWork: async (mux) => {
      const vault = Object.values(vaults).find((each) => each.mux === mux);
      return (vault && rests.get(vault)) ?? { busy: false, dueAt: null };
    },
    ...options,
  });
  return { browsers, vaults, happened, rests, [Symbol.asyncDispose]: () => browsers.close() };
}

/** Waits for a host, within the time that clients wait. */
const served = async ({ hosts }: FakeVault, ms = 5_000): Promise<boolean> => (await hosts.wait(ms)) !== null;

describe('managed browsers that share slots', () => {
  verifies('vaults/browser-limit', 'each vault’s is started once, and never more at a time than may be', async () => {
    await using it = pool();
    await expect.poll(() => it.happened.filter((event) => event.startsWith('+')).sort()).toEqual(['+a', '+b', '+c']);
    let running = 0;
    for (const event of it.happened) {
      running += event.startsWith('+') ? 1 : -1;
      expect(running).toBeLessThanOrEqual(2);
    }
    expect(it.browsers.running).toBe(2);
  });

  verifies('vaults/browser-limit', 'the one that has been idle for longest makes room for one that is wanted', async () => {
    await using it = pool();
    const { a, b, c } = it.vaults;
    await expect.poll(() => it.happened.length).toBe(4);
    for (const [vault, out] of [
      [a, b],
      [b, c],
      [c, a],
    ] as const) {
      if (vault.hosts.holder) continue;
      expect(await served(vault)).toBe(true);
      expect(out.hosts.holder).toBeNull();
    }
  });

  verifies(
    'vaults/browser-limit',
    'a browser with clients, active work or a due job is not ended; waiting requests are told to retry',
    async () => {
      await using it = pool({ limit: 1 });
      const { a, b, c } = it.vaults;
      await expect.poll(() => it.happened.filter((event) => event.startsWith('+')).length).toBe(3);
      expect(await served(a)).toBe(true);
      a.clients = 1;
      expect(await served(b)).toBe(false);
      a.clients = 0;
      for (const rest of [
        { busy: true, dueAt: null },
        { busy: false, dueAt: Date.now() - 1 },
      ]) {
        it.rests.set(a, rest);
        expect(await served(b)).toBe(false);
        expect(a.hosts.holder).not.toBeNull();
      }
      it.rests.clear();
      expect(await served(b)).toBe(true);
      expect(a.hosts.holder).toBeNull();
      expect(c.hosts.holder).toBeNull();
    },
  );

  verifies('vaults/browser-limit', 'a host that does not say what it has to do goes on', async () => {
    await using it = pool({ limit: 1, getPendingWork: () => Promise.reject(new Error('no answer')) });
    await expect.poll(() => it.happened).toEqual(['+a']);
    expect(await served(it.vaults.b)).toBe(false);
    expect(it.happened).toEqual(['+a']);
    expect(it.vaults.a.lines.at(-1)).toContain('no answer');
  });

  verifies('vaults/browser-limit', 'a job’s time brings its vault’s browser back', async () => {
    await using it = pool({ limit: 1 });
    const { b } = it.vaults;
    const dueAt = Date.now() + 700;
    it.rests.set(b, { busy: false, dueAt });
    await expect.poll(() => it.happened.filter((event) => event === '+c' || event === '-b').length).toBe(2);
    expect(b.starts).toBe(1);
    await expect.poll(() => b.starts).toBe(2);
    expect(Date.now()).toBeGreaterThanOrEqual(dueAt - 1);
  });

  verifies('vaults/browser-limit', 'idle browsers are ended, except that of the home vault', async () => {
    await using it = pool({ limit: 3, idleMs: 50 });
    const { a, b, c } = it.vaults;
    b.clients = 1;
    await expect.poll(() => it.happened).toEqual(['+a', '+b', '+c', '-c']);
    b.clients = 0;
    await expect.poll(() => it.happened).toEqual(['+a', '+b', '+c', '-c', '-b']);
    expect(await served(c)).toBe(true);
    expect(a.hosts.holder).not.toBeNull();
  });

  verifies('vaults/browsers', 'a browser that fails to start does not block others, and is retried', async () => {
    await using it = pool({ limit: 1 });
    it.vaults.a.fails = true;
    await expect.poll(() => it.happened.includes('+b') && it.happened.includes('+c')).toBe(true);
    await expect.poll(() => it.vaults.a.starts).toBeGreaterThan(1);
    expect(it.vaults.a.lines).toContain('it did not start');
    it.vaults.a.fails = false;
    expect(await served(it.vaults.a)).toBe(true);
  });
});
