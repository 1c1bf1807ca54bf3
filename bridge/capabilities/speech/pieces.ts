const LEVELS = ['sentence', 'word', 'grapheme'] as const;

/** The text in pieces of at most so many bytes (four at the least), cut between sentences where that can be, else words, else characters. */
export function pieces(text: string, maxBytes: number): string[] {
  const done: string[] = [];
  let piece = '';
  const fits = (more: string): boolean => Buffer.byteLength(piece + more) <= maxBytes;
  const add = (part: string, level: number): void => {
    if (fits(part)) {
      piece += part;
      return;
    }
    if (Buffer.byteLength(part) <= maxBytes) {
      done.push(piece);
      piece = part;
      return;
    }
    for (const smaller of cut(part, level)) add(smaller, level + 1);
  };
  for (const sentence of cut(text, 0)) add(sentence, 1);
  return [...done, piece].map((each) => each.trim()).filter((each) => each !== '');
}

/** What is longer than a piece as one character is cut into its code points. */
function cut(text: string, level: number): Iterable<string> {
  const granularity = LEVELS[level];
  return granularity ? [...new Intl.Segmenter(undefined, { granularity }).segment(text)].map(({ segment }) => segment) : text;
}
