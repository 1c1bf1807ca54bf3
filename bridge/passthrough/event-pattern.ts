/** Strings that differ between events: text of the model, or padding. */
const VARYING_STRINGS =
  /"(content|reasoning_content|text|thinking|partial_json|obfuscation)":"(?:[ !#-[\]-\xff]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/gi;
/** The rest of a string after its opening quote, including the closing one. */
const STRING_REST = /(?:[ !#-[\]-\xff]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/iy;
/** The beginning of an event with a single data line, with an optional name. */
const DATA_LINE = /^(?:event: ?[a-z_]+\n)?data: ?(?=\{)/;
const PADDING = 'obfuscation';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const BEYOND_ASCII = 0x80;

/**
 * The constant parts of a stream's events: all bytes except a few strings. An event that matches one already recognized as part of a
 * completion needs no parsing. Texts hold bytes (`latin1`), so that offsets are the same in both.
 */
export class EventPattern {
  readonly #literals: readonly string[];
  readonly #counts: readonly boolean[];
  /** Number of characters in the last matched event. */
  chars = 0;

  private constructor(literals: readonly string[], counts: readonly boolean[]) {
    this.#literals = literals;
    this.#counts = counts;
  }

  /**
   * Creates the pattern of an event in its original form. `chars`: number of characters counted in its strings. Undefined if the event says
   * nothing about later ones.
   */
  static fromEvent(event: string, chars: number): EventPattern | undefined {
    const data = DATA_LINE.exec(event)?.[0].length;
    if (data === undefined || event.indexOf('\n', data) !== event.length - 2 || !event.endsWith('\n\n')) return undefined;
    if (event.includes('\r')) return undefined;
    const literals: string[] = [];
    const counts: boolean[] = [];
    let from = 0;
    for (const { 0: found, 1: key = '', index } of event.matchAll(VARYING_STRINGS)) {
      const inside = index + key.length + 4;
      literals.push(event.slice(from, inside));
      counts.push(key !== PADDING);
      from = index + found.length - 1;
    }
    literals.push(event.slice(from));
    const pattern = new EventPattern(literals, counts);
    return literals.length > 1 && pattern.matchEnd(event, 0) === event.length && pattern.chars === chars ? pattern : undefined;
  }

  /** Returns the end of the event at `at` if it matches, otherwise -1. */
  matchEnd(text: string, at: number): number {
    let position = at;
    let chars = 0;
    for (let index = 0; ; index++) {
      const literal = this.#literals[index] ?? '';
      // Faster than `startsWith`, which compares character by character.
      if (text.slice(position, position + literal.length) !== literal) return -1;
      position += literal.length;
      if (index === this.#counts.length) break;
      const end = findStringEnd(text, position);
      if (end === -1) return -1;
      if (this.#counts[index]) chars += countChars(text, position, end);
      position = end;
    }
    this.chars = chars;
    return position;
  }
}

/** Returns the position of a string's closing quote; -1 if the string is not valid JSON. */
function findStringEnd(text: string, from: number): number {
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code >= SPACE && code !== BACKSLASH) continue;
    STRING_REST.lastIndex = from;
    return STRING_REST.test(text) ? STRING_REST.lastIndex - 1 : -1;
  }
}

/** Counts the characters of a string in JSON and UTF-8. */
function countChars(text: string, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code < BEYOND_ASCII && code !== BACKSLASH) continue;
    const written = Buffer.from(text.slice(from, to), 'latin1').toString();
    return (JSON.parse(`"${written}"`) as string).length;
  }
  return to - from;
}
