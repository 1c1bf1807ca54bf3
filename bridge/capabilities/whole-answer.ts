import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { CompletionWatch, glanceAt } from '#shared/http/completion-watch.ts';
import { MessageWatch } from '#shared/http/message-watch.ts';
import { splitThoughts } from '#shared/http/think-marks.ts';
import type { Forward, SpliceEnd } from '#shared/link/splice.ts';
import { FIRST_MS, type GoodAnswer, isWhole, type Outcome } from './good-answer.ts';

/** Maximum size of a buffered response. A larger one goes through the host in chunks. */
const MAX_BYTES = 256 * 1024;

/** A complete upstream response that is a valid completion, passed on unchanged. */
export class WholeAnswer implements GoodAnswer {
  readonly headers: Record<string, string>;
  readonly #bytes: Buffer;
  readonly #watch: Watch;
  onover: ((end: SpliceEnd) => void) | undefined;

  private constructor(bytes: Buffer, watch: Watch) {
    this.#bytes = bytes;
    this.#watch = watch;
    this.headers = { 'content-type': 'application/json', 'content-length': String(bytes.byteLength) };
  }

  /**
   * Reads the whole response. Resolves to the bytes read if it goes to the host: events, a page, an error, or a large, late or incomplete
   * response. Never rejects.
   */
  static begin(body: Readable, wire: Forward['wire']): Promise<WholeAnswer | Uint8Array[]> {
    const read: Buffer[] = [];
    let size = 0;
    return new Promise((resolve) => {
      const settle = (answer?: WholeAnswer): void => {
        clearTimeout(timer);
        body.pause();
        body.off('data', ondata).off('end', onend).off('close', onclose);
        resolve(answer ?? read);
      };
      const ondata = (chunk: Buffer): void => {
        read.push(chunk);
        size += chunk.byteLength;
        if (size > MAX_BYTES || (read.length === 1 && !isWhole(chunk))) settle();
      };
      const onend = (): void => {
        const bytes = read.length === 1 && read[0] ? read[0] : Buffer.concat(read);
        const watch = watchWhole(bytes.toString(), wire);
        settle(watch && new WholeAnswer(watch.instead ?? bytes, watch));
      };
      const onclose = (): void => settle();
      const timer = setTimeout(onclose, FIRST_MS);
      body.on('data', ondata).on('end', onend).on('close', onclose);
      // The reader handles errors; without a listener they would end the process.
      body.on('error', () => {});
    });
  }

  pipe(response: ServerResponse, over: (outcome: Outcome) => void): void {
    response.write(this.#bytes);
    const { chars, usage, isUnopened } = this.#watch;
    const end: SpliceEnd = { how: 'done', ...(isUnopened ? { unopened: true } : {}) };
    this.onover?.(end);
    over({ ...end, chars, ...(usage ? { usage } : {}) });
  }

  leave(): void {}
}

interface Watch extends Pick<CompletionWatch, 'chars' | 'usage'> {
  /** Replacement body with the reasoning separated from the text. */
  instead?: Buffer;
  isUnopened?: boolean;
}

/** Undefined for errors and anything else that is not a completion in that format. */
function watchWhole(text: string, wire: Forward['wire']): Watch | undefined {
  if (wire === 'messages') {
    const watch = new MessageWatch();
    return watch.seeWhole(text) ? watch : undefined;
  }
  const completion = glanceAt(text);
  if (!completion) return undefined;
  const watch = new CompletionWatch(1);
  watch.see(completion);
  const split = splitThoughts(completion);
  const { chars, usage } = watch;
  return { chars, usage, ...(split ? { instead: Buffer.from(JSON.stringify(split.completion)), isUnopened: split.isUnopened } : {}) };
}
