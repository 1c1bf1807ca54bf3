const DAY_MS = 24 * 60 * 60_000;
/** Offsets from UTC are multiples of this. */
const SLOT_MS = 15 * 60_000;

/** Whether it is the name of a known time zone. */
export function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

/** Returns a function that converts milliseconds since 1970 to the date (`YYYY-MM-DD`) and hour (0 to 23) in a time zone. */
export function createLocalTime(timeZone: string): (at: number) => { date: string; hour: number } {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    hourCycle: 'h23',
  });
  const cache = new Map<number, { date: string; hour: number }>();
  return (at) => {
    const slot = Math.floor(at / SLOT_MS);
    let time = cache.get(slot);
    if (!time) {
      const parts = Object.fromEntries(format.formatToParts(slot * SLOT_MS).map(({ type, value }) => [type, value]));
      time = { date: `${parts.year}-${parts.month}-${parts.day}`, hour: Number(parts.hour) };
      cache.set(slot, time);
    }
    return time;
  };
}

/** The last `count` dates up to and including `last`, oldest first. */
export function listDates(last: string, count: number): string[] {
  const end = Date.parse(last);
  return Array.from({ length: count }, (_, index) => new Date(end - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10));
}

/** Milliseconds since 1970 at which a date (`YYYY-MM-DD`) begins, by a function of `createLocalTime`. */
export function findDateStart(date: string, toLocalTime: ReturnType<typeof createLocalTime>): number {
  // No offset from UTC is larger than 14 hours.
  let first = Math.floor(Date.parse(date) / SLOT_MS) - 15 * 4;
  let last = first + 30 * 4;
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    if (toLocalTime(middle * SLOT_MS).date >= date) last = middle;
    else first = middle + 1;
  }
  return first * SLOT_MS;
}
