/** Numbers in brackets that a model wrote after a claim. */
export interface Marker {
  /** Offset in the text without markers, in UTF-16 code units. */
  at: number;
  numbers: number[];
}

interface MarkerRules {
  /** Whether a source has this number. */
  isKnown(number: number): boolean;
  /** Whether a source contains the text, so that its brackets are quoted. */
  isQuoted?(text: string): boolean;
}

/** `[3]`, `[1, 2]`, `[2-4]` and `【3】`. */
const MARKER = /\[ ?(\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,19}) ?\]|【(\d{1,4})(?:†[^】\n]{0,40})?】/y;
const MARKER_START = /^(?:\[[\d ,;–-]{0,120}|【\d{0,4}(?:†[^】\n]{0,40})?)$/;
/** Beginning of a line before its text: indentation, quotation marks and list marks. */
const LINE_START = /^[\s>]*(?:[-*+]\s+|\d{1,4}[.)]\s+)?$/;
const FENCE = /^[\s>]{0,8}(?:[-*+] +)?(`{3,}|~{3,})/;
const FENCE_START = /^[\s>]{0,8}(?:[-*+] *)?(?:`*|~*)$/;
/** A word that looks like a name in code: `max_items`, `itemList`, `$args`. */
const CODE_WORD = /(?:[_$][\p{L}\p{N}_$]*|\p{Ll}\p{Lu}[\p{L}\p{N}]*)$/u;
/** Words before a list of numbers that is not a reference. */
const LIST_WORD =
  /(?:\b(?:array|list|vector|tuple|interval|range|set|matrix|values|indices|liste|vektor|intervall|menge|tableau|lista)|[=∈(,])\s*$/i;
/** Number of characters before a marker that are looked up in the sources. */
const QUOTED_CHARS = 16;
const MAX_CONTEXT_CHARS = 200;

const CLOSING_QUOTES: Readonly<Record<string, string>> = { '“': '”', '„': '“', '«': '»' };

/**
 * Removes reference markers from a text that arrives in pieces. Brackets that are no reference stay: in code, links, footnotes, quotations,
 * and lists of numbers.
 */
export class MarkerFilter {
  readonly markers: Marker[] = [];
  /** Length of the text without markers so far. */
  length = 0;
  readonly #rules: MarkerRules;
  /** Text that cannot be decided yet. */
  #pending = '';
  /** The text without markers since the start of the line, its last characters if it is long. */
  #line = '';
  #fence = '';
  /** Length of the run of backticks that opened inline code, or 0. */
  #codeTicks = 0;
  /** Mark that closes the current quotation. */
  #closingQuote = '';
  #followsMarker = false;

  constructor(rules: MarkerRules) {
    this.#rules = rules;
  }

  /** Adds a piece. Returns the text without markers that is certain now. */
  push(piece: string): string {
    this.#pending += piece;
    return this.#read(false);
  }

  /** Returns the rest. */
  end(): string {
    return this.#read(true);
  }

  #read(isLast: boolean): string {
    const text = this.#pending;
    let visible = '';
    let index = 0;
    const copy = (length: number): void => {
      const piece = text.slice(index, index + length);
      visible += piece;
      this.length += piece.length;
      const newline = piece.lastIndexOf('\n');
      this.#line = (newline === -1 ? this.#line + piece : piece.slice(newline + 1)).slice(-MAX_CONTEXT_CHARS);
      this.#followsMarker = false;
      index += length;
    };
    while (index < text.length) {
      const rest = text.length - index;
      if (text[index] === '\n') {
        copy(1);
        this.#codeTicks = 0;
        this.#closingQuote = '';
        continue;
      }
      if (this.#line === '') {
        const end = text.indexOf('\n', index);
        const line = text.slice(index, end === -1 ? undefined : end);
        if (end === -1 && !isLast && FENCE_START.test(line)) break;
        const [, mark = ''] = FENCE.exec(line) ?? [];
        if (mark !== '' && (this.#fence === '' || mark.startsWith(this.#fence))) {
          this.#fence = this.#fence === '' ? mark : '';
          copy(line.length);
          continue;
        }
      }
      if (this.#fence !== '') {
        const end = text.indexOf('\n', index);
        copy(end === -1 ? rest : end - index);
        continue;
      }
      const char = text[index] ?? '';
      if (char === '`') {
        const [ticks = '`'] = /^`+/.exec(text.slice(index)) ?? [];
        if (ticks.length === rest && !isLast) break;
        if (this.#codeTicks === 0) this.#codeTicks = ticks.length;
        else if (this.#codeTicks === ticks.length) this.#codeTicks = 0;
        copy(ticks.length);
        continue;
      }
      if (char === ' ' || char === '\t') {
        const [spaces = ' '] = /^[ \t]+/.exec(text.slice(index)) ?? [];
        if (spaces.length === rest && !isLast) break;
        const next = text[index + spaces.length];
        if (next !== '[' && next !== '【') {
          copy(spaces.length);
          continue;
        }
        const step = this.#readMarker(text, index + spaces.length, isLast, spaces);
        if (step === 'wait') break;
        if (step === undefined) copy(spaces.length + 1);
        else index = step;
        continue;
      }
      if (char === '[' || char === '【') {
        const step = this.#readMarker(text, index, isLast, '');
        if (step === 'wait') break;
        if (step === undefined) copy(1);
        else index = step;
        continue;
      }
      if (this.#codeTicks === 0) this.#trackQuotes(char);
      const [run = ''] = /^[^\n`[【 \t"“”„«»]+/.exec(text.slice(index)) ?? [];
      copy(Math.max(1, run.length));
    }
    this.#pending = text.slice(index);
    return visible;
  }

  #trackQuotes(char: string): void {
    if (this.#closingQuote !== '') {
      if (char === this.#closingQuote) this.#closingQuote = '';
    } else if (char === '"') this.#closingQuote = '"';
    else this.#closingQuote = CLOSING_QUOTES[char] ?? '';
  }

  /** Returns the index after a marker, undefined if there is none, or `wait` if more text is needed. */
  #readMarker(text: string, at: number, isLast: boolean, spaces: string): number | 'wait' | undefined {
    MARKER.lastIndex = at;
    const match = MARKER.exec(text);
    if (!match) return !isLast && MARKER_START.test(text.slice(at)) ? 'wait' : undefined;
    const end = at + match[0].length;
    const after = text.slice(end, end + 2);
    if (after.length < 2 && !after.includes('\n') && !isLast) return 'wait';
    const numbers = parseNumbers(match[1] ?? match[2] ?? '');
    if (!this.#isReference(match[0], numbers, after, spaces)) return undefined;
    const last = this.markers.at(-1);
    if (last?.at === this.length) last.numbers.push(...numbers);
    else this.markers.push({ at: this.length, numbers });
    this.#followsMarker = true;
    return end;
  }

  #isReference(marker: string, numbers: readonly number[], after: string, spaces: string): boolean {
    if (numbers.length === 0 || !numbers.every((number) => this.#rules.isKnown(number))) return false;
    if (this.#codeTicks > 0 || this.#closingQuote !== '') return false;
    const before = this.#line;
    if (LINE_START.test(before + spaces) && !this.#followsMarker) return false;
    if (/^(?:[(=\p{L}\p{N}]|\.[\p{Ll}\p{N}])/u.test(after)) return false;
    if (spaces === '' && !this.#followsMarker && (/[\]\\]$/.test(before) || CODE_WORD.test(before))) return false;
    if (/[=∈]\s*$/.test(before) || (numbers.length > 1 && LIST_WORD.test(before))) return false;
    return !this.#rules.isQuoted?.(`${before.slice(-QUOTED_CHARS)}${spaces}${marker}`);
  }
}

/** The numbers of `1, 3-5`. */
function parseNumbers(list: string): number[] {
  return list.split(/[,;]/).flatMap((part) => {
    const [from = 0, to = from] = part.split(/[–-]/).map(Number);
    return to < from || to - from > 20 ? [] : Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

/** The text without reference markers, and the markers. */
export function stripMarkers(text: string, rules: MarkerRules): { text: string; markers: Marker[] } {
  const filter = new MarkerFilter(rules);
  const visible = filter.push(text) + filter.end();
  return { text: visible, markers: filter.markers };
}
