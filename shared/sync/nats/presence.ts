import { z } from '../../rpc/zod.ts';
import { PRESENCE_TTL_MS, type VaultStreams } from './vault-streams.ts';
import { openJson, sealJson, type VaultSeal } from './vault-seal.ts';

const ANNOUNCE_INTERVAL_MS = 3000;
const hostsSchema = z.array(z.string());

/**
 * Hosts of the vault's other members: a bridge reports the hosts attached to it, a browser without a bridge its own. Each member reports every
 * few seconds; a member silent for `PRESENCE_TTL_MS`, by the listener's clock, is gone with its hosts.
 */
export class Presence {
  readonly #id = crypto.randomUUID();
  readonly #seal: VaultSeal;
  readonly #own: () => readonly string[];
  readonly #others = new Map<string, { hosts: readonly string[]; at: number }>();
  #since = 0;
  #isLeaving = false;

  constructor(seal: VaultSeal, own: () => readonly string[]) {
    this.#seal = seal;
    this.#own = own;
  }

  /** Hosts of other bridges; null while absence can't be determined, since their announcements may not have arrived yet. */
  others(): readonly string[] | null {
    const now = performance.now();
    if (this.#since === 0 || now - this.#since < PRESENCE_TTL_MS) return null;
    for (const [key, { at }] of this.#others) if (now - at >= PRESENCE_TTL_MS) this.#others.delete(key);
    return [...this.#others.values()].flatMap((other) => other.hosts);
  }

  /** Withdraws the announcement, so that nobody waits for these hosts: they have left permanently. */
  async leave({ here }: Pick<VaultStreams, 'here'>): Promise<void> {
    this.#isLeaving = true;
    await here.delete(await this.#seal.name('bridge', this.#id));
  }

  /** Announces and listens until `signal` aborts. Rejects if the cluster refuses. */
  async run({ here }: Pick<VaultStreams, 'here'>, signal: AbortSignal): Promise<void> {
    const key = await this.#seal.name('bridge', this.#id);
    const updates = await here.watch();
    signal.addEventListener('abort', () => updates.stop(), { once: true });
    const listening = (async () => {
      for await (const { key: from, value, operation } of updates) {
        if (from === key) continue;
        const announced = operation === 'PUT' ? hostsSchema.safeParse(await openJson(this.#seal, value, from)).data : undefined;
        if (announced) this.#others.set(from, { hosts: announced, at: performance.now() });
        else if (operation !== 'PUT') this.#others.delete(from);
      }
    })();
    this.#since = performance.now();
    try {
      while (!signal.aborted) {
        if (!this.#isLeaving) await here.put(key, await sealJson(this.#seal, this.#own(), key));
        await abortableDelay(ANNOUNCE_INTERVAL_MS, signal);
      }
    } finally {
      this.#since = 0;
      updates.stop();
      // The iterator may be waiting on a closed connection.
      listening.catch(() => {});
    }
  }
}

/** Waits for `ms`. Resolves early if `signal` aborts. */
export function abortableDelay(ms: number, signal: AbortSignal): Promise<void> {
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
