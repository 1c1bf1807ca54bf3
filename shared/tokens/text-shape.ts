/** Traits of a text that determine its token count, whatever the tokenizer: the amount of each kind. */
export const TRAITS = [
  /** Words of Latin letters; a capital behind a small letter begins another one. */
  'words',
  /** Letters of such words behind the fifth. */
  'long',
  /** Latin letters beyond ASCII. */
  'accented',
  'digits',
  /** Groups of up to three digits, from the left. */
  'triples',
  /** Signs of ASCII. */
  'signs',
  /** Runs of signs. */
  'signRuns',
  /** Runs of line breaks and spaces. */
  'gaps',
  'han',
  'kana',
  'hangul',
  'cyrillic',
  /** Letters of scripts that tokenizers have seen less of: Armenian, Georgian, Hebrew, and those of India and South-East Asia. */
  'rare',
  /** Letters of other scripts: Greek, Arabic. */
  'others',
  /** All else: typographic signs, symbols, emoji (two each). */
  'symbols',
] as const;
export type Trait = (typeof TRAITS)[number];
export type TextShape = Record<Trait, number>;

const LETTER = 1;
const CAPITAL = 2;
const DIGIT = 3;
const SPACE = 4;
const SIGN = 5;
const ACCENTED = 6;
const HAN = 7;
const KANA = 8;
const HANGUL = 9;
const CYRILLIC = 10;
const RARE = 11;
const OTHER = 12;
const SYMBOL = 13;

/** Kind of each UTF-16 unit. */
const CHAR_KINDS = new Uint8Array(0x10000).fill(SYMBOL);
const setKind = (kind: number, ...ranges: readonly (readonly [from: number, to: number])[]): void => {
  for (const [from, to] of ranges) CHAR_KINDS.fill(kind, from, to + 1);
};
setKind(SIGN, [0x21, 0x7e]);
setKind(SPACE, [0, 0x20], [0x7f, 0xa0], [0x2028, 0x2029], [0x3000, 0x3000]);
setKind(DIGIT, [0x30, 0x39]);
setKind(LETTER, [0x61, 0x7a]);
setKind(CAPITAL, [0x41, 0x5a]);
setKind(ACCENTED, [0xc0, 0xd6], [0xd8, 0xf6], [0xf8, 0x24f], [0x1e00, 0x1eff]);
setKind(OTHER, [0x250, 0x10ff], [0x1200, 0x1dff], [0x1f00, 0x1fff], [0xa000, 0xabff], [0xfb00, 0xfdff], [0xfe70, 0xfefc]);
setKind(CYRILLIC, [0x400, 0x52f], [0x1c80, 0x1c8f], [0x2de0, 0x2dff], [0xa640, 0xa69f]);
setKind(RARE, [0x530, 0x5ff], [0x780, 0x10ff], [0x1200, 0x1c4f], [0xa840, 0xabff]);
setKind(KANA, [0x3040, 0x30ff], [0xff66, 0xff9d]);
setKind(HAN, [0x3400, 0x4dbf], [0x4e00, 0x9fff], [0xf900, 0xfaff]);
setKind(HANGUL, [0x1100, 0x11ff], [0x3130, 0x318f], [0xac00, 0xd7af]);

/** Letters of a word that are in its first token. */
const MAX_FIRST_TOKEN_LETTERS = 5;

/** Computes a text's traits in one pass: a megabyte takes some milliseconds. */
export function computeTextShape(text: string): TextShape {
  const shape: TextShape = {
    ...{ words: 0, long: 0, accented: 0, digits: 0, triples: 0, signs: 0, signRuns: 0 },
    ...{ gaps: 0, han: 0, kana: 0, hangul: 0, cyrillic: 0, rare: 0, others: 0, symbols: 0 },
  };
  let before = SPACE;
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const kind = CHAR_KINDS[text.charCodeAt(at)] ?? SYMBOL;
    if (kind === LETTER || kind === CAPITAL || kind === ACCENTED) {
      const continuesWord = before === LETTER || before === ACCENTED ? kind !== CAPITAL : before === CAPITAL;
      if (!continuesWord) {
        shape.words++;
        length = 0;
      }
      if (++length > MAX_FIRST_TOKEN_LETTERS) shape.long++;
      if (kind === ACCENTED) shape.accented++;
    } else if (kind === SPACE) {
      // One space belongs to the word after it.
      if (text.charCodeAt(at) !== 0x20 ? before !== SPACE || at === 0 : before === SPACE && text.charCodeAt(at - 2) !== 0x20) shape.gaps++;
    } else if (kind === DIGIT) {
      shape.digits++;
      length = before === DIGIT ? length + 1 : 1;
      if (length % 3 === 1) shape.triples++;
    } else if (kind === SIGN) {
      shape.signs++;
      if (before !== SIGN) shape.signRuns++;
    } else if (kind === HAN) shape.han++;
    else if (kind === KANA) shape.kana++;
    else if (kind === HANGUL) shape.hangul++;
    else if (kind === CYRILLIC) shape.cyrillic++;
    else if (kind === RARE) shape.rare++;
    else if (kind === OTHER) shape.others++;
    else shape.symbols++;
    before = kind;
  }
  return shape;
}
