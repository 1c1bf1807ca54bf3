/** Whether a tool's name fits one of these patterns, one a line; `*` stands for any characters. */
export function toMatcher(lines: string): (name: string) => boolean {
  const patterns = lines
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((pattern) => new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*+/g, '.*')}$`, 's'));
  return (name) => patterns.some((pattern) => pattern.test(name));
}

/** The lines with one more at their end, unless it is there. */
export function withLine(lines: string, line: string): string {
  const own = lines.split('\n').filter((each) => each.trim() !== '');
  return own.some((each) => each.trim() === line) ? lines : [...own, line].join('\n');
}
