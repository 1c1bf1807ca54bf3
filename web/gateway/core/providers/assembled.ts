import { isDone, isKeepAlive } from '#shared/http/sse.ts';
import { brokeOff } from './chunk.ts';
import { type ModelEvent, ProviderError } from './provider.ts';
import { readItems } from './upstream-body.ts';
import { parseJson, type UpstreamHttp } from './upstream-http.ts';
import type { Watchdog } from './watchdog.ts';

/** After the finish reason only a trailer may follow: servers that leave the connection open get this long. */
export const TRAILER_MS = 2_000;

/** Characters of events that show nothing (thoughts, pieces of calls) in one answer: a model that has lost itself writes on for ever, and all of it is held. */
export const MAX_UNSEEN = 64 * 1024 * 1024;
/** Characters of its text, likewise. */
const MAX_TEXT = 16 * 1024 * 1024;

/** Puts what a server streams together into model events. */
export interface Assembler {
  /** A finish reason has come; only a trailer may follow. */
  readonly finished: boolean;
  /** Reads one event's data. Throws `ProviderError` for what cannot be read and for an error that it tells of. */
  add(data: string): ModelEvent[];
  /** The events that close the answer. */
  end(): ModelEvent[];
}

/**
 * The model events of one answer, which end in exactly one finish or throw: the signal's reason, or `ProviderError`. `isEnd` knows the data
 * of the last event, where there is such a one beside `[DONE]`.
 */
export async function* assembled(
  http: UpstreamHttp,
  assembler: Assembler,
  {
    signal,
    open,
    isEnd = () => false,
  }: { signal: AbortSignal; open(watchdog: Watchdog): Promise<Response>; isEnd?(data: string): boolean },
): AsyncGenerator<ModelEvent> {
  const watchdog = http.watch(signal);
  let unseen = 0;
  let shown = 0;
  try {
    const response = await open(watchdog);
    for await (const { items, last } of readItems(http.name, response.body, watchdog, (data) => isDone(data) || isEnd(data))) {
      for (const item of items) {
        if (item.kind === 'whole') {
          yield* assembler.add(item.text);
          return yield* assembler.end();
        }
        if (isDone(item.data)) return yield* assembler.end();
        if (isKeepAlive(item.data)) continue;
        // Half an event at the very end is a stream that was cut, not garbage.
        if (last && parseJson(item.data) === undefined) break;
        const before = assembler.finished;
        const events = assembler.add(item.data);
        const text = events.reduce((sum, event) => sum + (event.type === 'text' || event.type === 'refusal' ? event.text.length : 0), 0);
        shown += text;
        if (text === 0 && !events.some(({ type }) => type === 'picture')) unseen += item.data.length;
        if (unseen > MAX_UNSEEN) throw new ProviderError(`${http.name} sent too much reasoning and too many tool calls.`);
        if (shown > MAX_TEXT) throw new ProviderError(`${http.name} sent more than ${MAX_TEXT} characters.`);
        yield* events;
        if (isEnd(item.data)) return yield* assembler.end();
        if (assembler.finished && !before) watchdog.limit(Math.min(TRAILER_MS, http.idleMs));
      }
    }
    if (!assembler.finished) throw brokeOff(http.name);
    yield* assembler.end();
  } catch (error) {
    signal.throwIfAborted();
    // Silence or a cut after the finish reason: the answer is whole, only the trailer never came.
    if (!assembler.finished || (error instanceof ProviderError && !watchdog.signal.aborted)) throw http.explain(error);
    yield* assembler.end();
  } finally {
    watchdog.stop();
  }
}
