/** Replaces code in Markdown by blanks of the same length: links and markers in code do not count. */
export function maskCode(markdown: string): string {
  let fence: string | undefined;
  return markdown
    .split('\n')
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (fence !== undefined) {
        const closes = mark?.[0] === fence[0] && mark !== undefined && mark.length >= fence.length && line.trim() === mark;
        if (closes) fence = undefined;
        return ' '.repeat(line.length);
      }
      if (mark !== undefined && !(mark.startsWith('`') && line.slice(line.indexOf(mark) + mark.length).includes('`'))) {
        fence = mark;
        return ' '.repeat(line.length);
      }
      return maskCodeSpans(line);
    })
    .join('\n');
}

/** A run of backticks is closed by the next run of the same length. */
function maskCodeSpans(line: string): string {
  if (!line.includes('`')) return line;
  const runs = [...line.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({ length, index }));
  const closing = new Map<number, number>();
  // Last to first, so that the next run of the same length is known.
  const next = runs.map(() => -1);
  for (let runIndex = runs.length - 1; runIndex >= 0; runIndex--) {
    const { length = 0, index = 0 } = runs[runIndex] ?? {};
    next[runIndex] = closing.get(length) ?? -1;
    closing.set(length, index);
  }
  let [text, end] = ['', 0];
  for (const [runIndex, { length, index }] of runs.entries()) {
    const close = next[runIndex] ?? -1;
    if (index < end || close < 0) continue;
    text += line.slice(end, index) + ' '.repeat(close + length - index);
    end = close + length;
  }
  return text + line.slice(end);
}
