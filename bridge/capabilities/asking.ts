import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { ResponseHead } from '#shared/link/http.ts';
import { ACCEPTED_ENCODINGS, decodedBody } from './decoded-body.ts';
import { HOP_BY_HOP } from './hop-by-hop.ts';
import type { Reach } from './addresses.ts';
import { pinnedLookup, resolveBySystem } from './pinned-lookup.ts';
import { Agent, request } from './undici.ts';

/** Of the request: what concerns this connection alone, or is said here. */
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
/** Of the answer: what is no longer true of the decoded body, and cookies, which nothing here keeps. */
const NOT_RETURNED = new Set([...HOP_BY_HOP, 'content-encoding', 'content-length', 'set-cookie']);

/** Tells a request of this gateway's own, by which one that comes back to it is known. */
export const VIA = 'x-perch-via';

// Models think for minutes: how long a silence may last is the core's to say.
const agent = (reach: Reach): Agent =>
  new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { lookup: pinnedLookup(resolveBySystem, reach) } });
const dispatchers: Readonly<Record<Reach, Agent>> = { local: agent('local'), public: agent('public') };

/** An upstream's answer that has begun to come. `body` is paused. */
export interface Asked {
  head: ResponseHead;
  body: Readable;
  /** What was read of it to find out whether it is good: it is not. Undefined where nobody has looked. */
  read?: Uint8Array[];
}

/** An answer that was asked for already, and that the host is to judge: it has not come yet, or is not good. */
export interface InHand {
  url: string;
  asked: Promise<Asked>;
  /** Nobody wants it. */
  leave(): void;
}

export interface Asking {
  url: string;
  /** Where it may lead; everywhere that the gateway asks by default. */
  reach?: Reach;
  method: Dispatcher.HttpMethod;
  /** As they go out. */
  headers: Record<string, string>;
  body: Buffer;
  signal: AbortSignal;
}

/** What goes out of an opening’s headers. `via`: this gateway’s name. */
export function outgoing({ ':method': method = 'GET', ...given }: Record<string, string>, via: string): Pick<Asking, 'method' | 'headers'> {
  const sent = Object.entries(given).filter(([name]) => !name.startsWith(':') && !NOT_SENT.has(name.toLowerCase()));
  const headers = { 'user-agent': 'perch', ...Object.fromEntries(sent), 'accept-encoding': ACCEPTED_ENCODINGS, [VIA]: via };
  return { method: method as Dispatcher.HttpMethod, headers };
}

/** Sends a request out; rejects where it got no answer. Redirects are answers, not followed. */
export async function ask({ url, body, reach = 'local', ...sent }: Asking): Promise<Asked> {
  const response = await request(url, { dispatcher: dispatchers[reach], ...sent, body: body.byteLength > 0 ? body : null });
  const headers = Object.fromEntries(
    Object.entries(response.headers).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && !NOT_RETURNED.has(entry[0]),
    ),
  );
  const decoded = decodedBody(response);
  // Heard by whoever reads on; unheard it would end the process.
  decoded.on('error', () => {});
  return { head: { status: response.statusCode, headers }, body: decoded };
}
