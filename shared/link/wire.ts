/** Frame types of the multiplexer. A receiver passes over types it does not know, so that newer peers can add some. */
export const FRAME_TYPE = { hello: 0, open: 1, data: 2, end: 3, reset: 4, credit: 5, ping: 6, pong: 7 } as const;

export const FLAG_FIN = 1;
export const FLAG_TEXT = 2;
/** Part of a message larger than one chunk, or of a body: counts against the link's bulk window. */
export const FLAG_BULK = 4;

/** type (1), flags (1), stream (4), length (4); big-endian; the payload follows. Several frames may share one link message. */
const HEADER_BYTES = 10;
export const CHUNK_BYTES = 64 * 1024;
/** The largest payload that a peer may put into one frame. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024;

export interface WireFrame {
  type: number;
  flags: number;
  stream: number;
  payload: Uint8Array;
}

/** Reads the frames of a link message. Throws a `RangeError` if they are malformed. */
export function* readFrames(message: Uint8Array): Generator<WireFrame> {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  let at = 0;
  while (at < message.byteLength) {
    if (at + HEADER_BYTES > message.byteLength) throw new RangeError('truncated frame header');
    const length = view.getUint32(at + 6);
    if (length > MAX_PAYLOAD_BYTES) throw new RangeError('frame too large');
    const start = at + HEADER_BYTES;
    if (start + length > message.byteLength) throw new RangeError('truncated frame');
    yield {
      type: view.getUint8(at),
      flags: view.getUint8(at + 1),
      stream: view.getUint32(at + 2),
      payload: message.subarray(start, start + length),
    };
    at = start + length;
  }
}

/** Collects frames into one link message. */
export class FrameWriter {
  #buffer = new Uint8Array(CHUNK_BYTES * 2);
  #view = new DataView(this.#buffer.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  write(type: number, flags: number, stream: number, payload: Uint8Array): void {
    const needed = this.#length + HEADER_BYTES + payload.byteLength;
    if (needed > this.#buffer.byteLength) this.#grow(needed);
    this.#view.setUint8(this.#length, type);
    this.#view.setUint8(this.#length + 1, flags);
    this.#view.setUint32(this.#length + 2, stream);
    this.#view.setUint32(this.#length + 6, payload.byteLength);
    this.#buffer.set(payload, this.#length + HEADER_BYTES);
    this.#length = needed;
  }

  /** Returns a copy of the message so far and resets the writer. */
  take(): Uint8Array<ArrayBuffer> {
    const message = this.#buffer.slice(0, this.#length);
    this.#length = 0;
    return message;
  }

  #grow(needed: number): void {
    const larger = new Uint8Array(Math.max(needed, this.#buffer.byteLength * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
    this.#view = new DataView(larger.buffer);
  }
}

/** A credit frame's payload. */
export function encodeUint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}
