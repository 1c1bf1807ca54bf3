/** Scores by number of the passage, all 0 when they are taken, and room for the numbers of those that are not. */
export interface Scores {
  readonly scores: Float32Array<ArrayBuffer>;
  readonly touched: Uint32Array<ArrayBuffer>;
}

/** As many as a query of ordinary length takes: a very long one may leave its own behind. */
const MOST_KEPT = 24;

/** Keeps them for the next search: each would leave some tens of megabytes otherwise. */
export class Scratch {
  readonly #free: Scores[] = [];

  /** For at least so many passages. */
  take(passages: number): Scores {
    const free = this.#free.pop();
    if (free && free.scores.length >= passages) return free;
    // With room for some that come, so that not every one of them makes all anew.
    const length = passages + (passages >> 3);
    return { scores: new Float32Array(length), touched: new Uint32Array(length) };
  }

  /** Gives back what was taken; `count` of `touched` were used. */
  give(taken: Scores, count: number): void {
    const { scores, touched } = taken;
    for (let i = 0; i < count; i++) scores[touched[i] ?? 0] = 0;
    if (this.#free.length < MOST_KEPT) this.#free.push(taken);
  }
}
