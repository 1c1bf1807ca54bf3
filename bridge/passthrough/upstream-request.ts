import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { ResponseHead } from '#shared/link/stream-http.ts';
import { ACCEPTED_ENCODINGS, decodeBody } from '../capabilities/decoded-body.ts';
import { HOP_BY_HOP_HEADERS } from '../capabilities/hop-by-hop.ts';
import type { NetworkReach } from '../capabilities/address-policy.ts';
import { pinnedLookup, resolveHost } from '../capabilities/pinned-lookup.ts';
import { Agent, request } from '../capabilities/undici.ts';

/** Request headers that are not forwarded: hop-by-hop ones, and those set here. */
const UNSENT_HEADERS = new Set([
  ...HOP_BY_HOP_HEADERS,
  'host',
  'content-length',
  'accept-encoding',
  'expect',
  'cookie',
  'origin',
  'referer',
  'x-perch-via',
]);
/** Response headers that are not forwarded: those that no longer apply to the decoded body, and cookies, which are not stored. */
const UNRETURNED_HEADERS = new Set([...HOP_BY_HOP_HEADERS, 'content-encoding', 'content-length', 'set-cookie']);

/** Header that identifies this gateway's own requests, so that one that comes back is recognized. */
export const VIA_HEADER = 'x-perch-via';

// Without timeouts, since models may think for minutes: the core limits silence.
const createAgent = (reach: NetworkReach): Agent =>
  new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { lookup: pinnedLookup(resolveHost, reach) } });
const dispatchers: Readonly<Record<NetworkReach, Agent>> = { local: createAgent('local'), public: createAgent('public') };

/** An upstream response that has begun. `body` is paused. */
export interface UpstreamResponse {
  head: ResponseHead;
  body: Readable;
  /** Data read to check the response, which turned out invalid. Undefined if it was not checked. */
  read?: Uint8Array[];
}

/** A pending upstream response for the host to handle: it has not arrived, or is invalid. */
export interface PendingResponse {
  url: string;
  response: Promise<UpstreamResponse>;
  /** Cancels the request. */
  cancel(): void;
}

export interface UpstreamRequest {
  url: string;
  /** Permitted targets. Default: all that the gateway may connect to. */
  reach?: NetworkReach;
  method: Dispatcher.HttpMethod;
  /** As sent. */
  headers: Record<string, string>;
  body: Buffer;
  signal: AbortSignal;
}

/** Returns the method and headers to send for a stream's opening. `via`: id of this gateway. */
export function toUpstreamHead(
  { ':method': method = 'GET', ...openingHeaders }: Record<string, string>,
  via: string,
): Pick<UpstreamRequest, 'method' | 'headers'> {
  const sent = Object.entries(openingHeaders).filter(([name]) => !name.startsWith(':') && !UNSENT_HEADERS.has(name.toLowerCase()));
  const headers = { 'user-agent': 'perch', ...Object.fromEntries(sent), 'accept-encoding': ACCEPTED_ENCODINGS, [VIA_HEADER]: via };
  return { method: method as Dispatcher.HttpMethod, headers };
}

/** Sends a request. Rejects if there is no response. Does not follow redirects. */
export async function sendUpstream({ url, body, reach = 'local', ...sent }: UpstreamRequest): Promise<UpstreamResponse> {
  const response = await request(url, { dispatcher: dispatchers[reach], ...sent, body: body.byteLength > 0 ? body : null });
  const headers = Object.fromEntries(
    Object.entries(response.headers).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && !UNRETURNED_HEADERS.has(entry[0]),
    ),
  );
  const decoded = decodeBody(response);
  // The reader handles errors; without a listener they would end the process.
  decoded.on('error', () => {});
  return { head: { status: response.statusCode, headers }, body: decoded };
}
