import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { SSE_HEADERS } from '#shared/http/sse.ts';
import type { ForwardRequest, SpliceEnd } from '#shared/link/splice.ts';
import { VALIDATION_MS, type ValidatedResponse, looksLikeDocument, type PassthroughOutcome } from './validated-response.ts';
import { CompletionFilter } from './completion-filter.ts';

/** Maximum bytes before the first event, such as comments. With more, the response goes to the host. */
const MAX_PREAMBLE_BYTES = 1024 * 1024;
/** How long to wait for the body's end after the last event, so that the connection can be reused. */
const LINGER_MS = 1000;

export type PassthroughLimits = Pick<ForwardRequest, 'wire' | 'choices' | 'idleMs' | 'trailerMs' | 'stripUsage' | 'thinksFirst'>;

const DONE = 'data: [DONE]\n\n';

/** An upstream event stream whose first events have been validated. */
export class StreamingPassthrough implements ValidatedResponse {
  readonly headers = SSE_HEADERS;
  readonly #body: Readable;
  readonly #limits: PassthroughLimits;
  readonly #filter: CompletionFilter;
  #firstChunks: Uint8Array[];
  #isStarted = false;
  #cancelPipe: (() => void) | undefined;
  onend: ((end: SpliceEnd) => void) | undefined;

  private constructor(body: Readable, limits: PassthroughLimits, filter: CompletionFilter, first: Uint8Array[]) {
    this.#body = body;
    this.#limits = limits;
    this.#filter = filter;
    this.#firstChunks = first;
  }

  /**
   * Reads until the first event. Resolves to the bytes read if the response goes to the host: it is not an event stream, begins with an
   * error, or is late. Never rejects.
   */
  static validate(body: Readable, limits: PassthroughLimits): Promise<StreamingPassthrough | Uint8Array[]> {
    const filter = new CompletionFilter(limits);
    const read: Uint8Array[] = [];
    let size = 0;
    const first: Uint8Array[] = [];
    return new Promise((resolve) => {
      const settle = (isValid: boolean): void => {
        clearTimeout(timer);
        body.pause();
        body.off('data', ondata).off('end', onend).off('close', onend);
        // The host reads the response with a scanner of its own.
        if (!isValid) filter.stop('left');
        resolve(isValid ? new StreamingPassthrough(body, limits, filter, first) : read);
      };
      const ondata = (chunk: Buffer): void => {
        read.push(chunk);
        size += chunk.byteLength;
        if (read.length === 1 && looksLikeDocument(chunk)) return settle(false);
        first.push(...filter.push(chunk));
        if (filter.events > 0 || filter.stopped || size > MAX_PREAMBLE_BYTES) settle(filter.events > 0);
      };
      const onend = (): void => settle(false);
      const timer = setTimeout(onend, VALIDATION_MS);
      body.on('data', ondata).on('end', onend).on('close', onend);
      // The reader handles errors; without a listener they would end the process.
      body.on('error', () => {});
    });
  }

  /** Writes no faster than the caller reads. Appends `[DONE]` if the response was complete; otherwise the host appends the error. */
  pipe(response: ServerResponse, onFinished: (outcome: PassthroughOutcome) => void): void {
    const body = this.#body;
    const filter = this.#filter;
    this.#isStarted = true;
    let last = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const limit = (): number => (filter.watch.isComplete ? this.#limits.trailerMs : this.#limits.idleMs);
    const listen = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const remainingMs = limit() - (performance.now() - last);
        // Waiting for the caller to read does not count as silence.
        if (body.isPaused()) last = performance.now();
        else if (remainingMs < 1) return finish('silent');
        listen(Math.max(1, body.isPaused() ? limit() : remainingMs));
      }, ms);
    };
    const write = (chunks: Uint8Array[]): void => {
      let full = false;
      for (const chunk of chunks) full = !response.write(chunk) || full;
      if (full) body.pause();
    };
    const ondata = (chunk: Buffer): void => {
      const { isComplete } = filter.watch;
      last = performance.now();
      write(filter.push(chunk));
      if (filter.stopped) finish('done');
      else if (filter.watch.isComplete && !isComplete) listen(limit());
    };
    const onend = (): void => {
      write(filter.end());
      finish('cut');
    };
    const onerror = (): void => finish('cut');
    const ondrain = (): void => {
      last = performance.now();
      body.resume();
    };
    const finish = (outcome: SpliceEnd['how']): void => {
      if (this.#cancelPipe === undefined) return;
      this.#cancelPipe = undefined;
      clearTimeout(timer);
      body.off('data', ondata).off('end', onend).off('error', onerror).off('close', onerror);
      response.off('drain', ondrain);
      filter.stop(outcome);
      const { stopped, watch } = filter;
      const end = { ...(stopped ?? { how: outcome }), ...(filter.isUnopened ? { unopened: true } : {}) };
      if (end.how === 'done') drainBody(body);
      else body.destroy();
      if (end.how === 'done' && this.#limits.wire === 'chat') response.write(DONE);
      this.onend?.(end);
      onFinished({ ...end, chars: watch.chars, ...(watch.usage ? { usage: watch.usage } : {}) });
    };
    this.#cancelPipe = () => finish('left');
    write(this.#firstChunks);
    this.#firstChunks = [];
    // Send data received meanwhile in the same packet.
    const nextChunk = body.read() as Buffer | null;
    if (nextChunk && !filter.stopped) write(filter.push(nextChunk));
    if (filter.stopped) return finish('done');
    listen(limit());
    response.on('drain', ondrain);
    body.on('data', ondata).on('end', onend).on('error', onerror).on('close', onerror);
    if (body.readableEnded) onend();
    else if (body.destroyed) onerror();
    else if (!response.writableNeedDrain) body.resume();
    else body.pause();
  }

  cancel(): void {
    if (this.#cancelPipe) this.#cancelPipe();
    else if (!this.#isStarted) {
      this.#filter.stop('left');
      this.#body.destroy();
    }
  }
}

/** Reads to the end of the body for a short time. */
function drainBody(body: Readable): void {
  const timer = setTimeout(() => body.destroy(), LINGER_MS);
  body.on('close', () => clearTimeout(timer));
  body.on('data', () => {});
  body.resume();
}
