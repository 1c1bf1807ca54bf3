import { hashOf } from './layout.ts';
import { Pace } from './pace.ts';
import type { Segment } from './segment.ts';

/** Marks the documents of messages that are gone, or that come anew: there is no index by id, so all of them are looked at, by a hash. */
export async function killIn(segments: readonly Segment[], ids: readonly string[]): Promise<void> {
  const hashes = new Map<number, string[]>();
  for (const id of ids) {
    const hash = hashOf(id);
    hashes.set(hash, [...(hashes.get(hash) ?? []), id]);
  }
  // A sieve of 64 Kbit, so that most of a million documents cost a look each.
  const sieve = new Uint8Array(1 << 16);
  for (const hash of hashes.keys()) sieve[hash & 0xffff] = 1;
  const pace = new Pace();
  for (const segment of segments) {
    if (pace.due) await pace.pause();
    const { hash } = segment.columns;
    const suspects: number[] = [];
    for (let doc = 0; doc < hash.length; doc++) {
      const each = hash[doc] ?? 0;
      if (sieve[each & 0xffff] === 1 && hashes.has(each)) suspects.push(doc);
    }
    for (const doc of suspects) {
      if (!segment.isDead(doc) && hashes.get(hash[doc] ?? 0)?.includes(await segment.idOf(doc))) segment.kill(doc);
    }
  }
}
