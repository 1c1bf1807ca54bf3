/** Splits a command line into words as a shell does: at spaces outside quotes. Null if a quote is not closed. */
export function wordsOf(line: string): string[] | null {
  const words: string[] = [];
  const word = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']+))(\s+|$)/gy;
  const trimmed = line.trim();
  while (word.lastIndex < trimmed.length) {
    const found = word.exec(trimmed);
    if (!found) return null;
    words.push(found[1]?.replace(/\\(.)/g, '$1') ?? found[2] ?? found[3] ?? '');
  }
  return words;
}
