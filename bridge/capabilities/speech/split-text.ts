const SPLIT_LEVELS = ['sentence', 'word', 'grapheme'] as const;

/** Splits a text into pieces of at most `maxBytes` bytes (at least four), preferably between sentences, then words, then characters. */
export function splitText(text: string, maxBytes: number): string[] {
  const done: string[] = [];
  let piece = '';
  const fits = (next: string): boolean => Buffer.byteLength(piece + next) <= maxBytes;
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
    for (const smaller of splitAtLevel(part, level)) add(smaller, level + 1);
  };
  for (const sentence of splitAtLevel(text, 0)) add(sentence, 1);
  return [...done, piece].map((each) => each.trim()).filter((each) => each !== '');
}

/** A grapheme longer than a piece is split into code points. */
function splitAtLevel(text: string, level: number): Iterable<string> {
  const granularity = SPLIT_LEVELS[level];
  return granularity ? [...new Intl.Segmenter(undefined, { granularity }).segment(text)].map(({ segment }) => segment) : text;
}
