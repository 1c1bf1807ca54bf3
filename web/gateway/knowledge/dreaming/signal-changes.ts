import { getLastActive, type Recall, type ShortTermSignal } from './signal.ts';

/** Maximum number of recalls, and of days, kept per signal. */
export const MAX_RECALLS = 32;

/** Changes existing signals, in the map too. */
export function updateSignals<Update extends { contentHash: string }>(
  signals: Map<string, ShortTermSignal>,
  all: readonly Update[],
  change: (signal: ShortTermSignal, update: Update) => ShortTermSignal,
): ShortTermSignal[] {
  return all.flatMap((update) => {
    const signal = signals.get(update.contentHash);
    if (!signal) return [];
    const changed = change(signal, update);
    signals.set(update.contentHash, changed);
    return [changed];
  });
}

/** Compares signals for removal: untrusted ones first, then the least recently used. */
export const compareForRemoval = (a: ShortTermSignal, b: ShortTermSignal): number =>
  Number(a.untrusted === undefined) - Number(b.untrusted === undefined) || getLastActive(a) - getLastActive(b);

/** Drops the oldest recalls whose query and day others share, so that counts of distinct ones stay the same. */
export function trimRecalls(recalls: Recall[]): Recall[] {
  const remaining = [...recalls];
  while (remaining.length > MAX_RECALLS) {
    const redundant = remaining.findIndex((each, index) => {
      const others = remaining.filter((_, otherIndex) => otherIndex !== index);
      return others.some(({ query }) => query === each.query) && others.some(({ day }) => day === each.day);
    });
    remaining.splice(Math.max(0, redundant), 1);
  }
  return remaining;
}
