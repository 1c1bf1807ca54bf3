import { CompletionTracker, parseCompletionChunk, isUsageOnly } from '#shared/http/completion-tracker.ts';
import { MessageTracker, type MessageEventKind } from '#shared/http/message-tracker.ts';
import { isDone, isKeepAlive, MAX_SSE_EVENT_BYTES, SseScanner, writeSse } from '#shared/http/sse.ts';
import { SseOverload, SseTooLarge } from '#shared/http/sse-errors.ts';
import { type PassthroughEvent, ThinkTagSplitter } from '#shared/http/think-tag-splitter.ts';
import type { ForwardRequest, SpliceEnd } from '#shared/link/splice.ts';
import { EventPattern } from './event-pattern.ts';

/** Maximum characters of an invalid event to report. */
const MAX_REPORTED_CHARS = 64 * 1024;
/** Maximum bytes of an incomplete event, including comments. */
const MAX_PARTIAL_BYTES = MAX_SSE_EVENT_BYTES + 1024 * 1024;

/** An event in its original bytes. */
interface RawEvent {
  bytes: Uint8Array[];
}

/**
 * Filters an upstream's bytes for the caller: passes complete events that are part of a completion unchanged. Stops at the first other
 * event. `[DONE]` is not passed either, since the caller gets exactly one. `stripUsage`: removes usage that the caller did not request.
 * Separates reasoning from the text of chat completions.
 */
export class CompletionFilter {
  readonly watch: CompletionTracker | MessageTracker;
  readonly #scanner = new SseScanner();
  /** Bytes of an incomplete event. */
  #partialEvent: Uint8Array[] = [];
  #partialBytes = 0;
  #stopped: SpliceEnd | undefined;
  readonly #stripUsage: boolean;
  readonly #marks: ThinkTagSplitter<RawEvent> | undefined;
  /** The last parsed event, and its replacements. */
  #event: RawEvent = { bytes: [] };
  #replacements: PassthroughEvent<RawEvent>[] = [];
  /** Pattern of the last event that had to be parsed. */
  #pattern: EventPattern | undefined;
  /** Number of events passed. */
  events = 0;

  constructor({ choices, stripUsage, wire, thinksFirst }: Pick<ForwardRequest, 'choices' | 'stripUsage' | 'wire' | 'thinksFirst'>) {
    this.#stripUsage = stripUsage;
    this.watch = wire === 'messages' ? new MessageTracker() : new CompletionTracker(choices);
    this.#marks = wire === 'messages' ? undefined : new ThinkTagSplitter(choices, thinksFirst);
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
      return this.#filterChunk(chunk);
    } catch (error) {
      if (!(error instanceof SseTooLarge || error instanceof SseOverload)) throw error;
      this.stop('large', error instanceof SseOverload ? { overloaded: true } : {});
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
        const kind = this.#classify(data);
        if (kind === 'odd') this.stop('cut');
        else if (kind === 'hidden') {
          this.#event.bytes = [...this.#partialEvent, Buffer.from('\n\n')];
          out.push(...this.#takeReplacements());
        } else out.push(...this.#partialEvent, Buffer.from('\n\n'));
        if (kind === 'last') this.#stopped = { how: 'done' };
      }
    }
    this.stop('cut');
    return [...out, ...this.#takePending()];
  }

  /** Stops with a reason, or with `done` if the response is already complete. */
  stop(outcome: SpliceEnd['how'], details: Pick<SpliceEnd, 'text' | 'overloaded'> = {}): void {
    this.#scanner.close();
    if (this.watch.isComplete && outcome !== 'left') this.#stopped ??= { how: 'done' };
    else this.#stopped ??= { how: outcome, ...details };
  }

  #filterChunk(chunk: Uint8Array): Uint8Array[] {
    const out: Uint8Array[] = [];
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    /** Everything before `sentEnd` has been sent or removed; the bytes from there to `sendableEnd` may be sent. */
    let sentEnd = 0;
    let sendableEnd = 0;
    const flush = (): void => {
      if (sendableEnd > sentEnd) out.push(...this.#partialEvent, chunk.subarray(sentEnd, sendableEnd));
      this.#partialEvent = [];
      this.#partialBytes = 0;
    };
    for (let at = 0; at < text.length && !this.#stopped;) {
      const next = this.#scanner.isAtBoundary ? this.#passMatching(text, at) : at;
      if (next > at) {
        at = sendableEnd = next;
        continue;
      }
      // One event at a time, since the next ones may match its pattern.
      const end = text.indexOf('\n\n', at);
      const until = end === -1 ? text.length : end + 2;
      let start = this.#scanner.isAtBoundary ? at : undefined;
      for (const [index, { data }] of this.#scanner.push(chunk.subarray(at, until)).entries()) {
        const chars = this.watch.chars;
        const kind = isDone(data) ? 'done' : this.#classify(data);
        if (kind === 'done') this.#stopped = { how: 'done' };
        else if (kind === 'odd') this.stop('odd', { text: data.slice(0, MAX_REPORTED_CHARS) });
        if (this.#stopped) break;
        const eventEnd = at + (this.#scanner.ends[index] ?? 0);
        if (kind === 'hidden') {
          this.#event.bytes = [...(sendableEnd === 0 ? this.#partialEvent : []), chunk.subarray(sendableEnd, eventEnd)];
          flush();
          out.push(...this.#takeReplacements());
          sentEnd = eventEnd;
        } else if (kind === 'usual' && start !== undefined)
          this.#pattern = EventPattern.fromEvent(text.slice(start, eventEnd), this.watch.chars - chars);
        sendableEnd = start = eventEnd;
        if (kind === 'last') {
          this.#stopped = { how: 'done' };
          break;
        }
      }
      if (!this.#stopped) sendableEnd = Math.max(sendableEnd, at + this.#scanner.boundary);
      at = until;
    }
    if (sendableEnd > 0) flush();
    if (this.#stopped) out.push(...this.#takePending());
    if (sendableEnd < chunk.byteLength) {
      this.#partialEvent.push(chunk.subarray(sendableEnd));
      this.#partialBytes += chunk.byteLength - sendableEnd;
      if (this.#partialBytes > MAX_PARTIAL_BYTES) this.stop('large');
    }
    return out;
  }

  /** Returns the end of the events that match the last parsed one. */
  #passMatching(text: string, from: number): number {
    if (!this.#pattern) return from;
    const attention = this.#marks?.scanMode ?? 'none';
    if (attention === 'all') return from;
    const limit = attention === 'none' ? text.length : findMark(text, from);
    let at = from;
    for (let end; (end = this.#pattern.matchEnd(text, at)) !== -1 && end <= limit; at = end) {
      this.events++;
      this.watch.chars += this.#pattern.chars;
    }
    return at;
  }

  /** `usual`: contains only text of the model. `last`: ends the response. */
  #classify(data: string): MessageEventKind | 'hidden' {
    // A new object, since an earlier event may still be pending.
    this.#event = { bytes: [] };
    if (isKeepAlive(data)) return 'hidden';
    const { watch } = this;
    if (watch instanceof MessageTracker) {
      const kind = watch.add(data);
      if (kind !== 'odd') this.events++;
      return kind;
    }
    const chunk = parseCompletionChunk(data);
    if (!chunk) return 'odd';
    watch.add(chunk);
    this.events++;
    if (this.#stripUsage && isUsageOnly(chunk)) return 'hidden';
    const replacements = this.#marks?.add(chunk, this.#event);
    if (replacements) {
      this.#replacements = replacements;
      return 'hidden';
    }
    return chunk.usage == null && chunk.choices?.every(({ finish_reason }) => !finish_reason) ? 'usual' : 'passes';
  }

  #takeReplacements(): Uint8Array[] {
    const events = this.#replacements;
    this.#replacements = [];
    return toBytes(events);
  }

  /** Returns pending events once nothing more may pass. */
  #takePending(): Uint8Array[] {
    return toBytes(this.#marks?.end() ?? []);
  }
}

const toBytes = (events: readonly PassthroughEvent<RawEvent>[]): Uint8Array[] =>
  events.flatMap((each) => ('data' in each ? [Buffer.from(writeSse(each.data))] : each.event.bytes));

/** Returns the position of the first character that may begin a reasoning tag, plain or escaped; the end of the text if there is none. */
const findMark = (text: string, from: number): number =>
  Math.min(findFollowedBy(text, from, '<', '/t"\\'), findFollowedBy(text, from, '\\u003', 'cC'));

/** Returns the position of `start` followed by one of the characters in `next`; the end of the text if there is none. */
function findFollowedBy(text: string, from: number, start: string, next: string): number {
  for (let at = text.indexOf(start, from); at !== -1; at = text.indexOf(start, at + 1))
    if (next.includes(text.charAt(at + start.length))) return at;
  return text.length;
}
