const HISTOGRAM_STEPS = 1024;

/** Up to `limit` numbers with the highest scores, unsorted. */
export function selectBest(numbers: Uint32Array, scores: Float32Array, limit: number): number[] {
  if (numbers.length <= limit) return [...numbers];
  let top = 0;
  for (const number of numbers) top = Math.max(top, scores[number] ?? 0);
  const toStep = (number: number): number => Math.floor(((scores[number] ?? 0) / top) * (HISTOGRAM_STEPS - 1));
  const counts = new Uint32Array(HISTOGRAM_STEPS);
  for (const number of numbers) counts[toStep(number)] = (counts[toStep(number)] ?? 0) + 1;
  let lowestStep = HISTOGRAM_STEPS;
  for (let count = 0; lowestStep > 0 && count < limit;) count += counts[--lowestStep] ?? 0;
  // The last step may hold very many equal scores: only as many are taken as fit.
  const selected = [...numbers.filter((number) => toStep(number) > lowestStep)];
  for (const number of numbers) {
    if (selected.length >= limit) break;
    if (toStep(number) === lowestStep) selected.push(number);
  }
  return selected;
}
