import type { LogLine } from '#shared/rpc/methods/log-contracts.ts';
import type { LogEntry } from './log-tail.ts';

/** Returns a function that formats lines with their times in a time zone. */
export function createLineFormatter(timeZone: string): (line: LogEntry) => LogLine {
  const time = createTimeFormatter(timeZone);
  return ({ at, level, component, message, fields }) => ({ time: time(at), at, level, component, message, ...(fields ? { fields } : {}) });
}

/** One line of text: `2026-11-20T12:00:00.000Z WARN  runs: A run failed {"code":"…"}`. */
export function formatLogLine({ time, level, component, message, fields }: LogLine): string {
  // Remove line breaks, so that a message cannot forge a line.
  const text = message.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
  return `${time} ${level.toUpperCase().padEnd(5)} ${component}: ${text}${fields ? ` ${JSON.stringify(fields)}` : ''}`;
}

/** ISO 8601 with the zone's offset at that time; `Z` for UTC. */
function createTimeFormatter(timeZone: string): (at: number) => string {
  if (timeZone === 'UTC') return (at) => new Date(at).toISOString();
  const number = '2-digit';
  const format = new Intl.DateTimeFormat('en', {
    ...{ timeZone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23', year: 'numeric' },
    ...{ month: number, day: number, hour: number, minute: number, second: number },
  });
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour, minute, second } = parts;
    const ms = ((at % 1000) + 1000) % 1000;
    const local = Date.UTC(year, month - 1, day, hour, minute, second, ms);
    const minutes = Math.round((local - at) / 60_000);
    const padTwo = (value: number): string => String(value).padStart(2, '0');
    const offset = `${minutes < 0 ? '-' : '+'}${padTwo(Math.floor(Math.abs(minutes) / 60))}:${padTwo(Math.abs(minutes) % 60)}`;
    return new Date(local).toISOString().replace('Z', offset);
  };
}
