/** Number of words per piece of streamed text, and maximum number of pieces, so that a long text does not take minutes. */
const WORDS_PER_PIECE = 3;
const MAX_PIECES = 400;

/** Splits a text into pieces of a few words, which concatenate to the text. */
export function splitPieces(text: string): string[] {
  const words = text.match(/\s*\S+|\s+$/g) ?? [];
  const size = Math.max(WORDS_PER_PIECE, Math.ceil(words.length / MAX_PIECES));
  const result: string[] = [];
  for (let index = 0; index < words.length; index += size) result.push(words.slice(index, index + size).join(''));
  return result;
}
