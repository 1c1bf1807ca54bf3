/** A piece of text as a page's program draws it; lengths in points, `y` upwards. */
export interface PdfPiece {
  text: string;
  x: number;
  y: number;
  width: number;
  height: number;
  endsLine: boolean;
}

interface Line {
  pieces: PdfPiece[];
  left: number;
  right: number;
  y: number;
  height: number;
}

/**
 * The text of a page. Pages are drawn in reading order as a rule, column by column too; one that is not, as its lines jump up again and again, is
 * put in order from the top.
 */
export function pageText(pieces: readonly PdfPiece[]): string {
  let lines = linesOf(pieces);
  if (isDisordered(lines)) lines = linesOf(fromTop(lines));
  let text = '';
  let before: Line | undefined;
  for (const line of lines) {
    const words = wordsOf(line);
    if (words === '') continue;
    const apart = before !== undefined && Math.abs(before.y - line.y) > 1.9 * Math.max(before.height, line.height, 1);
    text += text === '' ? words : `${apart ? '\n\n' : '\n'}${words}`;
    before = line;
  }
  return text;
}

function linesOf(pieces: readonly PdfPiece[]): Line[] {
  const lines: Line[] = [];
  let line: Line | undefined;
  for (const piece of pieces) {
    if (piece.text.trim() === '' && !piece.endsLine) {
      if (line && piece.text !== '') line.pieces.push(piece);
      continue;
    }
    const same = line && Math.abs(piece.y - line.y) <= 0.5 * Math.max(line.height, piece.height, 1);
    if (!line || !same) lines.push((line = { pieces: [], left: piece.x, right: piece.x, y: piece.y, height: piece.height }));
    if (piece.text !== '') line.pieces.push(piece);
    line.left = Math.min(line.left, piece.x);
    line.right = Math.max(line.right, piece.x + piece.width);
    line.height = Math.max(line.height, piece.height);
  }
  return lines.filter(({ pieces: [first] }) => first);
}

/** More than a fifth of the lines stand above the one before them, in the same column. */
function isDisordered(lines: readonly Line[]): boolean {
  let jumps = 0;
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1];
    if (before && line.y > before.y + line.height && line.left < before.right && before.left < line.right) jumps++;
  }
  return jumps > 0 && jumps * 5 > lines.length - 1;
}

function fromTop(lines: readonly Line[]): PdfPiece[] {
  const pieces = lines.flatMap((line) => line.pieces).filter(({ text }) => text.trim() !== '');
  return linesOf(pieces.sort((a, b) => b.y - a.y)).flatMap((line) => line.pieces.sort((a, b) => a.x - b.x));
}

/** Its words: a gap is a space, a wide one a tab. Kept in parts, as a line may have very many pieces. */
function wordsOf({ pieces, height }: Line): string {
  const parts: string[] = [];
  let end: number | undefined;
  for (const { text, x, width } of pieces) {
    const gap = end === undefined ? 0 : x - end;
    if (gap > 2 * height) {
      while (parts.at(-1)?.trim() === '') parts.pop();
      parts.push(parts.pop()?.trimEnd() ?? '', '\t');
    } else if (gap > 0.15 * height && !/\s$/.test(parts.at(-1) ?? '') && !/^\s/.test(text)) parts.push(' ');
    if (text !== '') parts.push(text);
    if (text.trim() !== '') end = x + width;
  }
  return parts.join('').trim();
}
