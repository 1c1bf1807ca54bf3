import type { VaultStreams } from '#shared/sync/nats/vault-streams.ts';
import { isWriteCurrent } from '#shared/sync/nats/shared-leases.ts';
import { isWrongSequence } from '#shared/sync/nats/cluster-problem.ts';
import { openJson, sealJson, type VaultSeal } from '#shared/sync/nats/vault-seal.ts';
import { z } from '#shared/rpc/zod.ts';

const servingSchema = z.object({
  /** Bridge that serves the vault or is about to; null if there is none any more. */
  bridge: z.string().max(100).nullable(),
  /** Whether its host has caught up and answers. */
  ready: z.boolean(),
  /** The bridge is about to stop: another one should take over, and it serves until that one is ready. */
  leaving: z.boolean(),
  /** Bridge that continues to serve until this one is ready. */
  before: z.string().max(100).nullable(),
});
/** Value of the lease `serving`. */
export type ServingState = z.infer<typeof servingSchema>;

/** The value with its revision, which every renewal changes. */
export interface ServingRevision {
  serving: ServingState | null;
  revision: number;
}

/**
 * The lease of the bridge whose managed Chromium serves the vault: one sealed key, updated by compare-and-set (shared/sync/nats/shared-leases.ts).
 */
export class ServingLease {
  readonly #streams: Pick<VaultStreams, 'leases' | 'info'>;
  readonly #seal: VaultSeal;

  constructor(places: Pick<VaultStreams, 'leases' | 'info'>, seal: VaultSeal) {
    this.#streams = places;
    this.#seal = seal;
  }

  async read(): Promise<ServingRevision> {
    const key = await this.#key();
    const entry = await this.#streams.leases.get(key);
    if (!entry) return { serving: null, revision: 0 };
    const value = entry.operation === 'PUT' ? await openJson(this.#seal, entry.value, key) : undefined;
    return { serving: servingSchema.safeParse(value).data ?? null, revision: entry.revision };
  }

  /** Replaces a revision. Returns the new revision; null if it was changed in the meantime. */
  async write(revision: number, value: ServingState, { isNew = false } = {}): Promise<number | null> {
    const { leases } = this.#streams;
    const key = await this.#key();
    const bytes = await sealJson(this.#seal, value, key);
    try {
      const written = await (revision === 0 ? leases.create(key, bytes) : leases.update(key, bytes, revision));
      return !isNew || (await isWriteCurrent(this.#streams, this.#seal, key, written)) ? written : null;
    } catch (error) {
      if (isWrongSequence(error)) return null;
      throw error;
    }
  }

  async #key(): Promise<string> {
    return this.#seal.name('serving');
  }
}
