/** A row of the table: a measured figure with its baseline and limit. */
export interface Figure {
  what: string;
  /** `ms`, `/s`, `KB`, `MB`, … */
  unit: string;
  ours: number;
  /** Cost of the same operation without Perch, or of a peer, in the same run. */
  floor?: { name: string; value: number };
  /** Perch's figure divided by the baseline's. Measured in pairs, so not always the quotient of the two figures. */
  ratio?: number;
  /** The promised limit (docs/promises.md), and whether this run met it. */
  bar?: { text: string; met: boolean };
}

/** A bar with its verdict. */
export const toMaxBar = (value: number, limit: number, unit: string): Figure['bar'] => ({
  text: `≤ ${limit} ${unit}`.trimEnd(),
  met: value <= limit,
});
export const toMinBar = (value: number, limit: number, unit: string): Figure['bar'] => ({
  text: `≥ ${limit} ${unit}`.trimEnd(),
  met: value >= limit,
});

const HEADINGS = ['figure', 'perch', 'floor', 'ratio', 'bar', ''];

/** Formats the figures as a table for a terminal. */
export function formatTable(figures: readonly Figure[]): string {
  const rows = [HEADINGS, ...figures.map(formatRow)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? '').length)));
  const lines = rows.map((cells) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  '),
  );
  return [lines[0], widths.map((width) => '─'.repeat(width)).join('  '), ...lines.slice(1)].map((line) => line?.trimEnd()).join('\n');
}

function formatRow({ what, unit, ours, floor, ratio, bar }: Figure): string[] {
  return [
    what,
    `${formatNumber(ours)} ${unit}`,
    floor === undefined ? '' : `${floor.name} ${formatNumber(floor.value)}`,
    ratio === undefined ? '' : `× ${ratio.toFixed(2)}`,
    bar?.text ?? '',
    bar === undefined ? '' : bar.met ? 'ok' : 'misses',
  ];
}

function formatNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
