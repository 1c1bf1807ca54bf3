import { CompletionWatch, glanceAt, isUsageAlone } from '#shared/http/completion-watch.ts';
import { MAX_SSE_EVENT, SseScanner, SseTooLarge } from '#shared/http/sse.ts';
import type { Forward, SpliceEnd } from '#shared/link/splice.ts';

/** Characters of an odd event that are told. */
const MAX_TOLD = 64 * 1024;
/** Bytes of an event that is not whole yet, comments and all. */
const MAX_OPEN = 2 * MAX_SSE_EVENT;

/**
 * What of an upstream's bytes may go to the caller as they are: whole events that each are a piece of a completion. At the first that is none it
 * stops; `[DONE]`, too, is not passed, so that the caller hears exactly one. `stripUsage`: nor are figures of usage that the caller did not ask for.
 */
export class Passage {
  readonly watch: CompletionWatch;
  readonly #scanner = new SseScanner();
  /** The bytes of an event that is not whole yet. */
  #open: Uint8Array[] = [];
  #openBytes = 0;
  #stopped: SpliceEnd | undefined;
  readonly #stripUsage: boolean;
  /** Events that may pass. */
  events = 0;

  constructor({ choices, stripUsage }: Pick<Forward, 'choices' | 'stripUsage'>) {
    this.#stripUsage = stripUsage;
    this.watch = new CompletionWatch(choices);
  }

  /** How it ended, once nothing more may pass. */
  get stopped(): SpliceEnd | undefined {
    return this.#stopped;
  }

  /** The bytes that may go now. */
  push(chunk: Uint8Array): Uint8Array[] {
    if (this.#stopped) return [];
    try {
      return this.#look(chunk);
    } catch (error) {
      if (!(error instanceof SseTooLarge)) throw error;
      this.stop('large');
      return [];
    }
  }

  /** The body has ended: what may still go, such as a last event without an empty line behind it. */
  end(): Uint8Array[] {
    if (this.#stopped) return [];
    const out: Uint8Array[] = [];
    for (const { data } of this.#scanner.end()) {
      if (data.trim() === '[DONE]') this.#stopped = { how: 'done' };
      else {
        const seen = this.#see(data);
        if (seen === 'passes') out.push(...this.#open, Buffer.from('\n\n'));
        else if (seen === 'odd') this.stop('cut');
      }
    }
    this.stop('cut');
    return out;
  }

  /** Ends it for that reason; once the answer is whole nothing that matters can be missing. */
  stop(how: SpliceEnd['how'], text?: string): void {
    if (this.watch.whole && how !== 'left') this.#stopped ??= { how: 'done' };
    else this.#stopped ??= { how, ...(text === undefined ? {} : { text: text.slice(0, MAX_TOLD) }) };
  }

  #look(chunk: Uint8Array): Uint8Array[] {
    const out: Uint8Array[] = [];
    /** What comes before has gone, or been left out; what comes from here on to `good` may go. */
    let from = 0;
    let good = 0;
    const take = (): void => {
      if (good > from) out.push(...this.#open, chunk.subarray(from, good));
      this.#open = [];
      this.#openBytes = 0;
    };
    for (const [index, { data }] of this.#scanner.push(chunk).entries()) {
      const seen = data.trim() === '[DONE]' ? 'done' : this.#see(data);
      if (seen === 'done') this.#stopped = { how: 'done' };
      else if (seen === 'odd') this.stop('odd', data);
      else if (seen === 'hidden') {
        take();
        from = this.#scanner.ends[index] ?? good;
      }
      if (this.#stopped) break;
      good = this.#scanner.ends[index] ?? good;
    }
    if (!this.#stopped) good = Math.max(good, this.#scanner.boundary);
    if (good > 0) take();
    if (good < chunk.byteLength) {
      this.#open.push(chunk.subarray(good));
      this.#openBytes += chunk.byteLength - good;
      if (this.#openBytes > MAX_OPEN) this.stop('large');
    }
    return out;
  }

  #see(data: string): 'passes' | 'hidden' | 'odd' {
    const chunk = glanceAt(data);
    if (!chunk) return 'odd';
    this.watch.see(chunk);
    this.events++;
    return this.#stripUsage && isUsageAlone(chunk) ? 'hidden' : 'passes';
  }
}
