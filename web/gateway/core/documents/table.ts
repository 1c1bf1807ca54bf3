/** A Markdown table; the first row is its head. Rows may be of different lengths. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const width = Math.max(0, ...rows.map((row) => row.length));
  const [head, ...body] = rows;
  if (!head || width === 0) return '';
  const line = (cells: readonly string[]): string =>
    `| ${Array.from({ length: width }, (_, column) => cellText(cells[column] ?? '')).join(' | ')} |`;
  return [line(head), `|${' --- |'.repeat(width)}`, ...body.map(line)].join('\n');
}

const cellText = (text: string): string =>
  text
    .trim()
    .replaceAll('\\', '\\\\')
    .replaceAll('|', '\\|')
    .replace(/\s*\n\s*/g, '<br>');
