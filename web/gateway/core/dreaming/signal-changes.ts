import { lastActive, type Recall, type ShortTermSignal } from './signal.ts';

/** Recalls that are kept of one signal, and days. */
export const MOST_RECALLS = 32;

/** Changes those that there are, in the map too. */
export function changedOf<Given extends { contentHash: string }>(
  signals: Map<string, ShortTermSignal>,
  all: readonly Given[],
  change: (signal: ShortTermSignal, given: Given) => ShortTermSignal,
): ShortTermSignal[] {
  return all.flatMap((given) => {
    const signal = signals.get(given.contentHash);
    if (!signal) return [];
    const changed = change(signal, given);
    signals.set(given.contentHash, changed);
    return [changed];
  });
}

/** Untrusted ones first, then those longest unused. */
export const leastFirst = (a: ShortTermSignal, b: ShortTermSignal): number =>
  Number(a.untrusted === undefined) - Number(b.untrusted === undefined) || lastActive(a) - lastActive(b);

/** Drops the oldest whose query and day others have too, so that what is counted of them stays. */
export function fewer(recalls: Recall[]): Recall[] {
  const left = [...recalls];
  while (left.length > MOST_RECALLS) {
    const spare = left.findIndex((each, index) => {
      const others = left.filter((_, at) => at !== index);
      return others.some(({ query }) => query === each.query) && others.some(({ day }) => day === each.day);
    });
    left.splice(Math.max(0, spare), 1);
  }
  return left;
}
