import type { FetchLike } from '@modelcontextprotocol/client';
import type { Fetch } from '../../../ports/fetch.ts';

/** Time limit for each document and each token. */
const TIMEOUT_MS = 15_000;
const MAX_BYTES = 256 * 1024;
const NO_BODY = new Set([204, 205, 304]);

/**
 * A `fetch` for addresses that the MCP server at `url` names for its authorization: sends none of the server's headers, follows no
 * redirect, limits time and size of a response, and lets the bridge check addresses of other origins (`FetchInit.namedBy`).
 */
export function createRestrictedFetch(fetch: Fetch, url: string, signal: AbortSignal): FetchLike {
  const { origin } = new URL(url);
  return async (to, { method = 'GET', headers, body } = {}) => {
    if (body !== undefined && body !== null && typeof body !== 'string' && !(body instanceof URLSearchParams))
      throw new TypeError('only text can be sent to authorization servers');
    const { href, host } = new URL(to);
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const response = await fetch(href, {
        ...{ method, namedBy: origin, signal: AbortSignal.any([signal, timeout]) },
        headers: Object.fromEntries(new Headers(headers)),
        ...(body ? { body: body.toString() } : {}),
      });
      return new Response(NO_BODY.has(response.status) ? null : await readLimited(response, host), response);
    } catch (error) {
      if (timeout.aborted) throw new Error(`${host} did not respond within ${TIMEOUT_MS / 1000} s.`, { cause: error });
      // The SDK takes a `TypeError` for a CORS error, and retries.
      throw error instanceof TypeError ? new Error(error.message, { cause: error }) : error;
    }
  };
}

async function readLimited(response: Response, host: string): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    parts.push(part);
    size += part.byteLength;
    if (size > MAX_BYTES) throw new Error(`${host} sent more than ${MAX_BYTES / 1024} KiB.`);
  }
  const body = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    body.set(part, offset);
    offset += part.byteLength;
  }
  return body;
}
