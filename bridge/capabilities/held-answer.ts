import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { SSE_HEADERS } from '#shared/http/sse.ts';
import type { Forward, SpliceEnd } from '#shared/link/splice.ts';
import { FIRST_MS, type GoodAnswer, isWhole, type Outcome } from './good-answer.ts';
import { Passage } from './passage.ts';

/** Maximum bytes before the first event, such as comments. With more, the response goes to the host. */
const FIRST_BYTES = 1024 * 1024;
/** How long to wait for the body's end after the last event, so that the connection can be reused. */
const LINGER_MS = 1000;

export type Limits = Pick<Forward, 'wire' | 'choices' | 'idleMs' | 'trailerMs' | 'stripUsage' | 'thinksFirst'>;

const DONE = 'data: [DONE]\n\n';

/** An upstream event stream whose first events have been validated. */
export class HeldAnswer implements GoodAnswer {
  readonly headers = SSE_HEADERS;
  readonly #body: Readable;
  readonly #limits: Limits;
  readonly #passage: Passage;
  #first: Uint8Array[];
  #begun = false;
  #over: (() => void) | undefined;
  onover: ((end: SpliceEnd) => void) | undefined;

  private constructor(body: Readable, limits: Limits, passage: Passage, first: Uint8Array[]) {
    this.#body = body;
    this.#limits = limits;
    this.#passage = passage;
    this.#first = first;
  }

  /**
   * Reads until the first event. Resolves to the bytes read if the response goes to the host: it is not an event stream, begins with an
   * error, or is late. Never rejects.
   */
  static begin(body: Readable, limits: Limits): Promise<HeldAnswer | Uint8Array[]> {
    const passage = new Passage(limits);
    const read: Uint8Array[] = [];
    let size = 0;
    const first: Uint8Array[] = [];
    return new Promise((resolve) => {
      const settle = (held: boolean): void => {
        clearTimeout(timer);
        body.pause();
        body.off('data', ondata).off('end', onend).off('close', onend);
        resolve(held ? new HeldAnswer(body, limits, passage, first) : read);
      };
      const ondata = (chunk: Buffer): void => {
        read.push(chunk);
        size += chunk.byteLength;
        if (read.length === 1 && isWhole(chunk)) return settle(false);
        first.push(...passage.push(chunk));
        if (passage.events > 0 || passage.stopped || size > FIRST_BYTES) settle(passage.events > 0);
      };
      const onend = (): void => settle(false);
      const timer = setTimeout(onend, FIRST_MS);
      body.on('data', ondata).on('end', onend).on('close', onend);
      // The reader handles errors; without a listener they would end the process.
      body.on('error', () => {});
    });
  }

  /** Writes no faster than the caller reads. Appends `[DONE]` if the response was complete; otherwise the host appends the error. */
  pipe(response: ServerResponse, over: (outcome: Outcome) => void): void {
    const body = this.#body;
    const passage = this.#passage;
    this.#begun = true;
    let last = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const limit = (): number => (passage.watch.whole ? this.#limits.trailerMs : this.#limits.idleMs);
    const listen = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const left = limit() - (performance.now() - last);
        // Waiting for the caller to read does not count as silence.
        if (body.isPaused()) last = performance.now();
        else if (left < 1) return finish('silent');
        listen(Math.max(1, body.isPaused() ? limit() : left));
      }, ms);
    };
    const write = (parts: Uint8Array[]): void => {
      let full = false;
      for (const part of parts) full = !response.write(part) || full;
      if (full) body.pause();
    };
    const ondata = (chunk: Buffer): void => {
      const { whole } = passage.watch;
      last = performance.now();
      write(passage.push(chunk));
      if (passage.stopped) finish('done');
      else if (passage.watch.whole && !whole) listen(limit());
    };
    const onend = (): void => {
      write(passage.end());
      finish('cut');
    };
    const onerror = (): void => finish('cut');
    const ondrain = (): void => {
      last = performance.now();
      body.resume();
    };
    const finish = (how: SpliceEnd['how']): void => {
      if (this.#over === undefined) return;
      this.#over = undefined;
      clearTimeout(timer);
      body.off('data', ondata).off('end', onend).off('error', onerror).off('close', onerror);
      response.off('drain', ondrain);
      passage.stop(how);
      const { stopped, watch } = passage;
      const end = { ...(stopped ?? { how }), ...(passage.isUnopened ? { unopened: true } : {}) };
      if (end.how === 'done') linger(body);
      else body.destroy();
      if (end.how === 'done' && this.#limits.wire === 'chat') response.write(DONE);
      this.onover?.(end);
      over({ ...end, chars: watch.chars, ...(watch.usage ? { usage: watch.usage } : {}) });
    };
    this.#over = () => finish('left');
    write(this.#first);
    this.#first = [];
    // Send data received meanwhile in the same packet.
    const more = body.read() as Buffer | null;
    if (more && !passage.stopped) write(passage.push(more));
    if (passage.stopped) return finish('done');
    listen(limit());
    response.on('drain', ondrain);
    body.on('data', ondata).on('end', onend).on('error', onerror).on('close', onerror);
    if (body.readableEnded) onend();
    else if (body.destroyed) onerror();
    else if (!response.writableNeedDrain) body.resume();
    else body.pause();
  }

  leave(): void {
    if (this.#over) this.#over();
    else if (!this.#begun) this.#body.destroy();
  }
}

/** Reads to the end of the body for a short time. */
function linger(body: Readable): void {
  const timer = setTimeout(() => body.destroy(), LINGER_MS);
  body.on('close', () => clearTimeout(timer));
  body.on('data', () => {});
  body.resume();
}
