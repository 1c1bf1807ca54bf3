/** Maximum number of characters of one value, such as one chat of a list. */
const MAX_VALUE_CHARS = 256 * 1024 * 1024;

/** A value exceeds the maximum size. */
export class ValueTooLarge extends Error {
  override readonly name = 'ValueTooLarge';
}

/** The bytes are not UTF-8. */
export class NotUtf8 extends Error {
  override readonly name = 'NotUtf8';
}

const CHAR_CODES = { quote: 34, comma: 44, open: 91, close: 93, openObject: 123, closeObject: 125 } as const;
const NON_SPACE = /\S/;

/**
 * Reads JSON from a stream of UTF-8. Passes each element of a list to `onValue` as soon as it is complete, so that a long list is never in memory as text.
 * Returns null if the text is a list; all other text is returned whole. Throws a `SyntaxError` if a list is malformed or cut short, `NotUtf8` if the bytes are something else.
 */
export async function readValues(bytes: ReadableStream<Uint8Array>, onValue: (value: unknown) => void): Promise<string | null> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const otherText: string[] = [];
  let otherChars = 0;
  let elements: ElementSplitter | undefined;
  let hasStarted = false;
  const read = (chunk: string): void => {
    let text = chunk;
    if (!hasStarted) {
      const from = text.search(NON_SPACE);
      if (from < 0) return;
      hasStarted = true;
      if (text.charCodeAt(from) === CHAR_CODES.open) {
        elements = new ElementSplitter(onValue);
        text = text.slice(from + 1);
      }
    }
    if (elements) return elements.read(text);
    otherChars += text.length;
    if (otherChars > MAX_VALUE_CHARS) throw new ValueTooLarge();
    otherText.push(text);
  };
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (error) {
      throw new NotUtf8('The text is not UTF-8', { cause: error });
    }
  };
  for await (const chunk of readChunks(bytes)) read(decode(chunk));
  read(decode());
  elements?.end();
  return elements ? null : otherText.join('');
}

async function* readChunks(bytes: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = bytes.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

const toEnd = (index: number): number => (index < 0 ? Infinity : index);

/** Cuts the text after the opening bracket of a list into its elements. */
class ElementSplitter {
  readonly #onValue: (value: unknown) => void;
  #parts: string[] = [];
  #chars = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isClosed = false;
  #count = 0;

  constructor(onValue: (value: unknown) => void) {
    this.#onValue = onValue;
  }

  read(text: string): void {
    let from = 0;
    let backslash = -1;
    for (let at = 0; at < text.length; at++) {
      if (this.#isInString) {
        if (this.#isEscaped) {
          this.#isEscaped = false;
          continue;
        }
        // Most of the text is in strings, so search for their ends instead of scanning each character.
        if (backslash < at) backslash = toEnd(text.indexOf('\\', at));
        const quote = toEnd(text.indexOf('"', at));
        if (backslash < quote) this.#isEscaped = true;
        else if (quote < Infinity) this.#isInString = false;
        at = Math.min(backslash, quote);
        continue;
      }
      const code = text.charCodeAt(at);
      if (code === CHAR_CODES.quote) this.#isInString = true;
      else if (code === CHAR_CODES.open || code === CHAR_CODES.openObject) this.#depth++;
      else if (code === CHAR_CODES.closeObject || (code === CHAR_CODES.close && this.#depth > 0)) this.#depth--;
      else if (this.#depth === 0 && (code === CHAR_CODES.comma || code === CHAR_CODES.close)) {
        if (this.#isClosed) throw new SyntaxError('Text after the end of the list');
        this.#add(text.slice(from, at));
        this.#flush(code === CHAR_CODES.close);
        from = at + 1;
      }
    }
    this.#add(text.slice(from));
  }

  end(): void {
    if (!this.#isClosed || NON_SPACE.test(this.#parts.join(''))) throw new SyntaxError('The list is incomplete');
  }

  #add(text: string): void {
    if (text === '') return;
    this.#chars += text.length;
    if (this.#chars > MAX_VALUE_CHARS) throw new ValueTooLarge();
    this.#parts.push(text);
  }

  #flush(isLast: boolean): void {
    const text = this.#parts.join('');
    [this.#parts, this.#chars] = [[], 0];
    this.#isClosed = isLast;
    // An empty list has no elements.
    if (isLast && this.#count === 0 && !NON_SPACE.test(text)) return;
    this.#count++;
    this.#onValue(JSON.parse(text) as unknown);
  }
}
