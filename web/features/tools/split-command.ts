/** Splits a command line into words as a shell does: at spaces outside quotes. Null if a quote is not closed. */
export function splitCommand(line: string): string[] | null {
  const args: string[] = [];
  const word = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']+))(\s+|$)/gy;
  const trimmed = line.trim();
  while (word.lastIndex < trimmed.length) {
    const match = word.exec(trimmed);
    if (!match) return null;
    args.push(match[1]?.replace(/\\(.)/g, '$1') ?? match[2] ?? match[3] ?? '');
  }
  return args;
}
