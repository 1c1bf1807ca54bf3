export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'skipped';
  /** Of `skipped`: the number of unchanged lines. */
  text: string;
}

/** Unchanged lines that are shown before and after a change. */
const CONTEXT_LINES = 3;
/** Above this many comparisons all lines between the first and last change count as changed. */
const MAX_COMPARISONS = 4_000_000;

/** The lines of a text with additions and removals relative to another one; long unchanged parts are skipped. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  const lines = [
    ...same(now.slice(0, start)),
    ...diffMiddle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...same(now.slice(now.length - end)),
  ];
  return skipUnchanged(lines);
}

/** By the longest common subsequence. */
function diffMiddle(old: string[], now: string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text });
  const added = (text: string): DiffLine => ({ kind: 'added', text });
  if (old.length * now.length > MAX_COMPARISONS) return [...old.map(removed), ...now.map(added)];
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--)
    for (let column = now.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    const [was = '', is = ''] = [old[row], now[column]];
    if (row < old.length && column < now.length && was === is) {
      lines.push({ kind: 'same', text: is });
      row++;
      column++;
    } else if (column >= now.length || (row < old.length && at(row + 1, column) >= at(row, column + 1))) {
      lines.push(removed(was));
      row++;
    } else {
      lines.push(added(is));
      column++;
    }
  }
  return lines;
}

function skipUnchanged(lines: DiffLine[]): DiffLine[] {
  const near = (index: number): boolean =>
    lines.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1).some(({ kind }) => kind === 'added' || kind === 'removed');
  const result: DiffLine[] = [];
  let skipped = 0;
  const close = (): void => {
    if (skipped > 0) result.push({ kind: 'skipped', text: String(skipped) });
    skipped = 0;
  };
  for (const [index, line] of lines.entries()) {
    if (!near(index)) {
      skipped++;
      continue;
    }
    close();
    result.push(line);
  }
  close();
  return result;
}
