import { CompletionWatch, glanceAt, isUsageAlone } from '#shared/http/completion-watch.ts';
import { MessageWatch, type Seen } from '#shared/http/message-watch.ts';
import { isDone, isKeepAlive, MAX_SSE_EVENT, SseOverload, SseScanner, SseTooLarge, writeSse } from '#shared/http/sse.ts';
import { type PassingEvent, ThinkMarks } from '#shared/http/think-marks.ts';
import type { Forward, SpliceEnd } from '#shared/link/splice.ts';
import { EventPattern } from './event-pattern.ts';

/** Maximum characters of an invalid event to report. */
const MAX_TOLD = 64 * 1024;
/** Maximum bytes of an incomplete event, including comments. */
const MAX_OPEN = MAX_SSE_EVENT + 1024 * 1024;

/** An event in its original bytes. */
interface RawEvent {
  bytes: Uint8Array[];
}

/**
 * Filters an upstream's bytes for the caller: passes complete events that are part of a completion unchanged. Stops at the first other
 * event. `[DONE]` is not passed either, since the caller gets exactly one. `stripUsage`: removes usage that the caller did not request.
 * Separates reasoning from the text of chat completions.
 */
export class Passage {
  readonly watch: CompletionWatch | MessageWatch;
  readonly #scanner = new SseScanner();
  /** Bytes of an incomplete event. */
  #open: Uint8Array[] = [];
  #openBytes = 0;
  #stopped: SpliceEnd | undefined;
  readonly #stripUsage: boolean;
  readonly #marks: ThinkMarks<RawEvent> | undefined;
  /** The last parsed event, and its replacements. */
  #event: RawEvent = { bytes: [] };
  #instead: PassingEvent<RawEvent>[] = [];
  /** Pattern of the last event that had to be parsed. */
  #pattern: EventPattern | undefined;
  /** Number of events passed. */
  events = 0;

  constructor({ choices, stripUsage, wire, thinksFirst }: Pick<Forward, 'choices' | 'stripUsage' | 'wire' | 'thinksFirst'>) {
    this.#stripUsage = stripUsage;
    this.watch = wire === 'messages' ? new MessageWatch() : new CompletionWatch(choices);
    this.#marks = wire === 'messages' ? undefined : new ThinkMarks(choices, thinksFirst);
  }

  /** Whether the text contained an end of reasoning without a beginning. */
  get isUnopened(): boolean {
    return this.#marks?.isUnopened ?? false;
  }

  /** Result, once nothing more may pass. */
  get stopped(): SpliceEnd | undefined {
    return this.#stopped;
  }

  /** Returns the bytes that can be sent now. */
  push(chunk: Uint8Array): Uint8Array[] {
    if (this.#stopped) return [];
    try {
      return this.#look(chunk);
    } catch (error) {
      if (!(error instanceof SseTooLarge || error instanceof SseOverload)) throw error;
      this.stop('large');
      return [];
    }
  }

  /** Ends the input. Returns the remaining bytes, such as a last event without an empty line. */
  end(): Uint8Array[] {
    if (this.#stopped) return [];
    const out: Uint8Array[] = [];
    for (const { data } of this.#scanner.end()) {
      if (isDone(data)) this.#stopped = { how: 'done' };
      else {
        const seen = this.#see(data);
        if (seen === 'odd') this.stop('cut');
        else if (seen === 'hidden') {
          this.#event.bytes = [...this.#open, Buffer.from('\n\n')];
          out.push(...this.#takeInstead());
        } else out.push(...this.#open, Buffer.from('\n\n'));
        if (seen === 'last') this.#stopped = { how: 'done' };
      }
    }
    this.stop('cut');
    return [...out, ...this.#rest()];
  }

  /** Stops with a reason, or with `done` if the response is already complete. */
  stop(how: SpliceEnd['how'], text?: string): void {
    this.#scanner.close();
    if (this.watch.whole && how !== 'left') this.#stopped ??= { how: 'done' };
    else this.#stopped ??= { how, ...(text === undefined ? {} : { text: text.slice(0, MAX_TOLD) }) };
  }

  #look(chunk: Uint8Array): Uint8Array[] {
    const out: Uint8Array[] = [];
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    /** Everything before `from` has been sent or removed; the bytes from there to `good` may be sent. */
    let from = 0;
    let good = 0;
    const take = (): void => {
      if (good > from) out.push(...this.#open, chunk.subarray(from, good));
      this.#open = [];
      this.#openBytes = 0;
    };
    for (let at = 0; at < text.length && !this.#stopped;) {
      const next = this.#scanner.between ? this.#passAlike(text, at) : at;
      if (next > at) {
        at = good = next;
        continue;
      }
      // One event at a time, since the next ones may match its pattern.
      const end = text.indexOf('\n\n', at);
      const until = end === -1 ? text.length : end + 2;
      let start = this.#scanner.between ? at : undefined;
      for (const [index, { data }] of this.#scanner.push(chunk.subarray(at, until)).entries()) {
        const chars = this.watch.chars;
        const seen = isDone(data) ? 'done' : this.#see(data);
        if (seen === 'done') this.#stopped = { how: 'done' };
        else if (seen === 'odd') this.stop('odd', data);
        if (this.#stopped) break;
        const over = at + (this.#scanner.ends[index] ?? 0);
        if (seen === 'hidden') {
          this.#event.bytes = [...(good === 0 ? this.#open : []), chunk.subarray(good, over)];
          take();
          out.push(...this.#takeInstead());
          from = over;
        } else if (seen === 'usual' && start !== undefined)
          this.#pattern = EventPattern.of(text.slice(start, over), this.watch.chars - chars);
        good = start = over;
        if (seen === 'last') {
          this.#stopped = { how: 'done' };
          break;
        }
      }
      if (!this.#stopped) good = Math.max(good, at + this.#scanner.boundary);
      at = until;
    }
    if (good > 0) take();
    if (this.#stopped) out.push(...this.#rest());
    if (good < chunk.byteLength) {
      this.#open.push(chunk.subarray(good));
      this.#openBytes += chunk.byteLength - good;
      if (this.#openBytes > MAX_OPEN) this.stop('large');
    }
    return out;
  }

  /** Returns the end of the events that match the last parsed one. */
  #passAlike(text: string, from: number): number {
    if (!this.#pattern) return from;
    const attention = this.#marks?.attention ?? 'none';
    if (attention === 'all') return from;
    const limit = attention === 'none' ? text.length : findMark(text, from);
    let at = from;
    for (let end; (end = this.#pattern.end(text, at)) !== -1 && end <= limit; at = end) {
      this.events++;
      this.watch.chars += this.#pattern.chars;
    }
    return at;
  }

  /** `usual`: contains only text of the model. `last`: ends the response. */
  #see(data: string): Seen | 'hidden' {
    // A new object, since an earlier event may still be pending.
    this.#event = { bytes: [] };
    if (isKeepAlive(data)) return 'hidden';
    const { watch } = this;
    if (watch instanceof MessageWatch) {
      const seen = watch.see(data);
      if (seen !== 'odd') this.events++;
      return seen;
    }
    const chunk = glanceAt(data);
    if (!chunk) return 'odd';
    watch.see(chunk);
    this.events++;
    if (this.#stripUsage && isUsageAlone(chunk)) return 'hidden';
    const instead = this.#marks?.see(chunk, this.#event);
    if (instead) {
      this.#instead = instead;
      return 'hidden';
    }
    return chunk.usage == null && chunk.choices?.every(({ finish_reason }) => !finish_reason) ? 'usual' : 'passes';
  }

  #takeInstead(): Uint8Array[] {
    const events = this.#instead;
    this.#instead = [];
    return toBytes(events);
  }

  /** Returns pending events once nothing more may pass. */
  #rest(): Uint8Array[] {
    return toBytes(this.#marks?.end() ?? []);
  }
}

const toBytes = (events: readonly PassingEvent<RawEvent>[]): Uint8Array[] =>
  events.flatMap((each) => ('data' in each ? [Buffer.from(writeSse(each.data))] : each.event.bytes));

/** Returns the position of the first character that may begin a reasoning tag, plain or escaped; the end of the text if there is none. */
const findMark = (text: string, from: number): number => Math.min(find(text, from, '<', '/t"\\'), find(text, from, '\\u003', 'cC'));

/** Returns the position of `start` followed by one of the characters in `next`; the end of the text if there is none. */
function find(text: string, from: number, start: string, next: string): number {
  for (let at = text.indexOf(start, from); at !== -1; at = text.indexOf(start, at + 1))
    if (next.includes(text.charAt(at + start.length))) return at;
  return text.length;
}
