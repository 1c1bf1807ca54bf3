import { MAX_ERROR_CHARS, truncateMiddle } from '../truncate-text.ts';

/** Anthropic's Messages API as Perch serves it: which requests are in its form, and the form of its errors (https://platform.claude.com/docs/en/api/errors). */

export const MESSAGES_PATH = '/v1/messages';
export const ANTHROPIC_VERSION_HEADER = 'anthropic-version';
export const ANTHROPIC_BETA_HEADER = 'anthropic-beta';
/** The request's ID under the name that Anthropic's clients read. */
export const MESSAGES_REQUEST_ID_HEADER = 'request-id';

/** Whether a request is answered in Anthropic's form: its own paths, and the list of models if the caller names a version. `url` is a path. */
export const isMessagesApi = (url: string, version: unknown): boolean =>
  /^\/v1\/messages(?:[/?]|$)/.test(url) || (version != null && /^\/v1\/models(?:[/?]|$)/.test(url));

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

export interface MessagesError {
  type: 'error';
  error: { type: string; message: string; details?: Record<string, unknown> };
  request_id: string | null;
}

export function createMessagesError(
  status: number,
  message: string,
  requestId: string | null,
  details?: Record<string, unknown>,
): MessagesError {
  const type = ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  const error = { type, message: truncateMiddle(message, MAX_ERROR_CHARS), ...(details ? { details } : {}) };
  return { type: 'error', error, request_id: requestId };
}

/** An event of a stream; its data names its type. */
export const writeEvent = (event: { type: string } & Record<string, unknown>): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Whether answers to a path can be repeated by a cached decision, and all in the request line and headers that one depends on. */
export function toVariant(url: string, version: string | null | undefined, beta: string | null | undefined): string | undefined {
  if (url === '/v1/chat/completions') return '';
  return url === MESSAGES_PATH || url === `${MESSAGES_PATH}?beta=true` ? JSON.stringify([url, version ?? '', beta ?? '']) : undefined;
}
