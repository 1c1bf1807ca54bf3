import { SseScanner, writeSse } from '#shared/http/sse.ts';
import { parseJson } from '#shared/parse-json.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import { count, readUsage } from '#shared/http/upstream-usage.ts';
import { ProviderError } from '../../providers/provider.ts';
import { streamFault } from '../../providers/openai-errors.ts';
import type { Relayed } from '../../providers/relaying.ts';
import { bodyOf, type Caller } from '../caller.ts';
import { DONE } from '../completion.ts';
import type { HttpError } from '../errors.ts';

/** Maximum bytes of an answer that is read whole: some images in Base64. */
const MAX_WHOLE = 128 * 1024 * 1024;

const mediaUsage = z.object({
  input_tokens: z.number(),
  output_tokens: z.number().nullish(),
  total_tokens: z.number().nullish(),
});

/** The usage in a body of JSON, in either of OpenAI's forms; undefined if it has none. */
export function readMediaUsage(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null || !('usage' in value)) return undefined;
  const parsed = mediaUsage.safeParse(value.usage);
  if (!parsed.success) return readUsage(value.usage);
  const [inputTokens, outputTokens] = [count(parsed.data.input_tokens), count(parsed.data.output_tokens)];
  return { inputTokens, outputTokens, totalTokens: Math.max(inputTokens + outputTokens, count(parsed.data.total_tokens)) };
}

export const isEventStream = ({ contentType }: Relayed): boolean => /^\s*text\/event-stream/i.test(contentType ?? '');

/** All bytes of an answer. Throws `ProviderError` for one that is too large. */
export async function readWhole(provider: string, { chunks }: Relayed): Promise<Blob> {
  const parts: BlobPart[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > MAX_WHOLE) throw new ProviderError(`${provider} sent a response that is too large.`);
    parts.push(chunk.slice());
  }
  return new Blob(parts);
}

/** The JSON of an answer. Throws `ProviderError` for one that is none, or that reports an error. */
export function readAnswer(provider: string, text: string): object {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null) throw new ProviderError(`${provider} sent a response that is not JSON.`);
  const fault = streamFault(value);
  if (fault) throw new ProviderError(`${provider} failed: ${fault.message}`, { code: fault.word });
  return value;
}

/**
 * Passes events on as they come, and reads their usage. `record` is called once, with the characters of the answer. If the upstream fails after
 * the first event, an error object follows. `done`: the stream ends with `[DONE]`, whether the upstream sends it or not.
 */
export async function* passEvents(
  { chunks }: Relayed,
  {
    record,
    explain,
    signal,
    textOf,
    done,
  }: {
    record: (usage: Usage | undefined, text: string) => void;
    explain: (error: unknown) => HttpError;
    signal: AbortSignal;
    textOf: (value: object) => string;
    done: boolean;
  },
): AsyncGenerator<string> {
  const scanner = new SseScanner();
  let usage: Usage | undefined;
  let text = '';
  let begun = false;
  let ended = false;
  const toText = ({ event, data }: { event?: string; data: string }): string => {
    ended ||= data === '[DONE]';
    if (data === '[DONE]') return '';
    try {
      const value = parseJson(data);
      usage = readMediaUsage(value) ?? usage;
      if (typeof value === 'object' && value !== null) text += textOf(value);
    } catch {
      // Passed on as it is: the caller's own library reports it.
    }
    return (event === undefined ? '' : `event: ${event}\n`) + writeSse(data);
  };
  try {
    for await (const chunk of chunks) {
      const out = scanner.push(chunk).map(toText).join('');
      if (out !== '') {
        begun = true;
        yield out;
      }
      if (ended) break;
    }
    const rest = ended ? '' : scanner.end().map(toText).join('');
    yield rest + (done ? DONE : '');
  } catch (error) {
    if (!begun || signal.aborted) throw error;
    yield writeSse(JSON.stringify(explain(error).body())) + (done ? DONE : '');
  } finally {
    if (begun) record(usage, text);
    scanner.close();
  }
}

/** The response to bytes that are passed on as they come. Throws what fails before the first. */
export async function passBytes({ chunks, contentType }: Relayed, type: string, caller: Caller): Promise<Response> {
  const first = await chunks.next();
  return new Response(bodyOf(chunks, caller, first), { headers: { 'content-type': contentType ?? type } });
}
