import { SseScanner, writeSse } from '#shared/http/sse.ts';
import { parseJson } from '#shared/parse-json.ts';
import type { Usage } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import { count, readUsage } from '#shared/http/upstream-usage.ts';
import { ProviderError } from '../../providers/provider.ts';
import { isPage, streamFault } from '../../providers/openai-errors.ts';
import type { Relayed } from '../../providers/relaying.ts';
import { bodyOf, type Caller } from '../caller.ts';
import { DONE } from '../completion.ts';
import type { HttpError } from '../errors.ts';

/** Maximum bytes of a response that is read whole: several images in base64. */
const MAX_WHOLE = 128 * 1024 * 1024;

const mediaUsage = z.object({
  input_tokens: z.number(),
  output_tokens: z.number().nullish(),
  total_tokens: z.number().nullish(),
});

/** The usage in a JSON body, in either of OpenAI's formats; undefined if it has none. */
export function readMediaUsage(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null || !('usage' in value)) return undefined;
  const parsed = mediaUsage.safeParse(value.usage);
  if (!parsed.success) return readUsage(value.usage);
  const [inputTokens, outputTokens] = [count(parsed.data.input_tokens), count(parsed.data.output_tokens)];
  return { inputTokens, outputTokens, totalTokens: Math.max(inputTokens + outputTokens, count(parsed.data.total_tokens)) };
}

export const isEventStream = ({ contentType }: Relayed): boolean => /^\s*text\/event-stream/i.test(contentType ?? '');

/** The whole text of a response. Throws `ProviderError` if it is too large or a web page. */
export async function readText(provider: string, { chunks }: Relayed): Promise<string> {
  const parts: BlobPart[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > MAX_WHOLE) throw new ProviderError(`${provider} sent a response that is too large.`);
    parts.push(chunk.slice());
  }
  const text = await new Blob(parts).text();
  if (isPage(text)) throw new ProviderError(`${provider} responded with a web page. Check the base URL.`);
  return text;
}

/** Content types of audio, subtitles and JSON. A browser could execute other types. */
const HARMLESS_TYPE = /^\s*(audio\/[\w.+-]+|text\/(plain|vtt)|application\/(json|x-subrip|octet-stream))\s*(;|$)/i;

export const harmlessType = (type: string | null, fallback: string): string =>
  type !== null && HARMLESS_TYPE.test(type) ? type : fallback;

const faultIn = (provider: string, value: unknown): ProviderError | undefined => {
  const fault = streamFault(value);
  return fault && new ProviderError(`${provider} failed: ${fault.message}`, { code: fault.word });
};

/** The text of a JSON response, and its value. Throws `ProviderError` if it is not JSON or reports an error. */
export async function readJsonAnswer(provider: string, relayed: Relayed): Promise<{ text: string; value: object }> {
  const text = await readText(provider, relayed);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null) throw new ProviderError(`${provider} sent a response that is not JSON.`);
  const fault = faultIn(provider, value);
  if (fault) throw relayed.told(fault);
  return { text, value };
}

/**
 * Forwards events as they arrive, and reads their usage. `record` is called once, with the number of characters in the answer. If the
 * upstream fails after the first event, an error object follows. `done`: the stream ends with `[DONE]`, whether the upstream sends it or
 * not.
 */
export async function* passEvents(
  { chunks, told }: Relayed,
  {
    provider,
    record,
    explain,
    signal,
    textOf,
    done,
  }: {
    provider: string;
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
    const value = toObject(data);
    const fault = faultIn(provider, value);
    if (fault) throw fault;
    usage = readMediaUsage(value) ?? usage;
    if (value) text += textOf(value);
    return (event === undefined ? '' : `event: ${event}\n`) + writeSse(data);
  };
  let out = '';
  try {
    for await (const chunk of chunks) {
      for (const event of scanner.push(chunk)) out += toText(event);
      if (ended) break;
      if (out === '') continue;
      begun = true;
      yield out;
      out = '';
    }
    for (const event of ended ? [] : scanner.end()) out += toText(event);
    begun ||= out !== '';
    yield out + (done ? DONE : '');
  } catch (error) {
    if (signal.aborted || (!begun && out === '')) throw told(error);
    begun = true;
    yield out + writeSse(JSON.stringify(explain(told(error)).body())) + (done ? DONE : '');
  } finally {
    if (begun) record(usage, text);
    scanner.close();
  }
}

/** An event's JSON; undefined if it is invalid, which the client's library reports. */
function toObject(data: string): object | undefined {
  try {
    const value = parseJson(data);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A response that forwards bytes as they arrive. Throws errors that occur before the first. */
export async function passBytes({ chunks, contentType }: Relayed, type: string, caller: Caller): Promise<Response> {
  const first = await chunks.next();
  return new Response(bodyOf(chunks, caller, first), { headers: { 'content-type': harmlessType(contentType, type) } });
}
