import { isDone, MAX_SSE_EVENT_BYTES, type SseEvent, SseScanner } from '#shared/http/sse.ts';
import type { Watchdog } from '#shared/async/watchdog.ts';
import { createIdleError } from './chunk.ts';
import { isHtmlPage } from './upstream-errors.ts';
import { ProviderError } from './provider.ts';

/** Maximum bytes of a response that is not a stream. */
const MAX_BODY_BYTES = 25 * 1024 * 1024;

/** Time-out without data: SSE comments keep a connection open while a model thinks, but not forever. */
const MAX_SILENCE_MS = 600_000;

/** How long to wait for the end of a body after its last event, so that its connection can be reused. */
const LINGER_MS = 1000;

/**
 * Yields a body's chunks until it ends or the watchdog fires (then throws its reason). Returning early cancels the upstream, unless
 * `isComplete` reports that only the end is missing.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array> | null,
  watchdog: Watchdog,
  isComplete = (): boolean => false,
): AsyncGenerator<Uint8Array> {
  if (!body) return;
  const { signal } = watchdog;
  const reader = body.getReader();
  // Ends a pending read immediately, even if the transport ignores the signal.
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener('abort', cancel, { once: true });
  try {
    signal.throwIfAborted();
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      // The consumer's time does not count.
      watchdog.isPaused = true;
      yield value;
      watchdog.isPaused = false;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    if (isComplete() && !signal.aborted) void drainBody(reader, watchdog);
    else cancel();
  }
}

async function drainBody(reader: ReadableStreamDefaultReader<Uint8Array>, watchdog: Watchdog): Promise<void> {
  const stop = watchdog.clock.after(LINGER_MS, () => void reader.cancel().catch(() => {}));
  try {
    while (!(await reader.read()).done);
  } catch {
    // The connection broke after the last event: nothing is lost.
  } finally {
    stop();
  }
}

/** Reads a body as text; beyond `limit` bytes it is truncated, or rejected if `isStrict`. */
export async function readBodyText(
  body: ReadableStream<Uint8Array> | null,
  watchdog: Watchdog,
  limit = MAX_BODY_BYTES,
  isStrict = true,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of readChunks(body, watchdog)) {
    size += chunk.length;
    if (size > limit && isStrict) throw new ProviderError(`The response is larger than ${limit} bytes.`);
    text += decoder.decode(chunk, { stream: true });
    if (size > limit) break;
  }
  return text + decoder.decode();
}

/** Item of a response body: data of a server-sent event, or a whole text (JSON from servers that ignore `stream`). */
export type BodyItem = { kind: 'data'; data: string } | { kind: 'whole'; text: string };

/**
 * Distinguishes an event stream from whole JSON by its first byte, as content types are often wrong, and yields the batches that each
 * network chunk completes. `last`: completed only by the end of the body. `isEnd` recognizes the last event. Throws `SseTooLarge`, and
 * `ProviderError` for a web page and for endless comments.
 */
export async function* readBodyItems(
  provider: string,
  body: ReadableStream<Uint8Array> | null,
  watchdog: Watchdog,
  isEnd = isDone,
): AsyncGenerator<{ items: BodyItem[]; last: boolean }> {
  const scanner = new SseScanner(MAX_SSE_EVENT_BYTES, true);
  const decoder = new TextDecoder();
  let kind: 'unknown' | 'events' | 'whole' | 'lines' = 'unknown';
  let text = '';
  let size = 0;
  let hasEnded = false;
  const { clock } = watchdog;
  let lastItemAt = clock.monotonic();
  // Not `using`: WebKit has no Symbol.dispose.
  try {
    for await (const chunk of readChunks(body, watchdog, () => hasEnded)) {
      if (kind === 'unknown') {
        const first = chunk.find((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
        if (first !== undefined) kind = first === 0x7b || first === 0x5b || first === 0x3c ? 'whole' : 'events';
      }
      if (kind === 'whole' || kind === 'lines') {
        size += chunk.length;
        if (size > MAX_BODY_BYTES) throw new ProviderError(`${provider} sent a response larger than ${MAX_BODY_BYTES} bytes.`);
        text += decoder.decode(chunk, { stream: true });
        if (kind === 'whole' && isJsonLines(text)) kind = 'lines';
        if (kind === 'lines') {
          const end = text.lastIndexOf('\n') + 1;
          const items = parseLines(text.slice(0, end));
          text = text.slice(end);
          size = text.length;
          hasEnded ||= items.some((item) => item.kind === 'data' && isEnd(item.data));
          if (items.length > 0) yield { items, last: false };
        }
      } else {
        const items = scanner.push(chunk).map(toItem);
        hasEnded ||= items.some((item) => item.kind === 'data' && isEnd(item.data));
        if (items.length > 0) {
          yield { items, last: false };
          lastItemAt = clock.monotonic();
        } else if (clock.monotonic() - lastItemAt > MAX_SILENCE_MS) throw createIdleError(provider, MAX_SILENCE_MS);
      }
    }
    if (kind === 'whole') {
      text += decoder.decode();
      if (isHtmlPage(text)) throw new ProviderError(`${provider} responded with a web page instead of a completion. Check the base URL.`);
      yield { items: [{ kind: 'whole', text }], last: true };
      return;
    }
    const items = kind === 'lines' ? parseLines(text + decoder.decode()) : scanner.end().map(toItem);
    if (items.length > 0) yield { items, last: true };
  } finally {
    scanner.close();
  }
}

const toItem = ({ data }: SseEvent): BodyItem => ({ kind: 'data', data });

const parseLines = (text: string): BodyItem[] =>
  text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [{ kind: 'data', data: line }]));

/** Whether a text that begins with a JSON value continues with others, one per line. */
function isJsonLines(text: string): boolean {
  const end = text.indexOf('\n');
  return end !== -1 && /\S/.test(text.slice(end)) && parseObject(text.slice(0, end)) !== undefined;
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
