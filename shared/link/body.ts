import { STREAM_WINDOW, type Stream } from './stream.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A stream's incoming bytes as a body. Credit goes back as the reader takes them, so that at most 384 KB wait here. */
export class IncomingBody {
  readonly #stream: Stream;
  readonly #onleave: () => void;
  #controller: ReadableStreamDefaultController<Bytes> | undefined;
  /** Chunks that arrived before they were requested. */
  #early: Bytes[] = [];
  /** Bytes that wait here and have not been released yet. */
  #owed = 0;
  #open = true;
  #failed: { error: unknown } | undefined;

  /** `onleave`: the reader has cancelled. */
  constructor(stream: Stream, onleave: () => void) {
    this.#stream = stream;
    this.#onleave = onleave;
  }

  /**
   * Takes the body, once. Returns bytes if all of them have arrived, since a web stream costs more than everything else about a short body.
   */
  take(): Bytes | ReadableStream<Bytes> {
    const early = this.#early;
    this.#early = [];
    if (!this.#open && !this.#failed) {
      this.#settle();
      return early.length === 1 && early[0] ? early[0] : joined(early);
    }
    return new ReadableStream<Bytes>(
      {
        start: (controller) => {
          this.#controller = controller;
          for (const chunk of early) controller.enqueue(chunk);
          if (this.#failed) controller.error(this.#failed.error);
        },
        pull: () => this.#settle(),
        cancel: () => {
          this.discard();
          this.#onleave();
        },
      },
      { highWaterMark: STREAM_WINDOW / 2, size: (chunk) => chunk.byteLength },
    );
  }

  push(chunk: Uint8Array): void {
    this.#owed += chunk.byteLength;
    if (this.#open && chunk.byteLength > 0) {
      if (this.#controller) this.#controller.enqueue(chunk.slice());
      else this.#early.push(chunk.slice());
    }
    if (!this.#open || (this.#controller?.desiredSize ?? 0) > 0) this.#settle();
  }

  end(): void {
    if (this.#open) this.#controller?.close();
    this.#open = false;
  }

  fail(error: unknown): void {
    if (!this.#open) return;
    this.#failed = { error };
    this.#controller?.error(error);
    this.#open = false;
  }

  /** Nobody reads: what still comes is passed over. */
  discard(): void {
    this.#open = false;
    this.#early = [];
    this.#settle();
  }

  #settle(): void {
    const owed = this.#owed;
    this.#owed = 0;
    if (owed > 0) this.#stream.release(owed);
  }
}

function joined(parts: readonly Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

/** Lets a sender wait until its stream has passed on all chunks. */
export class DrainGate {
  #waiting: (() => void)[] = [];

  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Arrow, to be passed as a listener. */
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
      if (stream.buffered > STREAM_WINDOW) await gate.wait();
    }
  } catch (error) {
    void reader.cancel(error).catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    reader.releaseLock();
  }
}
