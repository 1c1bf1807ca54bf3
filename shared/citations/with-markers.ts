import type { Citation } from '../rpc/passage.ts';

/** The text with the numbers of its citations in brackets after each claim, such as `[3]`, or as `toMarker` writes them. */
export function withMarkers(
  text: string,
  citations: readonly Pick<Citation, 'end' | 'number'>[],
  toMarker: (number: number) => string = (number) => ` [${number}]`,
): string {
  const numbers = new Map<number, Set<number>>();
  for (const { end, number } of citations) numbers.set(end, (numbers.get(end) ?? new Set()).add(number));
  let marked = '';
  let at = 0;
  for (const [end, ofClaim] of [...numbers].sort(([a], [b]) => a - b)) {
    marked += text.slice(at, end) + [...ofClaim].map(toMarker).join('');
    at = end;
  }
  return marked + text.slice(at);
}
