import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { CompletionTracker, parseCompletionChunk } from '#shared/http/completion-tracker.ts';
import { MessageTracker } from '#shared/http/message-tracker.ts';
import { splitReasoning } from '#shared/http/think-tag-splitter.ts';
import type { ForwardRequest, SpliceEnd } from '#shared/link/splice.ts';
import { VALIDATION_MS, type ValidatedResponse, looksLikeDocument, type PassthroughOutcome } from './validated-response.ts';

/** Maximum size of a buffered response. A larger one goes through the host in chunks. */
const MAX_BYTES = 256 * 1024;

/** A complete upstream response that is a valid completion, passed on unchanged. */
export class BufferedPassthrough implements ValidatedResponse {
  readonly headers: Record<string, string>;
  readonly #bytes: Buffer;
  readonly #watch: BufferedWatch;
  onend: ((end: SpliceEnd) => void) | undefined;

  private constructor(bytes: Buffer, watch: BufferedWatch) {
    this.#bytes = bytes;
    this.#watch = watch;
    this.headers = { 'content-type': 'application/json', 'content-length': String(bytes.byteLength) };
  }

  /**
   * Reads the whole response. Resolves to the bytes read if it goes to the host: events, a page, an error, or a large, late or incomplete
   * response. Never rejects.
   */
  static validate(body: Readable, wire: ForwardRequest['wire']): Promise<BufferedPassthrough | Uint8Array[]> {
    const read: Buffer[] = [];
    let size = 0;
    return new Promise((resolve) => {
      const settle = (answer?: BufferedPassthrough): void => {
        clearTimeout(timer);
        body.pause();
        body.off('data', ondata).off('end', onend).off('close', onclose);
        resolve(answer ?? read);
      };
      const ondata = (chunk: Buffer): void => {
        read.push(chunk);
        size += chunk.byteLength;
        if (size > MAX_BYTES || (read.length === 1 && !looksLikeDocument(chunk))) settle();
      };
      const onend = (): void => {
        const bytes = read.length === 1 && read[0] ? read[0] : Buffer.concat(read);
        const watch = watchCompletion(bytes.toString(), wire);
        settle(watch && new BufferedPassthrough(watch.instead ?? bytes, watch));
      };
      const onclose = (): void => settle();
      const timer = setTimeout(onclose, VALIDATION_MS);
      body.on('data', ondata).on('end', onend).on('close', onclose);
      // The reader handles errors; without a listener they would end the process.
      body.on('error', () => {});
    });
  }

  pipe(response: ServerResponse, onFinished: (outcome: PassthroughOutcome) => void): void {
    response.write(this.#bytes);
    const { chars, usage, isUnopened } = this.#watch;
    const end: SpliceEnd = { how: 'done', ...(isUnopened ? { unopened: true } : {}) };
    this.onend?.(end);
    onFinished({ ...end, chars, ...(usage ? { usage } : {}) });
  }

  cancel(): void {}
}

interface BufferedWatch extends Pick<CompletionTracker, 'chars' | 'usage'> {
  /** Replacement body with the reasoning separated from the text. */
  instead?: Buffer;
  isUnopened?: boolean;
}

/** Undefined for errors and anything else that is not a completion in that format. */
function watchCompletion(text: string, wire: ForwardRequest['wire']): BufferedWatch | undefined {
  if (wire === 'messages') {
    const watch = new MessageTracker();
    return watch.addMessage(text) ? watch : undefined;
  }
  const completion = parseCompletionChunk(text);
  if (!completion) return undefined;
  const watch = new CompletionTracker(1);
  watch.add(completion);
  const split = splitReasoning(completion);
  const { chars, usage } = watch;
  return { chars, usage, ...(split ? { instead: Buffer.from(JSON.stringify(split.completion)), isUnopened: split.isUnopened } : {}) };
}
