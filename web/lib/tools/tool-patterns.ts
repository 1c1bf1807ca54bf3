import { matchesWildcard } from '#shared/wildcard.ts';

/** Creates a test whether a tool's name matches one of these patterns, one a line. */
export function toMatcher(lines: string): (name: string) => boolean {
  const patterns = lines
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return (name) => patterns.some((pattern) => matchesWildcard(pattern, name));
}

/** Appends a line unless it is already there. */
export function withLine(lines: string, line: string): string {
  const own = lines.split('\n').filter((each) => each.trim() !== '');
  return own.some((each) => each.trim() === line) ? lines : [...own, line].join('\n');
}
