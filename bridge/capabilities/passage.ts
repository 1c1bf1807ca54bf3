import { CompletionWatch, glanceAt } from '#shared/http/completion-watch.ts';
import { MAX_SSE_EVENT, SseScanner, SseTooLarge } from '#shared/http/sse.ts';
import type { SpliceEnd } from '#shared/link/splice.ts';

/** Characters of an odd event that are told. */
const MAX_TOLD = 64 * 1024;
/** Bytes of an event that is not whole yet, comments and all. */
const MAX_OPEN = 2 * MAX_SSE_EVENT;

/**
 * What of an upstream's bytes may go to the caller as they are: whole events that each are a piece of a completion. At the first that is none it
 * stops; `[DONE]`, too, is not passed, so that the caller hears exactly one.
 */
export class Passage {
  readonly watch: CompletionWatch;
  readonly #scanner = new SseScanner();
  /** The bytes of an event that is not whole yet. */
  #open: Uint8Array[] = [];
  #openBytes = 0;
  #stopped: SpliceEnd | undefined;
  /** Events that may pass. */
  events = 0;

  constructor(choices: number) {
    this.watch = new CompletionWatch(choices);
  }

  /** How it ended, once nothing more may pass. */
  get stopped(): SpliceEnd | undefined {
    return this.#stopped;
  }

  /** The bytes that may go now. */
  push(chunk: Uint8Array): Uint8Array[] {
    if (this.#stopped) return [];
    let good: number;
    try {
      good = this.#look(chunk);
    } catch (error) {
      if (!(error instanceof SseTooLarge)) throw error;
      this.stop('large');
      return [];
    }
    let out: Uint8Array[] = [];
    if (good > 0) {
      out = this.#open;
      out.push(chunk.subarray(0, good));
      this.#open = [];
      this.#openBytes = 0;
    }
    if (good < chunk.byteLength) {
      this.#open.push(chunk.subarray(good));
      this.#openBytes += chunk.byteLength - good;
      if (this.#openBytes > MAX_OPEN) this.stop('large');
    }
    return out;
  }

  /** The body has ended: what may still go, such as a last event without an empty line behind it. */
  end(): Uint8Array[] {
    if (this.#stopped) return [];
    const out: Uint8Array[] = [];
    for (const { data } of this.#scanner.end()) {
      if (data.trim() === '[DONE]') this.#stopped = { how: 'done' };
      else if (this.#see(data)) out.push(...this.#open, Buffer.from('\n\n'));
      else this.stop('cut');
    }
    this.stop('cut');
    return out;
  }

  /** Ends it for that reason; once the answer is whole nothing that matters can be missing. */
  stop(how: SpliceEnd['how'], text?: string): void {
    if (this.watch.whole && how !== 'left') this.#stopped ??= { how: 'done' };
    else this.#stopped ??= { how, ...(text === undefined ? {} : { text: text.slice(0, MAX_TOLD) }) };
  }

  /** How many bytes of the chunk end in an event that may pass. */
  #look(chunk: Uint8Array): number {
    let good = 0;
    for (const [index, { data }] of this.#scanner.push(chunk).entries()) {
      if (data.trim() === '[DONE]') this.#stopped = { how: 'done' };
      else if (!this.#see(data)) this.stop('odd', data);
      if (this.#stopped) return good;
      good = this.#scanner.ends[index] ?? good;
    }
    return this.#scanner.boundary;
  }

  #see(data: string): boolean {
    const chunk = glanceAt(data);
    if (!chunk) return false;
    this.watch.see(chunk);
    this.events++;
    return true;
  }
}
