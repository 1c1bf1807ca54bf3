/** Scores by passage number, initially all 0, and a buffer for the numbers of those with a score. */
export interface ScoreBuffers {
  readonly scores: Float32Array<ArrayBuffer>;
  readonly touched: Uint32Array<ArrayBuffer>;
}

/** Maximum number of buffers kept, enough for an ordinary query; further ones are discarded. */
const MAX_POOLED = 24;

/** Pool of score buffers. Allocating them per search would produce tens of megabytes of garbage. */
export class ScorePool {
  readonly #freeBuffers: ScoreBuffers[] = [];

  /** Takes buffers for at least this number of passages. */
  take(passages: number): ScoreBuffers {
    const free = this.#freeBuffers.pop();
    if (free && free.scores.length >= passages) return free;
    // Spare capacity, so that an added passage does not require new buffers.
    const length = passages + (passages >> 3);
    return { scores: new Float32Array(length), touched: new Uint32Array(length) };
  }

  /** Returns buffers to the pool; `count` entries of `touched` were used. */
  give(buffers: ScoreBuffers, count: number): void {
    const { scores, touched } = buffers;
    for (let i = 0; i < count; i++) scores[touched[i] ?? 0] = 0;
    if (this.#freeBuffers.length < MAX_POOLED) this.#freeBuffers.push(buffers);
  }
}
