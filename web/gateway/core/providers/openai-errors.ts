import { tellsOfError } from '#shared/http/completion-watch.ts';
import { z } from '#shared/rpc/zod.ts';
import { ProviderError } from './provider.ts';
import { tooLongOf } from './too-long.ts';

const DETAIL_LIMIT = 500;
const RETRYABLE = new Set([408, 409, 425, 429]);
/** Server errors that a retry does not fix. */
const NEVER = new Set([501, 505, 508]);

const errorObject = z.object({
  message: z.string(),
  code: z.union([z.string(), z.number()]).nullish(),
  type: z.string().nullish(),
  param: z.string().nullish().catch(null),
});
const inStream = z.union([
  z.looseObject({ error: z.union([errorObject, z.string().min(1)]) }),
  z.looseObject({ object: z.literal('error'), message: z.string() }),
]);
const WORD = /^[A-Za-z][\w.-]{0,99}$/;
/** Error code that tells clients to send less. */
const TOO_LONG = 'context_length_exceeded';
/** Other error bodies: `{detail: …}`, `{message: "…"}`. */
const plain = z.object({ message: z.string().nullish(), detail: z.unknown().optional() });

export interface UpstreamFault {
  message: string;
  code?: string | undefined;
  /** Its code, if it is a string. */
  word?: string | undefined;
  /** The request is at fault, as far as the server reports it. */
  ofRequest?: boolean;
  /** The request's parameter at fault. */
  param?: string | undefined;
}

const elsewhere = z.looseObject({
  detail: z.unknown().optional(),
  base_resp: z.object({ status_code: z.number().nullish(), status_msg: z.string().nullish() }).nullish().catch(null),
  choices: z
    .array(z.looseObject({ error: z.unknown().optional() }))
    .nullish()
    .catch(null),
});

/**
 * The error that a chunk or completion reports, or undefined: `{error: {message}}`, `{error: "…"}`, `{object: "error", message}`,
 * `{detail}`, `{base_resp: {status_code, status_msg}}`, or an `error` or the finish reason `error` in a choice.
 */
export function streamFault(value: unknown): UpstreamFault | undefined {
  // Most chunks contain no error, and a failing parse of each would cost more than reading it.
  if (typeof value !== 'object' || value === null) return undefined;
  if (!tellsOfError(value)) return undefined;
  const parsed = inStream.safeParse(value);
  if (parsed.success) {
    const { error, message } = { error: undefined, message: '', ...parsed.data };
    if (typeof error === 'string') return { message: error };
    return error
      ? {
          message: error.message,
          code: error.code == null ? (error.type ?? undefined) : String(error.code),
          param: error.param ?? undefined,
          word: typeof error.code === 'string' && WORD.test(error.code) ? error.code : undefined,
          ofRequest: error.type === 'invalid_request_error' || error.code === TOO_LONG,
        }
      : { message: String(message) };
  }
  const odd = 'error' in value ? value.error : undefined;
  if (odd) return { message: toText(odd) };
  const { detail, base_resp: answer, choices } = elsewhere.parse(value);
  if (answer?.status_code) return { message: answer.status_msg || 'no reason given', code: String(answer.status_code) };
  const inChoice = choices?.find(({ error }) => Boolean(error))?.error;
  if (inChoice) return streamFault({ error: inChoice });
  return { message: detail == null ? 'the model stopped with an error' : toText(detail) };
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function bodyFault(value: unknown): UpstreamFault | undefined {
  const fault = streamFault(value);
  const parsed = plain.safeParse(value);
  if (fault || !parsed.success) return fault;
  const { message, detail } = parsed.data;
  if (message) return { message };
  if (detail == null) return undefined;
  return { message: toText(detail) };
}

/** The error in a body of JSON, plain text or HTML. */
export function faultFromText(text: string): UpstreamFault {
  const trimmed = text.trim();
  if (trimmed === '') return { message: 'no reason given' };
  try {
    const value: unknown = JSON.parse(trimmed);
    // Google sends errors in an array if events were requested.
    const fault = bodyFault(Array.isArray(value) ? value[0] : value);
    if (fault) return { ...fault, message: shorten(fault.message) };
  } catch {
    // Not JSON: HTML or plain text, handled below.
  }
  if (isPage(trimmed)) {
    const title = /<title[^<>]{0,200}>([^<]{1,200})/i.exec(trimmed)?.[1]?.trim();
    return { message: `the response was a web page${title ? ` titled "${title}"` : ''}. Check the base URL.` };
  }
  return { message: shorten(trimmed) };
}

export function isPage(text: string): boolean {
  return /^\s*<(!doctype|html|head|body|\?xml)/i.test(text);
}

export function shorten(text: string, limit = DETAIL_LIMIT): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}

/** Longer waits are capped to this. */
const LONGEST_WAIT_MS = 24 * 60 * 60_000;

/** A requested wait, in whole milliseconds; undefined if it is invalid. */
export const waitMs = (ms: number): number | undefined =>
  ms >= 0 && Number.isFinite(ms) ? Math.min(Math.ceil(ms), LONGEST_WAIT_MS) : undefined;

/** Milliseconds from `Retry-After`, which is a number of seconds or a date; undefined if it is missing or invalid. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  return Number.isFinite(seconds) ? waitMs(seconds * 1000) : waitMs(Math.max(0, Date.parse(header) - now));
}

export function lead(name: string, status: number): string {
  if (status === 401 || status === 403) return `${name} rejected the API key (HTTP ${status})`;
  if (status === 404) return `${name} did not find the model or URL (HTTP 404)`;
  if (status === 429) return `${name} is limiting requests (HTTP 429)`;
  if (status >= 500) return `${name} failed (HTTP ${status})`;
  return `${name} rejected the request (HTTP ${status})`;
}

/** Whether the same request may succeed later, by its HTTP status. */
export const mayPass = (status: number): boolean => RETRYABLE.has(status) || (status >= 500 && !NEVER.has(status));

/** Milliseconds that the response's headers ask to wait. */
export function waitOf(headers: Headers, now: number): number | undefined {
  const ms = headers.get('retry-after-ms');
  const given = ms === null || ms.trim() === '' ? undefined : waitMs(Number(ms));
  return given ?? retryAfterMs(headers.get('retry-after'), now);
}

/** Error of an unsuccessful response. `body`: its text, which the message quotes. */
export function statusError(name: string, response: Response, body: string, now: number): ProviderError {
  const { status } = response;
  const fault = faultFromText(body);
  const retryAfter = waitOf(response.headers, now);
  // An exhausted quota has status 429 too, but retrying does not help.
  const retryable = mayPass(status) && fault.code !== 'insufficient_quota';
  return new ProviderError(`${lead(name, status)}: ${fault.message}`, {
    status,
    retryable,
    ...{ param: fault.param, code: fault.word, tooLong: tooLongOf(fault, status) },
    ...(retryAfter === undefined ? {} : { retryAfterMs: retryAfter }),
  });
}
