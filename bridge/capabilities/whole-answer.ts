import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { CompletionWatch, glanceAt } from '#shared/http/completion-watch.ts';
import { MessageWatch } from '#shared/http/message-watch.ts';
import { splitThoughts } from '#shared/http/think-marks.ts';
import type { Forward, SpliceEnd } from '#shared/link/splice.ts';
import { FIRST_MS, type GoodAnswer, isWhole, type Outcome } from './good-answer.ts';

/** Bytes of an answer that is kept until it is there; a larger one goes through the host, in pieces. */
const MAX_BYTES = 256 * 1024;

/** An upstream's whole answer, all of which has come and is a completion. It goes as it is. */
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

  /** Reads all of it. The bytes read, where it goes to the host: events, a page, an error, one that is large, late, or broke off. Never rejects. */
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
      // Heard by whoever reads on; unheard it would end the process.
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
  /** With the thoughts apart that were within the text. */
  instead?: Buffer;
  isUnopened?: boolean;
}

/** Undefined for an error, and for anything else that is no answer of that format. */
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
