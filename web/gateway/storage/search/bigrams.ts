import { hashId } from './segment-layout.ts';
import { decodePostings, PostingsWriter } from './postings.ts';
import type { MatchedTerm } from './search-source.ts';

/** One-byte hash of a term, for the term before it: 1 to 255. */
const hashTerm = (term: string): number => 1 + (hashId(term) % 255);

/**
 * Number of occurrences of a term in a document, with a byte about the terms that follow: for one occurrence the hash of the next term, for
 * several a bit for each. This excludes most documents without a phrase, so that their texts need not be read.
 */
export class TermOccurrences {
  times = 0;
  follow = 0;

  increment(): void {
    if (++this.times === 2 && this.follow > 0) this.follow = toBit(this.follow);
  }

  addFollower(term: string): void {
    const mark = hashTerm(term);
    this.follow = this.times === 1 ? mark : this.follow | toBit(mark);
  }
}

const toBit = (mark: number): number => 1 << (mark & 7);

const writer = new PostingsWriter();

/** Documents of a term in which each of `next` may follow it. `follows`: a byte for each of its postings. */
export function filterFollowed(term: MatchedTerm, follows: Uint8Array, next: readonly string[]): MatchedTerm {
  return next.reduce((filtered, each) => filterBefore(each, filtered), { ...term, follows });
}

/** Documents in which one term may follow, with their bytes; up to a million. */
function filterBefore(next: string, { postings, follows }: MatchedTerm & { follows: Uint8Array }): MatchedTerm & { follows: Uint8Array } {
  const { docs, times, count } = decodePostings(postings);
  const mark = hashTerm(next);
  const bit = toBit(mark);
  const filtered = new Uint8Array(count);
  writer.clear();
  for (let i = 0; i < count; i++) {
    const frequency = times[i] ?? 1;
    const follow = follows[i] ?? 0;
    if (frequency === 1 ? follow !== mark : (follow & bit) === 0) continue;
    filtered[writer.count] = follow;
    writer.add(docs[i] ?? 0, frequency);
  }
  return { count: writer.count, postings: writer.bytes.slice(), follows: filtered.subarray(0, writer.count) };
}
