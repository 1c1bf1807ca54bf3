import { isErrorPayload } from '#shared/http/completion-tracker.ts';
import { z } from '#shared/rpc/zod.ts';
import { ProviderError } from './provider.ts';
import { parseContextOverflow } from './context-overflow.ts';

const MAX_DETAIL_CHARS = 500;
const RETRYABLE_STATUSES = new Set([408, 409, 425, 429]);
/** Server errors that a retry does not fix. */
const PERMANENT_STATUSES = new Set([501, 505, 508]);

const errorObject = z.object({
  message: z.string(),
  code: z.union([z.string(), z.number()]).nullish(),
  type: z.string().nullish(),
  param: z.string().nullish().catch(null),
});
const streamError = z.union([
  z.looseObject({ error: z.union([errorObject, z.string().min(1)]) }),
  z.looseObject({ object: z.literal('error'), message: z.string() }),
]);
const CODE_PATTERN = /^[A-Za-z][\w.-]{0,99}$/;
/** Error code that tells clients to send less. */
const CONTEXT_LENGTH_CODE = 'context_length_exceeded';
/** Other error bodies: `{detail: …}`, `{message: "…"}`. */
const plainError = z.object({ message: z.string().nullish(), detail: z.unknown().optional() });

export interface UpstreamFault {
  message: string;
  code?: string | undefined;
  /** Its code, if it is a string. */
  codeName?: string | undefined;
  /** The request is at fault, as far as the server reports it. */
  isRequestFault?: boolean;
  /** The request's parameter at fault. */
  param?: string | undefined;
}

const otherError = z.looseObject({
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
export function readStreamFault(value: unknown): UpstreamFault | undefined {
  // Most chunks contain no error, and a failing parse of each would cost more than reading it.
  if (typeof value !== 'object' || value === null) return undefined;
  if (!isErrorPayload(value)) return undefined;
  const parsed = streamError.safeParse(value);
  if (parsed.success) {
    const { error, message } = { error: undefined, message: '', ...parsed.data };
    if (typeof error === 'string') return { message: error };
    return error
      ? {
          message: error.message,
          code: error.code == null ? (error.type ?? undefined) : String(error.code),
          param: error.param ?? undefined,
          codeName: typeof error.code === 'string' && CODE_PATTERN.test(error.code) ? error.code : undefined,
          isRequestFault: error.type === 'invalid_request_error' || error.code === CONTEXT_LENGTH_CODE,
        }
      : { message: String(message) };
  }
  const unknownError = 'error' in value ? value.error : undefined;
  if (unknownError) return { message: toText(unknownError) };
  const { detail, base_resp: baseResponse, choices } = otherError.parse(value);
  if (baseResponse?.status_code) return { message: baseResponse.status_msg || 'no reason given', code: String(baseResponse.status_code) };
  const choiceError = choices?.find(({ error }) => Boolean(error))?.error;
  if (choiceError) return readStreamFault({ error: choiceError });
  return { message: detail == null ? 'the model stopped with an error' : toText(detail) };
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function readBodyFault(value: unknown): UpstreamFault | undefined {
  const fault = readStreamFault(value);
  const parsed = plainError.safeParse(value);
  if (fault || !parsed.success) return fault;
  const { message, detail } = parsed.data;
  if (message) return { message };
  if (detail == null) return undefined;
  return { message: toText(detail) };
}

/** The error in a body of JSON, plain text or HTML. */
export function parseFault(text: string): UpstreamFault {
  const trimmed = text.trim();
  if (trimmed === '') return { message: 'no reason given' };
  try {
    const value: unknown = JSON.parse(trimmed);
    // Google sends errors in an array if events were requested.
    const fault = readBodyFault(Array.isArray(value) ? value[0] : value);
    if (fault) return { ...fault, message: shorten(fault.message) };
  } catch {
    // Not JSON: HTML or plain text, handled below.
  }
  if (isHtmlPage(trimmed)) {
    const title = /<title[^<>]{0,200}>([^<]{1,200})/i.exec(trimmed)?.[1]?.trim();
    return { message: `the response was a web page${title ? ` titled "${title}"` : ''}. Check the base URL.` };
  }
  return { message: shorten(trimmed) };
}

export function isHtmlPage(text: string): boolean {
  return /^\s*<(!doctype|html|head|body|\?xml)/i.test(text);
}

export function shorten(text: string, limit = MAX_DETAIL_CHARS): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}

/** Longer waits are capped to this. */
const MAX_WAIT_MS = 24 * 60 * 60_000;

/** A requested wait, in whole milliseconds; undefined if it is invalid. */
export const clampWait = (ms: number): number | undefined =>
  ms >= 0 && Number.isFinite(ms) ? Math.min(Math.ceil(ms), MAX_WAIT_MS) : undefined;

/** Milliseconds from `Retry-After`, which is a number of seconds or a date; undefined if it is missing or invalid. */
function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  return Number.isFinite(seconds) ? clampWait(seconds * 1000) : clampWait(Math.max(0, Date.parse(header) - now));
}

function describeStatus(name: string, status: number): string {
  if (status === 401 || status === 403) return `${name} rejected the API key (HTTP ${status})`;
  if (status === 404) return `${name} did not find the model or URL (HTTP 404)`;
  if (status === 429) return `${name} is limiting requests (HTTP 429)`;
  if (status >= 500) return `${name} failed (HTTP ${status})`;
  return `${name} rejected the request (HTTP ${status})`;
}

/** Whether the same request may succeed later, by its HTTP status. */
export const isTransientStatus = (status: number): boolean =>
  RETRYABLE_STATUSES.has(status) || (status >= 500 && !PERMANENT_STATUSES.has(status));

/** Milliseconds that the response's headers ask to wait. */
export function getRetryAfter(headers: Headers, now: number): number | undefined {
  const ms = headers.get('retry-after-ms');
  const parsedMs = ms === null || ms.trim() === '' ? undefined : clampWait(Number(ms));
  return parsedMs ?? parseRetryAfter(headers.get('retry-after'), now);
}

/** Error of an unsuccessful response. `body`: its text, which the message quotes. */
export function toStatusError(name: string, response: Response, body: string, now: number): ProviderError {
  const { status } = response;
  const fault = parseFault(body);
  const retryAfter = getRetryAfter(response.headers, now);
  // An exhausted quota has status 429 too, but retrying does not help.
  const retryable = isTransientStatus(status) && fault.code !== 'insufficient_quota';
  return new ProviderError(`${describeStatus(name, status)}: ${fault.message}`, {
    status,
    retryable,
    ...{ param: fault.param, code: fault.codeName, contextOverflow: parseContextOverflow(fault, status) },
    ...(retryAfter === undefined ? {} : { retryAfterMs: retryAfter }),
  });
}
