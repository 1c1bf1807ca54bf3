/**
 * Seed of random tests: `PERCH_SEED`; in the long run (`npm run test:long`) a new one each time, to find unforeseen cases; otherwise
 * constant, so that a result depends only on the change.
 */
export const SEED = Number(process.env['PERCH_SEED']) || (process.env['PERCH_LONG'] ? Math.trunc(Math.random() * 2 ** 31) : 1);

/** Whole numbers below `max`, the same ones for one seed (mulberry32). */
export function createRandom(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % max;
  };
}
