/** Up to `limit` numbers with the highest scores, unsorted. Of equal scores, those that come first. */
export function selectBest(numbers: Uint32Array, scores: Float32Array, limit: number): number[] {
  if (numbers.length <= limit) return [...numbers];
  // A heap with the lowest score on top: nearly all others are only compared with that.
  const heap = numbers.slice(0, limit);
  for (let index = (limit >> 1) - 1; index >= 0; index--) sink(heap, scores, index);
  let lowest = scores[heap[0] ?? 0] ?? 0;
  for (let index = limit; index < numbers.length; index++) {
    const number = numbers[index] ?? 0;
    if ((scores[number] ?? 0) <= lowest) continue;
    heap[0] = number;
    sink(heap, scores, 0);
    lowest = scores[heap[0]] ?? 0;
  }
  return [...heap];
}

/** Moves a number down until both below it have a higher score. */
function sink(heap: Uint32Array, scores: Float32Array, from: number): void {
  const number = heap[from] ?? 0;
  const score = scores[number] ?? 0;
  let index = from;
  for (let child = 2 * index + 1; child < heap.length; child = 2 * index + 1) {
    const other = child + 1;
    if (other < heap.length && (scores[heap[other] ?? 0] ?? 0) < (scores[heap[child] ?? 0] ?? 0)) child = other;
    if ((scores[heap[child] ?? 0] ?? 0) >= score) break;
    heap[index] = heap[child] ?? 0;
    index = child;
  }
  heap[index] = number;
}
