import type { Opening } from '#shared/link/hello.ts';
import { serveHttp } from '#shared/link/http.ts';
import type { Stream } from '#shared/link/stream.ts';
import { CLOSE } from '#shared/rpc/frames.ts';
import { refuseEgress } from './egress-guard.ts';
import { HOP_BY_HOP } from './hop-by-hop.ts';

/** Bytes of a request that goes out. It is sent whole, with its length, for not every server understands a body in chunks. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Of the request: what concerns this connection alone, or is fetch's to say. */
const NOT_SENT = new Set([...HOP_BY_HOP, 'host', 'content-length', 'accept-encoding', 'cookie', 'origin', 'referer', 'x-perch-via']);
/** Of the answer: what is no longer true of the decoded body, and cookies, which nothing here keeps. */
const NOT_RETURNED = new Set([...HOP_BY_HOP, 'content-encoding', 'content-length', 'set-cookie']);

/** Tells a request of this gateway's own, by which one that comes back to it is known. */
export const VIA = 'x-perch-via';

/**
 * The way out for a host in a browser, which has 6 connections to one server and CORS in its way: one HTTP exchange for each stream, its address
 * in `:url` (shared/link/http.ts). Redirects are answers, not followed. A refused or failed exchange resets the stream with the reason. `via` names
 * this gateway in what goes out.
 */
export function serveEgress(stream: Stream, opening: Opening, via: string): void {
  const url = opening.headers[':url'];
  const refusal = url === undefined ? 'egress needs an address (:url)' : refuseEgress(url);
  if (refusal !== undefined) return stream.reset(CLOSE.policy, refusal);
  serveHttp(stream, opening, 'http://egress.invalid', (request) => goOut(request, via));
}

async function goOut(request: Request, via: string): Promise<Response> {
  const { method, url, signal } = request;
  const headers: [string, string][] = [...[...request.headers].filter(([name]) => !NOT_SENT.has(name)), [VIA, via]];
  const body = request.body ? await whole(request.body) : undefined;
  let response: Response;
  try {
    response = await fetch(url, { method, headers, signal, redirect: 'manual', ...(body ? { body } : {}) });
  } catch (error) {
    throw new TypeError(reasonOf(error, new URL(url)), { cause: error });
  }
  // Reads the request, which must outlive the fetch: its signal only works while it is reachable.
  request.signal.throwIfAborted();
  const returned = [...response.headers].filter(([name]) => !NOT_RETURNED.has(name));
  return new Response(response.body, { status: response.status, headers: returned });
}

async function whole(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.byteLength;
    if (size > MAX_BODY_BYTES) throw new TypeError(`a request that goes out may have ${MAX_BODY_BYTES / 1024 / 1024} MiB`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** `fetch failed` says nothing; the cause does. */
function reasonOf(error: unknown, { host }: URL): string {
  if (!(error instanceof Error)) return `${host} could not be asked`;
  const cause = error.cause instanceof AggregateError ? error.cause.errors[0] : error.cause;
  const detail: unknown = cause instanceof Error ? cause.message : error.message;
  return `${host} could not be asked: ${String(detail)}`;
}
