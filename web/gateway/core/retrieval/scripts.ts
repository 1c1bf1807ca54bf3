/** A word, as far as letters go. */
export const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** By script extensions where the long-vowel mark counts. Written without spaces between words; pairs of neighbours serve search better than a dictionary's guess. */
export const PAIRED = /[\p{Script=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}]/u;
export const PAIRED_RUN =
  /[\p{Script=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}]+|[^\p{Script=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}]+/gu;
/** Likewise, but with words too long for pairs: these are segmented. */
export const SEGMENTED = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const segmenter = new Intl.Segmenter('th', { granularity: 'word' });

/** The words of such a text, and where they begin. */
export const segments = (text: string): Intl.SegmentData[] => [...segmenter.segment(text)].filter((part) => part.isWordLike);
