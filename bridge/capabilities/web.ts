import type { Readable } from 'node:stream';
import { WEB_LIMITS, type webPort } from '#shared/ports/web.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { STATUS_CODES } from '../node-http.ts';
import type { PortHandlers } from '../server/serve-port.ts';
import { ACCEPTED_ENCODINGS, decodedBody } from './decoded-body.ts';
import { pinnedLookup, RefusedAddress, resolveBySystem, type Resolve } from './pinned-lookup.ts';
import { Agent, request } from './undici.ts';
import { unreached } from './unreached.ts';
import { Allowed, judgedUrl } from './web-guard.ts';

const READABLE = /^(text\/|application\/(json|xml|xhtml\+xml|pdf|yaml|javascript|x-ndjson|rtf)\b|[\w.-]+\/[\w.-]+\+(json|xml)\b)/i;
/** Image types that browsers display and that can't contain scripts. */
const PICTURE = /^image\/(png|jpeg|gif|webp|avif)\b/i;
const WANTED = {
  text: {
    accept: 'text/html, application/xhtml+xml, application/pdf, text/*, application/json, application/xml;q=0.9, */*;q=0.1',
    isIt: (contentType: string) => READABLE.test(contentType),
    name: 'text, page or PDF',
  },
  picture: {
    accept: 'image/avif, image/webp, image/png, image/jpeg, image/gif',
    isIt: (contentType: string) => PICTURE.test(contentType),
    name: 'PNG, JPEG, GIF, WebP or AVIF picture',
  },
};
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface WebDeps {
  /** Resolves a name to all its addresses. Default: the system's resolver. */
  resolve?: Resolve;
  /** Time limit for a whole fetch, in milliseconds. */
  ms?: number;
}

/** Handlers that fetch pages of the public web, the only way there for agents' tools. */
export function webHandlers({ resolve = resolveBySystem, ms = WEB_LIMITS.ms }: WebDeps = {}): PortHandlers<
  (typeof webPort)['calls'],
  (typeof webPort)['events']
> {
  return {
    async 'web.fetch'({ url, allow, wants }, { signal }) {
      const allowed = new Allowed(allow);
      const late = AbortSignal.timeout(ms);
      let at = judgedUrl(url, allowed);
      try {
        for (let hops = 0; ; hops++) {
          const answer = await hop(at, { resolve, allowed, wanted: WANTED[wants], signal: AbortSignal.any([signal, late]) });
          if (!('location' in answer)) return { url: at.href, ...answer };
          if (hops === WEB_LIMITS.redirects)
            throw new RpcError('INTERNAL_ERROR', `${url} redirects more than ${WEB_LIMITS.redirects} times`);
          at = judgedUrl(URL.parse(answer.location, at.href) ?? answer.location, allowed);
        }
      } catch (error) {
        signal.throwIfAborted();
        if (late.aborted) throw new RpcError('INTERNAL_ERROR', `${at.host} took longer than ${ms / 1000} s`, { retryable: true });
        throw told(error, at);
      }
    },
  };
}

type Answer = { location: string } | { status: number; contentType: string; body: string };

/** Sends one request on a new connection: connections are not reused, since other calls may allow other hosts. */
async function hop(
  url: URL,
  { resolve, allowed, wanted, signal }: { resolve: Resolve; allowed: Allowed; wanted: (typeof WANTED)['text']; signal: AbortSignal },
): Promise<Answer> {
  const agent = new Agent({ connect: { lookup: pinnedLookup(resolve, 'public', () => allowed.has(url)) } });
  try {
    const response = await request(url, {
      dispatcher: agent,
      headers: {
        'user-agent': 'perch',
        accept: wanted.accept,
        'accept-encoding': ACCEPTED_ENCODINGS,
      },
      signal,
    });
    const { statusCode: status, headers, body } = response;
    // A body discarded unread emits an error, possibly after the last listener is gone.
    body.on('error', () => {});
    const header = (name: string): string => [headers[name]].flat()[0] ?? '';
    const location = header('location');
    if (REDIRECTS.has(status) && location !== '') {
      body.destroy();
      return { location };
    }
    if (status >= 400)
      throw new RpcError('INTERNAL_ERROR', `${url.href} returned ${status} ${STATUS_CODES[status] ?? ''}`.trim(), { details: { status } });
    const contentType = header('content-type') || 'text/plain';
    if (!wanted.isIt(contentType))
      throw new RpcError('INVALID_PARAMS', `${url.href} is ${contentType.slice(0, 100)}, not a ${wanted.name}`);
    const bytes = await whole(decodedBody({ body, headers }), url);
    return { status, contentType, body: bytes.toString('base64') };
  } finally {
    await agent.destroy().catch(() => {});
  }
}

async function whole(body: Readable, url: URL): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > WEB_LIMITS.bytes) throw new RpcError('INVALID_PARAMS', `${url.href} is larger than ${WEB_LIMITS.bytes / 1024 / 1024} MB`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function told(error: unknown, { host }: URL): RpcError {
  if (error instanceof RpcError) return error;
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if (at instanceof RefusedAddress) return new RpcError('INVALID_PARAMS', at.message);
  return new RpcError('INTERNAL_ERROR', unreached(error, host), {}, { cause: error });
}
