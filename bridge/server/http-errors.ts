import type { ServerResponse } from 'node:http';
import { type ErrorBody, errorBody as bodyOf } from '#shared/http/error-body.ts';
import type { Denial } from './auth.ts';

/** Error types of the HTTP surface (decisions, "HTTP"). */
const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  413: 'invalid_request_error',
  429: 'rate_limited',
  502: 'api_error',
  503: 'unavailable',
};

export const errorBody = (status: number, message: string): ErrorBody =>
  bodyOf(TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'), message);

/** Answers an exchange that has not begun to answer. */
export function sendError(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  if (response.headersSent || response.destroyed) return;
  const body = JSON.stringify(errorBody(status, message));
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body), ...headers });
  response.end(body);
}

/** Status and headers of a refused credential. */
export function denialOf({ code, retryAfterMs }: Denial): { status: 401 | 429; headers: Record<string, string> } {
  if (code === 'AUTH_REQUIRED') return { status: 401, headers: { 'www-authenticate': 'Bearer' } };
  return { status: 429, headers: { 'retry-after': String(Math.ceil((retryAfterMs ?? 0) / 1000)) } };
}
