import { matchesWildcard } from '#shared/wildcard.ts';

/** Creates a predicate for tool names that match one of these patterns, one per line. */
export function toMatcher(lines: string): (name: string) => boolean {
  const patterns = lines
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return (name) => patterns.some((pattern) => matchesWildcard(pattern, name));
}

/** Appends a line unless it is already there. */
export function withLine(lines: string, line: string): string {
  const existingLines = lines.split('\n').filter((each) => each.trim() !== '');
  return existingLines.some((each) => each.trim() === line) ? lines : [...existingLines, line].join('\n');
}
