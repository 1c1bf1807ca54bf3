/** Weights of vector and text scores in the ranking. */
const VECTOR = 0.7;
const TEXT = 0.3;

/**
 * Combines vector and text scores. Each kind is scaled from its minimum to its maximum among the results, because models differ in their
 * range of similarity. Returns the best first, with scores from 0 to 1.
 */
export function combined(
  byText: readonly { id: string; score: number }[],
  byVector: readonly { id: string; alike: number }[],
): { id: string; score: number; alike: number | undefined }[] {
  const texts = spread(
    byText.map(({ id, score }) => [id, score]),
    0,
  );
  const vectors = spread(byVector.map(({ id, alike }) => [id, alike]));
  const alike = new Map(byVector.map((each) => [each.id, each.alike]));
  return [...new Set([...texts.keys(), ...vectors.keys()])]
    .map((id) => ({ id, score: TEXT * (texts.get(id) ?? 0) + VECTOR * (vectors.get(id) ?? 0), alike: alike.get(id) }))
    .sort((a, b) => b.score - a.score);
}

/** Scales scores linearly between the minimum (or `from`) and the maximum. */
function spread(scores: readonly (readonly [string, number])[], from = Math.min(...scores.map(([, score]) => score))): Map<string, number> {
  const most = Math.max(...scores.map(([, score]) => score));
  return new Map(scores.map(([id, score]) => [id, most > from ? (score - from) / (most - from) : 1]));
}
