const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

interface WallTime {
  at: number;
  hour: number;
  minute: number;
}

/** Wall-clock time of a zone between two instants, computed only with `Intl`: the reference for schedules. */
export function createWallClock(zone: string, from: number, to: number) {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  /** The wall-clock time as if it were UTC. */
  const toWallMs = (at: number): number => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (format.format(at).match(/\d+/g) ?? []).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute);
  };
  // No zone changes twice in a day: if the offset from UTC differs between start and end of a day, searches for the minute of the change.
  const changes: number[] = [];
  const offsets: { since: number; offset: number }[] = [{ since: -Infinity, offset: toWallMs(from) - from }];
  for (let day = from; day < to; day += DAY) {
    const before = offsets.at(-1)?.offset ?? 0;
    if (toWallMs(day + DAY) - (day + DAY) === before) continue;
    let at = day;
    for (const step of [HOUR, MINUTE]) while (toWallMs(at + step) - (at + step) === before) at += step;
    at += MINUTE;
    changes.push(at);
    offsets.push({ since: at, offset: toWallMs(at) - at });
  }
  const offsetAt = (at: number): number => offsets.findLast(({ since }) => since <= at)?.offset ?? 0;

  return {
    /** When the clocks change. */
    changes,

    /** Every minute of a span. */
    minutes(start: number, end: number): WallTime[] {
      const found: WallTime[] = [];
      for (let at = start; at < end; at += MINUTE) {
        const wall = new Date(toWallMs(at));
        found.push({ at, hour: wall.getUTCHours(), minute: wall.getUTCMinutes() });
      }
      return found;
    },

    /** These times of each day: the first of two, or the end of the gap if the time does not exist. */
    daily(times: readonly { hour: number; minute: number }[], start: number, end: number): number[] {
      const found = new Set<number>();
      const distances = new Set(offsets.map(({ offset }) => offset));
      for (let day = Math.floor(start / DAY) * DAY - DAY; day < end + DAY; day += DAY) {
        for (const { hour, minute } of times) {
          const wall = day + hour * HOUR + minute * MINUTE;
          const fits = [...distances].map((offset) => wall - offset).filter((at) => at + offsetAt(at) === wall);
          const gap = changes.find((at) => at + offsetAt(at - 1) <= wall && wall < at + offsetAt(at));
          const at = fits.length > 0 ? Math.min(...fits) : gap;
          if (at !== undefined && at >= start && at < end) found.add(at);
        }
      }
      return [...found].sort((a, b) => a - b);
    },
  };
}
