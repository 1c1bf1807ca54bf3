import { z } from '../../rpc/zod.ts';
import type { LeaseWanted } from '../lease.ts';
import type { Places } from './places.ts';
import { isWrongSequence } from './problems.ts';
import { openJson, sealJson, type VaultSeal } from './seal.ts';

const kept = z.object({ holder: z.string().nullable(), fence: z.number().int().nonnegative(), until: z.number() });
type Kept = z.infer<typeof kept>;

/** How often a lease is tried that others take at the same time. */
const TRIES = 5;

/** The rule of bridge/journal/leases.ts: the fence for `wanted` given the stored lease; null if another host holds it. */
export function fenceOver(lease: Kept | undefined, { holder, presumed, present }: LeaseWanted, now: number): number | null {
  const isThere = (origin: string): boolean => present === null || present.includes(origin);
  if (!lease) {
    if (presumed !== undefined && presumed !== holder && isThere(presumed)) return null;
    return presumed === undefined ? 1 : 2;
  }
  if (lease.holder === holder) return lease.fence;
  if (lease.holder !== null && (lease.until > now || isThere(lease.holder))) return null;
  return lease.fence + 1;
}

/**
 * Takes a lease in the whole vault, by compare-and-set of its key. `own`: takes the local lease, whose earlier fences count too; null if it
 * is not available.
 */
export async function takeShared(
  places: Pick<Places, 'leases' | 'info'>,
  seal: VaultSeal,
  wanted: LeaseWanted,
  own: (wanted: LeaseWanted) => Promise<number | null>,
): Promise<number | null> {
  const { leases } = places;
  const key = await seal.name('lease', wanted.name);
  for (let tries = 0; tries < TRIES; tries++) {
    const { lease, revision } = await find(leases, seal, key);
    const granted = fenceOver(lease, wanted, Date.now());
    if (granted === null) return null;
    const here = await own(wanted);
    if (here === null) return null;
    const fence = Math.max(granted, here);
    const bytes = await sealJson(seal, { holder: wanted.holder, fence, until: Date.now() + wanted.ttlMs } satisfies Kept, key);
    try {
      const written = await (revision === 0 ? leases.create(key, bytes) : leases.update(key, bytes, revision));
      if (await stands(places, seal, key, written)) return fence;
    } catch (error) {
      if (!isWrongSequence(error)) throw error;
    }
  }
  return null;
}

/**
 * Whether the key still holds what was written. Servers of a cluster (2.9) compare a revision only with what they have stored, so two
 * concurrent writers may both succeed. Both writes are in progress before either is acknowledged: once a later message is stored both are,
 * and the second one wins.
 */
export async function stands(
  { leases, info }: Pick<Places, 'leases' | 'info'>,
  seal: VaultSeal,
  key: string,
  revision: number,
): Promise<boolean> {
  if (info.config.num_replicas === 1) return true;
  await leases.put(await seal.name('barrier'), '');
  return (await leases.get(key))?.revision === revision;
}

/** Gives it back; its fence is remembered. */
export async function releaseShared(
  { leases }: Pick<Places, 'leases'>,
  seal: VaultSeal,
  { name, holder, fence }: { name: string; holder: string; fence: number },
): Promise<void> {
  const key = await seal.name('lease', name);
  const { lease, revision } = await find(leases, seal, key);
  if (lease?.holder !== holder || lease.fence !== fence) return;
  const bytes = await sealJson(seal, { holder: null, fence, until: 0 } satisfies Kept, key);
  await leases.update(key, bytes, revision).catch((error: unknown) => {
    // Somebody else has it by now.
    if (!isWrongSequence(error)) throw error;
  });
}

async function find(leases: Places['leases'], seal: VaultSeal, key: string): Promise<{ lease: Kept | undefined; revision: number }> {
  const entry = await leases.get(key);
  if (!entry) return { lease: undefined, revision: 0 };
  const said = entry.operation === 'PUT' ? await openJson(seal, entry.value, key) : undefined;
  return { lease: kept.safeParse(said).data, revision: entry.revision };
}
