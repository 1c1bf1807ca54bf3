import { hashId } from './segment-layout.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import type { Segment } from './segment.ts';

/** Marks the documents of deleted or updated messages as dead. There is no index by id, so all documents are compared by a hash. */
export async function markDead(segments: readonly Segment[], ids: readonly string[]): Promise<void> {
  const hashes = new Map<number, string[]>();
  for (const id of ids) {
    const hash = hashId(id);
    hashes.set(hash, [...(hashes.get(hash) ?? []), id]);
  }
  // A filter of 64 Kbit, so that most of a million documents cost one lookup each.
  const sieve = new Uint8Array(1 << 16);
  for (const hash of hashes.keys()) sieve[hash & 0xffff] = 1;
  const pace = new TimeSlicer();
  for (const segment of segments) {
    if (pace.isDue) await pace.pause();
    const { hash } = segment.columns;
    const suspects: number[] = [];
    for (let doc = 0; doc < hash.length; doc++) {
      const next = hash[doc] ?? 0;
      if (sieve[next & 0xffff] === 1 && hashes.has(next)) suspects.push(doc);
    }
    for (const doc of suspects) {
      if (!segment.isDead(doc) && hashes.get(hash[doc] ?? 0)?.includes(await segment.getId(doc))) segment.markDead(doc);
    }
  }
}
