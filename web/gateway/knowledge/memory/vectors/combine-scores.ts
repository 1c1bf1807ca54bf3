/** Weights of vector and text scores in the ranking. */
const VECTOR_WEIGHT = 0.7;
const TEXT_WEIGHT = 0.3;

/**
 * Combines vector and text scores. Each kind is scaled from its minimum to its maximum among the results, because models differ in their
 * range of similarity. Returns the best first, with scores from 0 to 1.
 */
export function combineScores(
  byText: readonly { id: string; score: number }[],
  byVector: readonly { id: string; alike: number }[],
): { id: string; score: number; alike: number | undefined }[] {
  const texts = normalizeScores(
    byText.map(({ id, score }) => [id, score]),
    0,
  );
  const vectors = normalizeScores(byVector.map(({ id, alike }) => [id, alike]));
  const alike = new Map(byVector.map((hit) => [hit.id, hit.alike]));
  return [...new Set([...texts.keys(), ...vectors.keys()])]
    .map((id) => ({ id, score: TEXT_WEIGHT * (texts.get(id) ?? 0) + VECTOR_WEIGHT * (vectors.get(id) ?? 0), alike: alike.get(id) }))
    .sort((a, b) => b.score - a.score);
}

/** Scales scores linearly between the minimum (or `from`) and the maximum. */
function normalizeScores(
  scores: readonly (readonly [string, number])[],
  from = Math.min(...scores.map(([, score]) => score)),
): Map<string, number> {
  const max = Math.max(...scores.map(([, score]) => score));
  return new Map(scores.map(([id, score]) => [id, max > from ? (score - from) / (max - from) : 1]));
}
