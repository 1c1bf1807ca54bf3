import { STREAM_WINDOW_BYTES, type Stream } from './stream.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A stream's incoming bytes as a body. Credit is returned as the reader consumes them, so at most 384 KB are buffered. */
export class IncomingBody {
  readonly #stream: Stream;
  readonly #oncancel: () => void;
  #controller: ReadableStreamDefaultController<Bytes> | undefined;
  /** Chunks that arrived before they were requested. */
  #earlyChunks: Bytes[] = [];
  /** Buffered bytes that have not been released yet. */
  #unreleasedBytes = 0;
  #open = true;
  #failure: { error: unknown } | undefined;

  /** `oncancel`: the reader has cancelled. */
  constructor(stream: Stream, oncancel: () => void) {
    this.#stream = stream;
    this.#oncancel = oncancel;
  }

  /**
   * Takes the body, once. Returns bytes if all of them have arrived, since a web stream costs more than everything else about a short body.
   */
  consume(): Bytes | ReadableStream<Bytes> {
    const chunks = this.#earlyChunks;
    this.#earlyChunks = [];
    if (!this.#open && !this.#failure) {
      this.#releaseCredit();
      return chunks.length === 1 && chunks[0] ? chunks[0] : concatBytes(chunks);
    }
    return new ReadableStream<Bytes>(
      {
        start: (controller) => {
          this.#controller = controller;
          for (const chunk of chunks) controller.enqueue(chunk);
          if (this.#failure) controller.error(this.#failure.error);
        },
        pull: () => this.#releaseCredit(),
        cancel: () => {
          this.discard();
          this.#oncancel();
        },
      },
      { highWaterMark: STREAM_WINDOW_BYTES / 2, size: (chunk) => chunk.byteLength },
    );
  }

  push(chunk: Uint8Array): void {
    this.#unreleasedBytes += chunk.byteLength;
    if (this.#open && chunk.byteLength > 0) {
      if (this.#controller) this.#controller.enqueue(chunk.slice());
      else this.#earlyChunks.push(chunk.slice());
    }
    if (!this.#open || (this.#controller?.desiredSize ?? 0) > 0) this.#releaseCredit();
  }

  end(): void {
    if (this.#open) this.#controller?.close();
    this.#open = false;
  }

  fail(error: unknown): void {
    if (!this.#open) return;
    this.#failure = { error };
    this.#controller?.error(error);
    this.#open = false;
  }

  /** Discards all further data. */
  discard(): void {
    this.#open = false;
    this.#earlyChunks = [];
    this.#releaseCredit();
  }

  #releaseCredit(): void {
    const bytes = this.#unreleasedBytes;
    this.#unreleasedBytes = 0;
    if (bytes > 0) this.#stream.release(bytes);
  }
}

function concatBytes(parts: readonly Bytes[]): Bytes {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.byteLength;
  }
  return joined;
}

/** Lets a sender wait until its stream has drained. */
export class DrainGate {
  #waiting: (() => void)[] = [];

  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** An arrow function, so that it can be passed as a listener. */
  readonly open = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  };
}

/**
 * Sends a web stream as the body, no faster than the other side's credit allows. Rejects when the source fails or `signal` aborts (who aborts
 * opens the gate too); the source is cancelled then, also while it is silent.
 */
export async function pump(body: ReadableStream<Uint8Array>, stream: Stream, gate: DrainGate, signal: AbortSignal): Promise<void> {
  const reader = body.getReader();
  const stop = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      if (!ArrayBuffer.isView(value)) throw new TypeError('the body must be bytes');
      stream.send(value, { fin: false, bulk: true });
      if (stream.buffered > STREAM_WINDOW_BYTES) await gate.wait();
    }
  } catch (error) {
    void reader.cancel(error).catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    reader.releaseLock();
  }
}
