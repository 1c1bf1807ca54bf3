import type { LogLine } from '#shared/rpc/methods/log-contracts.ts';
import { isAtLeast, type LogLevel } from '#shared/rpc/log-level.ts';

/** A log line with a number, and its text in lower case for searching. */
export interface LogRow extends LogLine {
  id: number;
  searchText: string;
}

interface LogFilter {
  /** Minimum level. */
  level: LogLevel;
  /** Component; empty for all. */
  component: string;
  /** A line must contain each of these words. */
  text: string;
}

export const toLogRow = (line: LogLine, id: number): LogRow => ({
  ...line,
  id,
  searchText: `${line.component} ${line.message} ${line.fields ? JSON.stringify(line.fields) : ''}`.toLowerCase(),
});

/** Filters lines. */
export function filterLogRows(lines: readonly LogRow[], { level, component, text }: LogFilter): readonly LogRow[] {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (level === 'debug' && component === '' && terms.length === 0) return lines;
  return lines.filter(
    (line) =>
      isAtLeast(line.level, level) &&
      (component === '' || line.component === component) &&
      terms.every((word) => line.searchText.includes(word)),
  );
}

/** Index of the line with this number, or of the first one after it; lines are sorted by number. */
export function findRowIndex(lines: readonly LogRow[], id: number): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle]?.id ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Formats a line of a text file; line breaks in a message are replaced, so that it cannot look like another line. */
export function formatLogText({ time, level, component, message, fields }: LogLine): string {
  const text = message.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
  return `${time} ${level.toUpperCase().padEnd(5)} ${component}: ${text}${fields ? ` ${JSON.stringify(fields)}` : ''}\n`;
}

/** Formats a line of a JSON Lines file. */
export const formatLogJson = ({ time, at, level, component, message, fields }: LogLine): string =>
  `${JSON.stringify({ time, at, level, component, message, fields })}\n`;
