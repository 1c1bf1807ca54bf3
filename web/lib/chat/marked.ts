/** A text in pieces, of which those that were looked for are marked. `spans`: from and to, in order. */
export function marked(text: string, spans: readonly (readonly [start: number, end: number])[]): { text: string; mark: boolean }[] {
  const pieces: { text: string; mark: boolean }[] = [];
  let at = 0;
  for (const [start, end] of spans) {
    if (start > at) pieces.push({ text: text.slice(at, start), mark: false });
    pieces.push({ text: text.slice(start, end), mark: true });
    at = end;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), mark: false });
  return pieces;
}
