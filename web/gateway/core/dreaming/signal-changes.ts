import { getLastActive, type Recall, type ShortTermSignal } from './signal.ts';

/** Maximum number of recalls, and of days, kept per signal. */
export const MAX_RECALLS = 32;

/** Changes existing signals, in the map too. */
export function updateSignals<Given extends { contentHash: string }>(
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

/** Compares signals for removal: untrusted ones first, then the least recently used. */
export const compareForRemoval = (a: ShortTermSignal, b: ShortTermSignal): number =>
  Number(a.untrusted === undefined) - Number(b.untrusted === undefined) || getLastActive(a) - getLastActive(b);

/** Drops the oldest recalls whose query and day others share, so that counts of distinct ones stay the same. */
export function trimRecalls(recalls: Recall[]): Recall[] {
  const left = [...recalls];
  while (left.length > MAX_RECALLS) {
    const spare = left.findIndex((each, index) => {
      const others = left.filter((_, at) => at !== index);
      return others.some(({ query }) => query === each.query) && others.some(({ day }) => day === each.day);
    });
    left.splice(Math.max(0, spare), 1);
  }
  return left;
}
