import { randomUUID } from 'node:crypto';
import { z } from '#shared/rpc/zod.ts';
import { type Cluster, HERE_TTL_MS } from './connection.ts';
import type { RecordSeal } from './record-seal.ts';

const SAY_MS = 3000;
const hosts = z.array(z.string());

/**
 * Which hosts are attached to the other bridges of the vault. Each says so every few seconds; one that has said nothing for `HERE_TTL_MS`, by the clock of
 * whoever listens, is gone with its hosts.
 */
export class Presence {
  readonly #bridge = randomUUID();
  readonly #seal: RecordSeal;
  readonly #own: () => readonly string[];
  readonly #others = new Map<string, { hosts: readonly string[]; at: number }>();
  #since = 0;

  constructor(seal: RecordSeal, own: () => readonly string[]) {
    this.#seal = seal;
    this.#own = own;
  }

  /** The others' hosts; null while nobody can be said to be gone, for they may not have been heard yet. */
  others(): readonly string[] | null {
    const now = performance.now();
    if (this.#since === 0 || now - this.#since < HERE_TTL_MS) return null;
    for (const [key, { at }] of this.#others) if (now - at >= HERE_TTL_MS) this.#others.delete(key);
    return [...this.#others.values()].flatMap((other) => other.hosts);
  }

  /** Says and listens until `signal` is aborted. Rejects where the cluster does not take it. */
  async run({ here }: Pick<Cluster, 'here'>, signal: AbortSignal): Promise<void> {
    const key = this.#seal.name('bridge', this.#bridge);
    const updates = await here.watch();
    signal.addEventListener('abort', () => updates.stop(), { once: true });
    const listening = (async () => {
      for await (const { key: from, value, operation } of updates) {
        if (from === key) continue;
        const opened = operation === 'PUT' ? this.#seal.open(value, from) : undefined;
        const said = opened && hosts.safeParse(JSON.parse(opened.toString())).data;
        if (said) this.#others.set(from, { hosts: said, at: performance.now() });
        else if (operation !== 'PUT') this.#others.delete(from);
      }
    })();
    this.#since = performance.now();
    try {
      while (!signal.aborted) {
        await here.put(key, this.#seal.seal(Buffer.from(JSON.stringify(this.#own())), key));
        await pause(SAY_MS, signal);
      }
    } finally {
      this.#since = 0;
      updates.stop();
      // It may still hang on a connection that is gone.
      listening.catch(() => {});
    }
  }
}

/** Resolves early where `signal` is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
