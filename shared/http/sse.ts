import { SseOverload, SseTooLarge } from './sse-errors.ts';

/** One server-sent event. Contains only the fields that were sent; `data` has its lines joined by `\n`. */
export interface SseEvent {
  event?: string;
  data: string;
  id?: string;
}

/** Response headers of an event stream. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/** Whether the data is the last event of a chat completion. */
export const isDone = (data: string): boolean => /^\s*\[done\]\s*$/i.test(data);

/** Whether the data of an event has no content: servers send such events to keep a connection open. */
export const isKeepAlive = (data: string): boolean => /^\s*(?:null|ping|\{\s*\})?\s*$/.test(data);

const MB = 1024 * 1024;

/** Maximum bytes of an event, such as an image or a long tool call. */
export const MAX_SSE_EVENT_BYTES = 25 * MB;

/** Events up to this size are not counted for `MAX_LARGE_BYTES`. */
const LARGE_EVENT_BYTES = MB;

/** Maximum bytes of unfinished large events of all streams together. */
const MAX_LARGE_BYTES = 256 * MB;
let largeBytes = 0;

const LF = 10;
const CR = 13;

/**
 * Reads server-sent events from bytes that may be cut anywhere, within a character or a CRLF too. It follows the HTML standard's
 * parser, but works on bytes: line ends never occur inside a UTF-8 sequence, so only whole lines are decoded, and the bytes held
 * are bounded by `limit` per event. The data of an event named `error` is an object with the field `error`, whatever the server sent.
 */
export class SseScanner {
  readonly #limit: number;
  readonly #splitsAtJson: boolean;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** The unfinished line. */
  #pending = new Uint8Array(1024);
  #pendingLength = 0;
  /** Bytes counted for `MAX_LARGE_BYTES`. */
  #countedBytes = 0;
  #skipLf = false;
  #firstLine = true;
  /** Bytes of the event so far, and of the last line. */
  #eventBytes = 0;
  #lineBytes = 0;
  #event: string | undefined;
  #data: string | undefined;
  #id: string | undefined;
  #ends: number[] = [];
  #boundary = 0;

  /** `splits`: some servers end events with a single line feed, so a data line that is whole JSON ends its event. */
  constructor(limit = MAX_SSE_EVENT_BYTES, splits = false) {
    this.#limit = limit;
    this.#splitsAtJson = splits;
  }

  /** End offsets, in bytes, of the events that the last chunk completed. */
  get ends(): readonly number[] {
    return this.#ends;
  }

  /** End offset of the last empty line in the last chunk; 0 if there was none. The bytes after it belong to an unfinished event. */
  get boundary(): number {
    return this.#boundary;
  }

  /** Whether the last chunk ended at an event boundary; a caller may skip the next chunk if it knows that it consists of whole events. */
  get isAtBoundary(): boolean {
    return this.#pendingLength === 0 && this.#data === undefined && this.#eventBytes === 0 && !this.#skipLf && !this.#firstLine;
  }

  /** Discards the unfinished event. Call it when a stream is abandoned before its end. */
  close(): void {
    this.#pending = new Uint8Array(0);
    this.#pendingLength = 0;
    this.#updateCount(0);
  }

  #updateCount(bytes: number): void {
    const counted = bytes > LARGE_EVENT_BYTES ? bytes : 0;
    if (largeBytes + counted - this.#countedBytes > MAX_LARGE_BYTES)
      throw new SseOverload(`Unfinished server-sent events hold more than ${MAX_LARGE_BYTES} bytes`);
    largeBytes += counted - this.#countedBytes;
    this.#countedBytes = counted;
  }

  /** The events that `chunk` completes, in order. Throws `SseTooLarge` and `SseOverload`. */
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
      // Each search continues from its last match, so that a chunk is scanned once per kind of line end.
      if (nextLf !== -1 && nextLf < at) nextLf = chunk.indexOf(LF, at);
      if (nextCr !== -1 && nextCr < at) nextCr = chunk.indexOf(CR, at);
      const end = nextCr === -1 ? nextLf : nextLf === -1 ? nextCr : Math.min(nextLf, nextCr);
      if (end === -1) break;
      const line = this.#readLine(chunk.subarray(at, end));
      this.#processLine(line, out);
      at = end + 1;
      if (end === nextCr) {
        if (at === chunk.length) this.#skipLf = true;
        else if (chunk[at] === LF) at++;
      }
      if (line !== '') continue;
      this.#boundary = at;
      if (out.length > this.#ends.length) this.#ends.push(at);
    }
    if (at < chunk.length) this.#append(chunk.subarray(at));
    return out;
  }

  /** Returns the rest after the end of the stream: an event without its final empty line, as many servers end theirs. */
  end(): SseEvent[] {
    const out: SseEvent[] = [];
    if (this.#pendingLength > 0) this.#processLine(this.#readLine(new Uint8Array(0)), out);
    this.#dispatch(out);
    return out;
  }

  #append(bytes: Uint8Array): void {
    const length = this.#pendingLength + bytes.length;
    this.#checkSize(length);
    if (length > this.#pending.length) {
      const size = Math.max(length, this.#pending.length * 2);
      this.#updateCount(size);
      const larger = new Uint8Array(size);
      larger.set(this.#pending.subarray(0, this.#pendingLength));
      this.#pending = larger;
    }
    this.#pending.set(bytes, this.#pendingLength);
    this.#pendingLength = length;
  }

  #readLine(input: Uint8Array): string {
    let bytes = input;
    if (this.#pendingLength > 0) {
      this.#append(input);
      bytes = this.#pending.subarray(0, this.#pendingLength);
      this.#pendingLength = 0;
    }
    this.#checkSize(bytes.length);
    this.#lineBytes = bytes.length;
    const line = this.#decoder.decode(bytes);
    if (this.#countedBytes > 0) this.close();
    if (!this.#firstLine) return line;
    this.#firstLine = false;
    return line.startsWith('\uFEFF') ? line.slice(1) : line;
  }

  #checkSize(addedBytes: number): void {
    if (this.#eventBytes + addedBytes > this.#limit) throw new SseTooLarge(`A server-sent event is larger than ${this.#limit} bytes`);
  }

  #processLine(line: string, out: SseEvent[]): void {
    if (line === '') {
      this.#dispatch(out);
      return;
    }
    const colon = line.indexOf(':');
    // A comment, sent to keep a connection open: it does not count towards the limit.
    if (colon === 0) return;
    this.#eventBytes += this.#lineBytes;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') {
      if (this.#splitsAtJson && this.#data !== undefined && isCompleteData(this.#data)) this.#dispatch(out);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    } else if (field === 'error') {
      // Not in the standard: llama.cpp reports errors in this field.
      this.#event = 'error';
      this.#data = value;
    } else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
  }

  #dispatch(out: SseEvent[]): void {
    if (this.#data !== undefined) {
      const event: SseEvent = { data: this.#event === 'error' ? toErrorData(this.#data) : this.#data };
      if (this.#event) event.event = this.#event;
      if (this.#id !== undefined) event.id = this.#id;
      out.push(event);
    }
    this.#event = this.#data = this.#id = undefined;
    this.#eventBytes = 0;
  }
}

/** Whether the data is JSON or the last event of a completion, and not a part of one. */
function isCompleteData(data: string): boolean {
  if (isDone(data)) return true;
  if (!/^\s*\{[^]*\}\s*$/.test(data)) return false;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}

function toErrorData(data: string): string {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return JSON.stringify({ error: data.trim() || 'no reason given' });
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify({ error: String(value) });
  if ('error' in value && value.error) return data;
  return JSON.stringify({ error: 'detail' in value && typeof value.detail === 'string' ? { message: value.detail } : value });
}

/** Serializes one event: each line of `data` on its own line. */
export function writeSse(data: string): string {
  return data.includes('\n') || data.includes('\r') ? `data: ${data.split(/\r\n|\r|\n/).join('\ndata: ')}\n\n` : `data: ${data}\n\n`;
}
