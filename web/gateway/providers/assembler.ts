import { isDone, isKeepAlive } from '#shared/http/sse.ts';
import { createInterruptedError } from './chunk.ts';
import { type ModelEvent, ProviderError } from './provider.ts';
import { readBodyItems } from './upstream-body.ts';
import { parseJson, type UpstreamHttp } from './upstream-http.ts';
import type { Watchdog } from '#shared/async/watchdog.ts';

/** Time to wait for a trailer after the finish reason, for servers that leave the connection open. */
export const TRAILER_MS = 2_000;

/**
 * Maximum number of characters in events that show nothing (thoughts, parts of calls) of one answer: a model in a loop writes endlessly,
 * and all of it is kept in memory.
 */
export const MAX_HIDDEN_CHARS = 64 * 1024 * 1024;
/** Maximum number of characters of text in one answer. */
const MAX_TEXT_CHARS = 16 * 1024 * 1024;

/** Converts a server's stream to model events. */
export interface Assembler {
  /** True after the finish reason; only a trailer may follow. */
  readonly isFinished: boolean;
  /** Reads the data of one event. Throws `ProviderError` if the data is invalid or reports an error. */
  add(data: string): ModelEvent[];
  /** The events that end the answer. */
  end(): ModelEvent[];
}

/**
 * Model events of one answer, ending with exactly one `finish`. `isEnd` recognizes the data of the last event, in addition to `[DONE]`.
 * Throws the signal's reason, or `ProviderError`.
 */
export async function* assembleEvents(
  http: UpstreamHttp,
  assembler: Assembler,
  {
    signal,
    open,
    isEnd = () => false,
  }: { signal: AbortSignal; open(watchdog: Watchdog): Promise<Response>; isEnd?(data: string): boolean },
): AsyncGenerator<ModelEvent> {
  const watchdog = http.createWatchdog(signal);
  let hiddenChars = 0;
  let textChars = 0;
  try {
    const response = await open(watchdog);
    for await (const { items, last } of readBodyItems(http.name, response.body, watchdog, (data) => isDone(data) || isEnd(data))) {
      for (const item of items) {
        if (item.kind === 'whole') {
          yield* assembler.add(item.text);
          return yield* assembler.end();
        }
        if (isDone(item.data)) return yield* assembler.end();
        if (isKeepAlive(item.data)) continue;
        // An incomplete event at the very end means a truncated stream, not invalid data.
        if (last && parseJson(item.data) === undefined) break;
        const wasFinished = assembler.isFinished;
        const events = assembler.add(item.data);
        const text = events.reduce((sum, event) => sum + (event.type === 'text' || event.type === 'refusal' ? event.text.length : 0), 0);
        textChars += text;
        if (text === 0 && !events.some(({ type }) => type === 'picture')) hiddenChars += item.data.length;
        if (hiddenChars > MAX_HIDDEN_CHARS) throw new ProviderError(`${http.name} sent too much reasoning and too many tool calls.`);
        if (textChars > MAX_TEXT_CHARS) throw new ProviderError(`${http.name} sent more than ${MAX_TEXT_CHARS} characters.`);
        yield* events;
        if (isEnd(item.data)) return yield* assembler.end();
        if (assembler.isFinished && !wasFinished) watchdog.setLimit(Math.min(TRAILER_MS, http.idleMs));
      }
    }
    if (!assembler.isFinished) throw createInterruptedError(http.name);
    yield* assembler.end();
  } catch (error) {
    signal.throwIfAborted();
    // A time-out or a broken connection after the finish reason: the answer is complete, only the trailer is missing.
    if (!assembler.isFinished || (error instanceof ProviderError && !watchdog.signal.aborted)) throw http.explain(error);
    yield* assembler.end();
  } finally {
    watchdog.stop();
  }
}
