/** A run of letters, digits and marks. */
export const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/**
 * Scripts without spaces between words, indexed as pairs of characters, which serves search better than a dictionary. Script extensions
 * include the long-vowel mark.
 */
export const PAIRED = /[\p{Script=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}]/u;
export const PAIRED_RUN =
  /[\p{Script=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}]+|[^\p{Script=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}]+/gu;
/** Scripts without spaces whose words are too long for pairs; they are segmented. */
export const SEGMENTED = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const segmenter = new Intl.Segmenter('th', { granularity: 'word' });

/** The words of a text in such a script, with their positions. */
export const segmentWords = (text: string): Intl.SegmentData[] => [...segmenter.segment(text)].filter((part) => part.isWordLike);
