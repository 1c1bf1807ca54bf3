import type { FoundMemory, NeighbourText } from '../found-memory.ts';

/** Leaves out search results that are shown anyway, as the text before or after a better one. */
export class ResultPacker {
  /** Results that were left out; their sources still count. */
  readonly leftOut: FoundMemory[] = [];
  readonly #limit: number;
  readonly #shown = new Set<string>();
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a result is worth its place. Call it with all results, best first. */
  accepts(found: FoundMemory): boolean {
    if (this.#count === this.#limit) return false;
    if (this.#shown.has(toKey(found.path, found))) {
      this.leftOut.push(found);
      return false;
    }
    for (const neighbour of [found.before, found.after]) if (neighbour) this.#shown.add(toKey(found.path, neighbour));
    this.#count++;
    return true;
  }
}

const toKey = (path: string, { text, speaker = '' }: NeighbourText): string => JSON.stringify([path, speaker, text]);
