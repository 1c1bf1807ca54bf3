/** Strings that differ from piece to piece, and what they come to: characters that the model has written, or padding. */
const VARYING =
  /"(content|reasoning_content|text|thinking|partial_json|obfuscation)":"(?:[ !#-[\]-\xff]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/gi;
/** One string's inside and its quote. */
const INSIDE = /(?:[ !#-[\]-\xff]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/iy;
/** The beginning of an event's only line of data, behind its name. */
const DATA = /^(?:event: ?[a-z_]+\n)?data: ?(?=\{)/;
const PADDING = 'obfuscation';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const BEYOND_ASCII = 0x80;

/**
 * What the events of a stream have in common: all their bytes but a few strings. One that is like another which was found to be a piece of a completion is such a piece
 * too, and is not parsed. Texts are of bytes (`latin1`), so that a place in them is one in the bytes.
 */
export class EventPattern {
  readonly #literals: readonly string[];
  readonly #counts: readonly boolean[];
  /** Of the event that was passed over last. */
  chars = 0;

  private constructor(literals: readonly string[], counts: readonly boolean[]) {
    this.#literals = literals;
    this.#counts = counts;
  }

  /** Of an event as it was written, of whose strings `chars` characters count; undefined where it does not tell how the next ones will look. */
  static of(event: string, chars: number): EventPattern | undefined {
    const data = DATA.exec(event)?.[0].length;
    if (data === undefined || event.indexOf('\n', data) !== event.length - 2 || !event.endsWith('\n\n')) return undefined;
    if (event.includes('\r')) return undefined;
    const literals: string[] = [];
    const counts: boolean[] = [];
    let from = 0;
    for (const { 0: found, 1: key = '', index } of event.matchAll(VARYING)) {
      const inside = index + key.length + 4;
      literals.push(event.slice(from, inside));
      counts.push(key !== PADDING);
      from = index + found.length - 1;
    }
    literals.push(event.slice(from));
    const pattern = new EventPattern(literals, counts);
    return literals.length > 1 && pattern.end(event, 0) === event.length && pattern.chars === chars ? pattern : undefined;
  }

  /** Where an event that begins at `at` ends, if it is like the others; otherwise -1. */
  end(text: string, at: number): number {
    let place = at;
    let chars = 0;
    for (let index = 0; ; index++) {
      const literal = this.#literals[index] ?? '';
      // Quicker than `startsWith`, which compares one character after the other.
      if (text.slice(place, place + literal.length) !== literal) return -1;
      place += literal.length;
      if (index === this.#counts.length) break;
      const end = endOfString(text, place);
      if (end === -1) return -1;
      if (this.#counts[index]) chars += charsIn(text, place, end);
      place = end;
    }
    this.chars = chars;
    return place;
  }
}

/** Where the quote behind the inside of a string is; -1 where that is not written as JSON has it. */
function endOfString(text: string, from: number): number {
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code >= SPACE && code !== BACKSLASH) continue;
    INSIDE.lastIndex = from;
    return INSIDE.test(text) ? INSIDE.lastIndex - 1 : -1;
  }
}

/** Characters of a string, written in JSON and UTF-8. */
function charsIn(text: string, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code < BEYOND_ASCII && code !== BACKSLASH) continue;
    const written = Buffer.from(text.slice(from, to), 'latin1').toString();
    return (JSON.parse(`"${written}"`) as string).length;
  }
  return to - from;
}
