import { SseScanner, writeSse } from '#shared/http/sse.ts';
import { parseJson } from '#shared/parse-json.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import { toTokenCount, readUsage } from '#shared/http/upstream-usage.ts';
import { ProviderError } from '../../../providers/provider.ts';
import { isHtmlPage, readStreamFault } from '../../../providers/upstream-errors.ts';
import type { RelayedResponse } from '../../../providers/relaying-provider.ts';
import { toBodyStream, type Caller } from '../caller.ts';
import { DONE_EVENT } from '../completion-objects.ts';
import type { HttpError } from '../http-error.ts';

/** Maximum bytes of a response that is read whole: several images in base64. */
const MAX_RESPONSE_BYTES = 128 * 1024 * 1024;

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
  const [inputTokens, outputTokens] = [toTokenCount(parsed.data.input_tokens), toTokenCount(parsed.data.output_tokens)];
  return { inputTokens, outputTokens, totalTokens: Math.max(inputTokens + outputTokens, toTokenCount(parsed.data.total_tokens)) };
}

export const isEventStream = ({ contentType }: RelayedResponse): boolean => /^\s*text\/event-stream/i.test(contentType ?? '');

/** The whole text of a response. Throws `ProviderError` if it is too large or a web page. */
export async function readRelayedText(provider: string, { chunks }: RelayedResponse): Promise<string> {
  const parts: BlobPart[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES) throw new ProviderError(`${provider} sent a response that is too large.`);
    parts.push(chunk.slice());
  }
  const text = await new Blob(parts).text();
  if (isHtmlPage(text)) throw new ProviderError(`${provider} responded with a web page. Check the base URL.`);
  return text;
}

/** Content types of audio, subtitles and JSON. A browser could execute other types. */
const SAFE_TYPE = /^\s*(audio\/[\w.+-]+|text\/(plain|vtt)|application\/(json|x-subrip|octet-stream))\s*(;|$)/i;

export const toSafeType = (type: string | null, fallback: string): string => (type !== null && SAFE_TYPE.test(type) ? type : fallback);

const findFault = (provider: string, value: unknown): ProviderError | undefined => {
  const fault = readStreamFault(value);
  return fault && new ProviderError(`${provider} failed: ${fault.message}`, { code: fault.codeName });
};

/** The text of a JSON response, and its value. Throws `ProviderError` if it is not JSON or reports an error. */
export async function readRelayedJson(provider: string, relayed: RelayedResponse): Promise<{ text: string; value: object }> {
  const text = await readRelayedText(provider, relayed);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null) throw new ProviderError(`${provider} sent a response that is not JSON.`);
  const fault = findFault(provider, value);
  if (fault) throw relayed.told(fault);
  return { text, value };
}

/**
 * Forwards events as they arrive, and reads their usage. `record` is called once, with the number of characters in the answer. If the
 * upstream fails after the first event, an error object follows. `done`: the stream ends with `[DONE]`, whether the upstream sends it or
 * not.
 */
export async function* relayEvents(
  { chunks, told: normalizeError }: RelayedResponse,
  {
    provider,
    record,
    explain,
    signal,
    getText,
    done,
  }: {
    provider: string;
    record: (usage: Usage | undefined, text: string) => void;
    explain: (error: unknown) => HttpError;
    signal: AbortSignal;
    getText: (value: object) => string;
    done: boolean;
  },
): AsyncGenerator<string> {
  const scanner = new SseScanner();
  let usage: Usage | undefined;
  let text = '';
  let hasBegun = false;
  let hasEnded = false;
  const forwardEvent = ({ event, data }: { event?: string; data: string }): string => {
    hasEnded ||= data === '[DONE]';
    if (data === '[DONE]') return '';
    const value = toObject(data);
    const fault = findFault(provider, value);
    if (fault) throw fault;
    usage = readMediaUsage(value) ?? usage;
    if (value) text += getText(value);
    return (event === undefined ? '' : `event: ${event}\n`) + writeSse(data);
  };
  let output = '';
  try {
    for await (const chunk of chunks) {
      for (const event of scanner.push(chunk)) output += forwardEvent(event);
      if (hasEnded) break;
      if (output === '') continue;
      hasBegun = true;
      yield output;
      output = '';
    }
    for (const event of hasEnded ? [] : scanner.end()) output += forwardEvent(event);
    hasBegun ||= output !== '';
    yield output + (done ? DONE_EVENT : '');
  } catch (error) {
    if (signal.aborted || (!hasBegun && output === '')) throw normalizeError(error);
    hasBegun = true;
    yield output + writeSse(JSON.stringify(explain(normalizeError(error)).body())) + (done ? DONE_EVENT : '');
  } finally {
    if (hasBegun) record(usage, text);
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
export async function relayBytes({ chunks, contentType }: RelayedResponse, type: string, caller: Caller): Promise<Response> {
  const first = await chunks.next();
  return new Response(toBodyStream(chunks, caller, first), { headers: { 'content-type': toSafeType(contentType, type) } });
}
