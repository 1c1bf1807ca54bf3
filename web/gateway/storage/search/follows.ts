import { hashOf } from './layout.ts';
import { openPostings, PostingsWriter } from './postings.ts';
import type { FoundTerm } from './source.ts';

/** One-byte hash of a term, for the term before it: 1 to 255. */
const markOf = (term: string): number => 1 + (hashOf(term) % 255);

/**
 * Number of occurrences of a term in a document, with a byte about the terms that follow: for one occurrence the hash of the next term, for
 * several a bit for each. This excludes most documents without a phrase, so that their texts need not be read.
 */
export class Occurrences {
  times = 0;
  follow = 0;

  again(): void {
    if (++this.times === 2 && this.follow > 0) this.follow = bitOf(this.follow);
  }

  followedBy(term: string): void {
    const mark = markOf(term);
    this.follow = this.times === 1 ? mark : this.follow | bitOf(mark);
  }
}

const bitOf = (mark: number): number => 1 << (mark & 7);

const writer = new PostingsWriter();

/** Documents of a term in which each of `next` may follow it. `follows`: a byte for each of its postings. */
export function followed(term: FoundTerm, follows: Uint8Array, next: readonly string[]): FoundTerm {
  return next.reduce((left, each) => before(each, left), { ...term, follows });
}

/** Documents in which one term may follow, with their bytes; up to a million. */
function before(next: string, { postings, follows }: FoundTerm & { follows: Uint8Array }): FoundTerm & { follows: Uint8Array } {
  const { docs, times, count } = openPostings(postings);
  const mark = markOf(next);
  const bit = bitOf(mark);
  const kept = new Uint8Array(count);
  writer.clear();
  for (let i = 0; i < count; i++) {
    const many = times[i] ?? 1;
    const follow = follows[i] ?? 0;
    if (many === 1 ? follow !== mark : (follow & bit) === 0) continue;
    kept[writer.count] = follow;
    writer.add(docs[i] ?? 0, many);
  }
  return { count: writer.count, postings: writer.bytes.slice(), follows: kept.subarray(0, writer.count) };
}
