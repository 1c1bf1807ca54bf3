/** Shares of what a passage is ranked by (decisions, "Memory, recall …"). */
const VECTOR = 0.7;
const TEXT = 0.3;

/**
 * Passages by how alike they are and by their words: each kind of score is taken from its least to its best among what was found, for models differ in what they call alike. The
 * best first, with scores within 0 and 1.
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

/** Each score's place between the least, or `from`, and the best. */
function spread(scores: readonly (readonly [string, number])[], from = Math.min(...scores.map(([, score]) => score))): Map<string, number> {
  const most = Math.max(...scores.map(([, score]) => score));
  return new Map(scores.map(([id, score]) => [id, most > from ? (score - from) / (most - from) : 1]));
}
