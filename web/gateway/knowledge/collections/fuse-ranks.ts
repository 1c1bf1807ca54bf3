/** Dampens the difference between the first ranks (Cormack et al., 2009, https://doi.org/10.1145/1571941.1572114). */
const RANK_OFFSET = 60;

/** Combines rankings by reciprocal rank fusion. Returns the best first, with scores up to 1. */
export function fuseRanks(rankings: readonly (readonly string[])[]): { id: string; score: number }[] {
  const scores = new Map<string, number>();
  for (const ranking of rankings) {
    for (const [rank, id] of ranking.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (RANK_OFFSET + 1 + rank));
  }
  const best = rankings.length / (RANK_OFFSET + 1);
  return [...scores].map(([id, score]) => ({ id, score: score / best })).sort((a, b) => b.score - a.score);
}
