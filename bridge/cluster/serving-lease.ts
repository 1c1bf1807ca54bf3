import type { Places } from '#shared/sync/nats/places.ts';
import { stands } from '#shared/sync/nats/leases.ts';
import { isWrongSequence } from '#shared/sync/nats/problems.ts';
import { openJson, sealJson, type VaultSeal } from '#shared/sync/nats/seal.ts';
import { z } from '#shared/rpc/zod.ts';

const serving = z.object({
  /** Who serves the vault, or is about to; null: nobody does any more. */
  bridge: z.string().max(100).nullable(),
  /** Its host has caught up and answers. */
  ready: z.boolean(),
  /** It is about to stop: another one is to take over, and it serves until that one is ready. */
  leaving: z.boolean(),
  /** Who goes on serving until it is ready. */
  before: z.string().max(100).nullable(),
});
/** What the lease `serving` says. */
export type Serving = z.infer<typeof serving>;

/** As it was read: each renewal is another revision. */
export interface SeenServing {
  serving: Serving | null;
  revision: number;
}

/** Which bridge has its managed Chromium serve the vault: one sealed key, compared and set (shared/sync/nats/leases.ts). */
export class ServingLease {
  readonly #places: Pick<Places, 'leases' | 'info'>;
  readonly #seal: VaultSeal;

  constructor(places: Pick<Places, 'leases' | 'info'>, seal: VaultSeal) {
    this.#places = places;
    this.#seal = seal;
  }

  async read(): Promise<SeenServing> {
    const key = await this.#key();
    const entry = await this.#places.leases.get(key);
    if (!entry) return { serving: null, revision: 0 };
    const said = entry.operation === 'PUT' ? await openJson(this.#seal, entry.value, key) : undefined;
    return { serving: serving.safeParse(said).data ?? null, revision: entry.revision };
  }

  /** Writes it over what was seen. The new revision; null: somebody else has written it meanwhile. */
  async write(over: number, value: Serving, { isNew = false } = {}): Promise<number | null> {
    const { leases } = this.#places;
    const key = await this.#key();
    const bytes = await sealJson(this.#seal, value, key);
    try {
      const written = await (over === 0 ? leases.create(key, bytes) : leases.update(key, bytes, over));
      return !isNew || (await stands(this.#places, this.#seal, key, written)) ? written : null;
    } catch (error) {
      if (isWrongSequence(error)) return null;
      throw error;
    }
  }

  async #key(): Promise<string> {
    return this.#seal.name('serving');
  }
}
