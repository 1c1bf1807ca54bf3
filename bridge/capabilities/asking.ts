import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { ResponseHead } from '#shared/link/http.ts';
import { ACCEPTED_ENCODINGS, decodedBody } from './decoded-body.ts';
import { HOP_BY_HOP } from './hop-by-hop.ts';
import type { Reach } from './addresses.ts';
import { pinnedLookup, resolveBySystem } from './pinned-lookup.ts';
import { Agent, request } from './undici.ts';

/** Request headers that are not forwarded: hop-by-hop ones, and those set here. */
const NOT_SENT = new Set([
  ...HOP_BY_HOP,
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
const NOT_RETURNED = new Set([...HOP_BY_HOP, 'content-encoding', 'content-length', 'set-cookie']);

/** Header that identifies this gateway's own requests, so that one that comes back is recognized. */
export const VIA = 'x-perch-via';

// Without timeouts, since models may think for minutes: the core limits silence.
const agent = (reach: Reach): Agent =>
  new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { lookup: pinnedLookup(resolveBySystem, reach) } });
const dispatchers: Readonly<Record<Reach, Agent>> = { local: agent('local'), public: agent('public') };

/** An upstream response that has begun. `body` is paused. */
export interface Asked {
  head: ResponseHead;
  body: Readable;
  /** Data read to check the response, which turned out invalid. Undefined if it was not checked. */
  read?: Uint8Array[];
}

/** A pending upstream response for the host to handle: it has not arrived, or is invalid. */
export interface InHand {
  url: string;
  asked: Promise<Asked>;
  /** Cancels the request. */
  leave(): void;
}

export interface Asking {
  url: string;
  /** Permitted targets. Default: all that the gateway may connect to. */
  reach?: Reach;
  method: Dispatcher.HttpMethod;
  /** As sent. */
  headers: Record<string, string>;
  body: Buffer;
  signal: AbortSignal;
}

/** Returns the method and headers to send for a stream's opening. `via`: id of this gateway. */
export function outgoing({ ':method': method = 'GET', ...given }: Record<string, string>, via: string): Pick<Asking, 'method' | 'headers'> {
  const sent = Object.entries(given).filter(([name]) => !name.startsWith(':') && !NOT_SENT.has(name.toLowerCase()));
  const headers = { 'user-agent': 'perch', ...Object.fromEntries(sent), 'accept-encoding': ACCEPTED_ENCODINGS, [VIA]: via };
  return { method: method as Dispatcher.HttpMethod, headers };
}

/** Sends a request. Rejects if there is no response. Does not follow redirects. */
export async function ask({ url, body, reach = 'local', ...sent }: Asking): Promise<Asked> {
  const response = await request(url, { dispatcher: dispatchers[reach], ...sent, body: body.byteLength > 0 ? body : null });
  const headers = Object.fromEntries(
    Object.entries(response.headers).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && !NOT_RETURNED.has(entry[0]),
    ),
  );
  const decoded = decodedBody(response);
  // The reader handles errors; without a listener they would end the process.
  decoded.on('error', () => {});
  return { head: { status: response.statusCode, headers }, body: decoded };
}
