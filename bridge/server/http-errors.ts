import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorBody, formatErrorBody as bodyOf } from '#shared/http/error-body.ts';
import { isMessagesApi, createMessagesError, type MessagesError, ANTHROPIC_VERSION_HEADER } from '#shared/http/messages-api.ts';
import { isOllamaApi, createOllamaError } from '#shared/http/ollama-api.ts';
import { REQUEST_ID_HEADER } from '#shared/http/request-id.ts';
import { STATUS_CODES } from '../node-http.ts';
import type { Denial } from './auth.ts';

/** Error types of the HTTP API. */
const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  413: 'invalid_request_error',
  429: 'rate_limited',
  502: 'api_error',
  503: 'unavailable',
};

export const createErrorBody = (status: number, message: string): ErrorBody =>
  bodyOf(ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'), message);

/** Answers an exchange whose response has not begun. */
export function sendError(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  if (response.headersSent || response.destroyed) return;
  const body = JSON.stringify(toErrorBody(status, message, response));
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body), ...headers });
  response.end(body);
}

/** Builds the error body in the format of the requested API. */
function toErrorBody(status: number, message: string, response: ServerResponse): object {
  if (isMessagesRequest(response.req)) return toMessagesBody(status, message, response);
  return isOllamaApi(response.req.url ?? '') ? createOllamaError(message) : createErrorBody(status, message);
}

/** Whether a request uses Anthropic's API format. */
export const isMessagesRequest = ({ url = '', headers }: IncomingMessage): boolean => isMessagesApi(url, headers[ANTHROPIC_VERSION_HEADER]);

const toMessagesBody = (status: number, message: string, response: ServerResponse): MessagesError => {
  const id = response.getHeader(REQUEST_ID_HEADER);
  return createMessagesError(status, message, typeof id === 'string' ? id : null);
};

const CLOSE_MS = 1000;
const UNREADABLE_ERRORS: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'Request headers are limited to 16 KB'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request timed out'],
};

/**
 * Answers malformed HTTP and closes the connection. Closes without an answer if a response has begun, since the error would appear inside
 * it.
 */
export function rejectMalformed({ code = '' }: NodeJS.ErrnoException, socket: Duplex & { bytesWritten?: number }): void {
  const [status, message] = UNREADABLE_ERRORS[code] ?? [400, 'Malformed HTTP request'];
  if (code === 'ECONNRESET' || !socket.writable || socket.bytesWritten !== 0) return void socket.destroy();
  const body = JSON.stringify(createErrorBody(status, message));
  const head = ['content-type: application/json; charset=utf-8', `content-length: ${Buffer.byteLength(body)}`, 'connection: close'];
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...head, '', body].join('\r\n'));
  // Keeps reading for a moment: after an immediate close the client might not see the response.
  socket.resume();
  setTimeout(() => socket.destroy(), CLOSE_MS).unref();
}

/** Returns status and headers for a rejected credential. */
export function toDenialResponse({ code, retryAfterMs }: Denial): { status: 401 | 429; headers: Record<string, string> } {
  if (code === 'AUTH_REQUIRED') return { status: 401, headers: { 'www-authenticate': 'Bearer' } };
  return { status: 429, headers: { 'retry-after': String(Math.ceil((retryAfterMs ?? 0) / 1000)) } };
}
