/** The rows of a CSV text (RFC 4180). */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endRow = (): void => {
    row.push(cell);
    if (row.length > 1 || cell !== '') rows.push(row);
    [row, cell] = [[], ''];
  };
  const source = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  for (let at = 0; at < source.length; at++) {
    const char = source.charAt(at);
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (source.charAt(at + 1) === '"') cell += source.charAt(++at);
      else isQuoted = false;
    } else if (char === '"' && cell === '') isQuoted = true;
    else if (char === ',') [row, cell] = [[...row, cell], ''];
    else if (char === '\n') endRow();
    else cell += char;
  }
  endRow();
  return rows;
}
