interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'skipped';
  /** The line; for `skipped` the number of unchanged lines. */
  text: string;
}

/** Unchanged lines that are shown before and after a change. */
const CONTEXT_LINES = 3;
/** Above this many comparisons all lines between the first and last change count as changed. */
const MAX_COMPARISONS = 4_000_000;

/** The lines of a text with additions and removals relative to another one; long unchanged parts are skipped. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [oldLines, newLines] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < oldLines.length && start < newLines.length && oldLines[start] === newLines[start]) start++;
  let end = 0;
  while (end < oldLines.length - start && end < newLines.length - start && oldLines.at(-1 - end) === newLines.at(-1 - end)) end++;
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  const lines = [
    ...same(newLines.slice(0, start)),
    ...diffMiddle(oldLines.slice(start, oldLines.length - end), newLines.slice(start, newLines.length - end)),
    ...same(newLines.slice(newLines.length - end)),
  ];
  return skipUnchanged(lines);
}

/** Compares lines by their longest common subsequence. */
function diffMiddle(oldLines: string[], newLines: string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text });
  const added = (text: string): DiffLine => ({ kind: 'added', text });
  if (oldLines.length * newLines.length > MAX_COMPARISONS) return [...oldLines.map(removed), ...newLines.map(added)];
  const width = newLines.length + 1;
  const lengths = new Uint32Array((oldLines.length + 1) * width);
  const getLength = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = oldLines.length - 1; row >= 0; row--)
    for (let column = newLines.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        oldLines[row] === newLines[column]
          ? getLength(row + 1, column + 1) + 1
          : Math.max(getLength(row + 1, column), getLength(row, column + 1));
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < oldLines.length || column < newLines.length) {
    const [oldLine = '', newLine = ''] = [oldLines[row], newLines[column]];
    if (row < oldLines.length && column < newLines.length && oldLine === newLine) {
      lines.push({ kind: 'same', text: newLine });
      row++;
      column++;
    } else if (column >= newLines.length || (row < oldLines.length && getLength(row + 1, column) >= getLength(row, column + 1))) {
      lines.push(removed(oldLine));
      row++;
    } else {
      lines.push(added(newLine));
      column++;
    }
  }
  return lines;
}

function skipUnchanged(lines: DiffLine[]): DiffLine[] {
  const isNearChange = (index: number): boolean =>
    lines.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1).some(({ kind }) => kind === 'added' || kind === 'removed');
  const result: DiffLine[] = [];
  let skipped = 0;
  const flushSkipped = (): void => {
    if (skipped > 0) result.push({ kind: 'skipped', text: String(skipped) });
    skipped = 0;
  };
  for (const [index, line] of lines.entries()) {
    if (!isNearChange(index)) {
      skipped++;
      continue;
    }
    flushSkipped();
    result.push(line);
  }
  flushSkipped();
  return result;
}
