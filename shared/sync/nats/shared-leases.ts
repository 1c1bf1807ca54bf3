import { z } from '../../rpc/zod.ts';
import type { LeaseRequest } from '../lease-request.ts';
import type { VaultStreams } from './vault-streams.ts';
import { isWrongSequence } from './cluster-problem.ts';
import { openJson, sealJson, type VaultSeal } from './vault-seal.ts';

const storedLease = z.object({ holder: z.string().nullable(), fence: z.number().int().nonnegative(), until: z.number() });
type StoredLease = z.infer<typeof storedLease>;

/** How often a lease is tried that others take at the same time. */
const MAX_TRIES = 5;

/** The rule of bridge/journal/leases.ts: the fence for `request` given the stored lease; null if another host holds it. */
export function computeFence(lease: StoredLease | undefined, { holder, presumed, present }: LeaseRequest, now: number): number | null {
  const isPresent = (origin: string): boolean => present === null || present.includes(origin);
  if (!lease) {
    if (presumed !== undefined && presumed !== holder && isPresent(presumed)) return null;
    return presumed === undefined ? 1 : 2;
  }
  if (lease.holder === holder) return lease.fence;
  if (lease.holder !== null && (lease.until > now || isPresent(lease.holder))) return null;
  return lease.fence + 1;
}

/**
 * Takes a lease in the whole vault, by compare-and-set of its key. `acquireLocal`: takes the local lease, whose earlier fences count too; null if it
 * is not available.
 */
export async function acquireSharedLease(
  streams: Pick<VaultStreams, 'leases' | 'info'>,
  seal: VaultSeal,
  request: LeaseRequest,
  acquireLocal: (request: LeaseRequest) => Promise<number | null>,
): Promise<number | null> {
  const { leases } = streams;
  const key = await seal.name('lease', request.name);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { lease, revision } = await readLease(leases, seal, key);
    const granted = computeFence(lease, request, Date.now());
    if (granted === null) return null;
    const localFence = await acquireLocal(request);
    if (localFence === null) return null;
    const fence = Math.max(granted, localFence);
    const bytes = await sealJson(seal, { holder: request.holder, fence, until: Date.now() + request.ttlMs } satisfies StoredLease, key);
    try {
      const written = await (revision === 0 ? leases.create(key, bytes) : leases.update(key, bytes, revision));
      if (await isWriteCurrent(streams, seal, key, written)) return fence;
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
export async function isWriteCurrent(
  { leases, info }: Pick<VaultStreams, 'leases' | 'info'>,
  seal: VaultSeal,
  key: string,
  revision: number,
): Promise<boolean> {
  if (info.config.num_replicas === 1) return true;
  await leases.put(await seal.name('barrier'), '');
  return (await leases.get(key))?.revision === revision;
}

/** Gives it back; its fence is remembered. */
export async function releaseSharedLease(
  { leases }: Pick<VaultStreams, 'leases'>,
  seal: VaultSeal,
  { name, holder, fence }: { name: string; holder: string; fence: number },
): Promise<void> {
  const key = await seal.name('lease', name);
  const { lease, revision } = await readLease(leases, seal, key);
  if (lease?.holder !== holder || lease.fence !== fence) return;
  const bytes = await sealJson(seal, { holder: null, fence, until: 0 } satisfies StoredLease, key);
  await leases.update(key, bytes, revision).catch((error: unknown) => {
    // Another holder has it by now.
    if (!isWrongSequence(error)) throw error;
  });
}

async function readLease(
  leases: VaultStreams['leases'],
  seal: VaultSeal,
  key: string,
): Promise<{ lease: StoredLease | undefined; revision: number }> {
  const entry = await leases.get(key);
  if (!entry) return { lease: undefined, revision: 0 };
  const opened = entry.operation === 'PUT' ? await openJson(seal, entry.value, key) : undefined;
  return { lease: storedLease.safeParse(opened).data, revision: entry.revision };
}
