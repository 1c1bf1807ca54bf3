/** Index of the first number that is not less than `value`. */
export function lowerBound(sorted: Uint32Array, value: number): number {
  let [from, end] = [0, sorted.length];
  while (from < end) {
    const middle = (from + end) >>> 1;
    if ((sorted[middle] ?? 0) < value) from = middle + 1;
    else end = middle;
  }
  return from;
}
