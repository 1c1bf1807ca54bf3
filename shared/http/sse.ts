/** One server-sent event. Only what was sent is there; `data` has its lines joined by `\n`. */
export interface SseEvent {
  event?: string;
  data: string;
  id?: string;
}

/** Of an answer that is a stream of them. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/** Most bytes that one event may have. */
export const MAX_SSE_EVENT = 1024 * 1024;

/** An event grew past the limit; the scanner is of no use afterwards. */
export class SseTooLarge extends Error {
  override name = 'SseTooLarge';
}

const LF = 10;
const CR = 13;

/**
 * Reads server-sent events from bytes that may be cut anywhere, within a character or a CRLF too. It follows the HTML standard's
 * parser, but works on bytes: line ends never occur inside a UTF-8 sequence, so only whole lines are decoded, and the bytes held
 * are bounded by `limit` per event.
 */
export class SseScanner {
  readonly #limit: number;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** The line that has no end yet. */
  #pending = new Uint8Array(1024);
  #pendingLength = 0;
  #skipLf = false;
  #firstLine = true;
  /** Of the event so far, and of the line taken last. */
  #eventBytes = 0;
  #lineBytes = 0;
  #event: string | undefined;
  #data: string | undefined;
  #id: string | undefined;
  #ends: number[] = [];
  #boundary = 0;

  constructor(limit = MAX_SSE_EVENT) {
    this.#limit = limit;
  }

  /** Where each event that the last chunk completed ended in it: bytes from its beginning. */
  get ends(): readonly number[] {
    return this.#ends;
  }

  /** Where the last empty line ended in the last chunk; 0 where there was none. What follows belongs to an event that is not whole yet. */
  get boundary(): number {
    return this.#boundary;
  }

  /** Whether the last chunk ended where an event did, and the next may be passed over by whoever knows that it begins and ends with one. */
  get between(): boolean {
    return this.#pendingLength === 0 && this.#data === undefined && this.#eventBytes === 0 && !this.#skipLf && !this.#firstLine;
  }

  /** The events that `chunk` completes, in order. Throws `SseTooLarge`. */
  push(chunk: Uint8Array): SseEvent[] {
    const out: SseEvent[] = [];
    this.#ends = [];
    this.#boundary = 0;
    let at = 0;
    if (this.#skipLf && chunk.length > 0) {
      if (chunk[0] === LF) at = 1;
      this.#skipLf = false;
    }
    let nextLf = -2;
    let nextCr = -2;
    for (;;) {
      // Each search goes on from where it last found something, so that a chunk is walked once per kind of line end.
      if (nextLf !== -1 && nextLf < at) nextLf = chunk.indexOf(LF, at);
      if (nextCr !== -1 && nextCr < at) nextCr = chunk.indexOf(CR, at);
      const end = nextCr === -1 ? nextLf : nextLf === -1 ? nextCr : Math.min(nextLf, nextCr);
      if (end === -1) break;
      const line = this.#take(chunk.subarray(at, end));
      this.#line(line, out);
      at = end + 1;
      if (end === nextCr) {
        if (at === chunk.length) this.#skipLf = true;
        else if (chunk[at] === LF) at++;
      }
      if (line !== '') continue;
      this.#boundary = at;
      if (out.length > this.#ends.length) this.#ends.push(at);
    }
    if (at < chunk.length) this.#keep(chunk.subarray(at));
    return out;
  }

  /** What is left when the stream has ended: an event whose last empty line was never sent, as many servers end theirs. */
  end(): SseEvent[] {
    const out: SseEvent[] = [];
    if (this.#pendingLength > 0) this.#line(this.#take(new Uint8Array(0)), out);
    this.#dispatch(out);
    return out;
  }

  #keep(bytes: Uint8Array): void {
    const length = this.#pendingLength + bytes.length;
    this.#check(length);
    if (length > this.#pending.length) {
      const larger = new Uint8Array(Math.max(length, this.#pending.length * 2));
      larger.set(this.#pending.subarray(0, this.#pendingLength));
      this.#pending = larger;
    }
    this.#pending.set(bytes, this.#pendingLength);
    this.#pendingLength = length;
  }

  #take(rest: Uint8Array): string {
    let bytes = rest;
    if (this.#pendingLength > 0) {
      this.#keep(rest);
      bytes = this.#pending.subarray(0, this.#pendingLength);
      this.#pendingLength = 0;
    }
    this.#check(bytes.length);
    this.#lineBytes = bytes.length;
    const line = this.#decoder.decode(bytes);
    if (!this.#firstLine) return line;
    this.#firstLine = false;
    return line.startsWith('\uFEFF') ? line.slice(1) : line;
  }

  #check(more: number): void {
    if (this.#eventBytes + more > this.#limit) throw new SseTooLarge(`A server-sent event is larger than ${this.#limit} bytes`);
  }

  #line(line: string, out: SseEvent[]): void {
    if (line === '') {
      this.#dispatch(out);
      return;
    }
    const colon = line.indexOf(':');
    // A comment: servers send them for as long as they like to keep a connection open, so they use up nothing.
    if (colon === 0) return;
    this.#eventBytes += this.#lineBytes;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
  }

  #dispatch(out: SseEvent[]): void {
    if (this.#data !== undefined) {
      const event: SseEvent = { data: this.#data };
      if (this.#event) event.event = this.#event;
      if (this.#id !== undefined) event.id = this.#id;
      out.push(event);
    }
    this.#event = this.#data = this.#id = undefined;
    this.#eventBytes = 0;
  }
}

/** One event as it is written: each line of `data` on a line of its own. */
export function writeSse(data: string): string {
  return data.includes('\n') || data.includes('\r') ? `data: ${data.split(/\r\n|\r|\n/).join('\ndata: ')}\n\n` : `data: ${data}\n\n`;
}
