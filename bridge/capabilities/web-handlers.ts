import type { Readable } from 'node:stream';
import { WEB_LIMITS, type webPort } from '#shared/ports/web-port.ts';
import type { ContractResult, ParsedParams } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { STATUS_CODES } from '../node-http.ts';
import type { PortHandlers } from './serve-port.ts';
import { ACCEPTED_ENCODINGS, decodeBody } from './decoded-body.ts';
import { pinnedLookup, BlockedAddressError, resolveHost, type ResolveHost } from './pinned-lookup.ts';
import { Agent, request } from './undici.ts';
import { describeConnectionError } from './connection-error.ts';
import { HostAllowlist, parseWebUrl } from './web-guard.ts';

const READABLE_TYPES = /^(text\/|application\/(json|xml|xhtml\+xml|pdf|yaml|javascript|x-ndjson|rtf)\b|[\w.-]+\/[\w.-]+\+(json|xml)\b)/i;
/** Image types that browsers display and that can't contain scripts. */
const IMAGE_TYPES = /^image\/(png|jpeg|gif|webp|avif)\b/i;
const CONTENT_KINDS = {
  text: {
    accept: 'text/html, application/xhtml+xml, application/pdf, text/*, application/json, application/xml;q=0.9, */*;q=0.1',
    isIt: (contentType: string) => READABLE_TYPES.test(contentType),
    name: 'text, page or PDF',
  },
  picture: {
    accept: 'image/avif, image/webp, image/png, image/jpeg, image/gif',
    isIt: (contentType: string) => IMAGE_TYPES.test(contentType),
    name: 'PNG, JPEG, GIF, WebP or AVIF picture',
  },
};
const MAX_HEADER_CHARS = 1000;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

interface WebDeps {
  /** Resolves a name to all its addresses. Default: the system's resolver. */
  resolve?: ResolveHost;
  /** Time limit for a whole fetch, in milliseconds. */
  ms?: number;
}

/** Handlers that fetch pages of the public web, the only way there for agents' tools. */
export function createWebHandlers({ resolve = resolveHost, ms = WEB_LIMITS.ms }: WebDeps = {}): PortHandlers<
  (typeof webPort)['calls'],
  (typeof webPort)['events']
> {
  return {
    async 'web.fetch'({ url, allow, wants, known }, { signal }) {
      let allowed = new HostAllowlist(allow);
      const timeout = AbortSignal.timeout(ms);
      let at = parseWebUrl(url, allowed);
      // A page on the web must not lead to a private host, not even to an allowed one.
      if (!allowed.has(at)) allowed = new HostAllowlist([]);
      try {
        for (let hops = 0; ; hops++) {
          const answer = await requestOnce(at, {
            resolve,
            allowed,
            contentKind: CONTENT_KINDS[wants],
            known,
            signal: AbortSignal.any([signal, timeout]),
          });
          if (!('location' in answer)) return { url: at.href, ...answer };
          if (hops === WEB_LIMITS.redirects)
            throw new RpcError('INTERNAL_ERROR', `${url} redirects more than ${WEB_LIMITS.redirects} times`);
          at = parseWebUrl(URL.parse(answer.location, at.href) ?? answer.location, allowed);
        }
      } catch (error) {
        signal.throwIfAborted();
        if (timeout.aborted) throw new RpcError('INTERNAL_ERROR', `${at.host} took longer than ${ms / 1000} s`, { retryable: true });
        throw toRpcError(error, at);
      }
    },
  };
}

type FetchCall = (typeof webPort)['calls']['web.fetch'];
type HopResult = { location: string } | Omit<ContractResult<FetchCall>, 'url'>;

/** Sends one request on a new connection: connections are not reused, since other calls may allow other hosts. */
async function requestOnce(
  url: URL,
  {
    resolve,
    allowed,
    contentKind,
    known,
    signal,
  }: {
    resolve: ResolveHost;
    allowed: HostAllowlist;
    contentKind: (typeof CONTENT_KINDS)['text'];
    known: ParsedParams<FetchCall>['known'];
    signal: AbortSignal;
  },
): Promise<HopResult> {
  const agent = new Agent({ connect: { lookup: pinnedLookup(resolve, 'public', () => allowed.has(url)) } });
  try {
    const response = await request(url, {
      dispatcher: agent,
      headers: {
        'user-agent': 'perch',
        accept: contentKind.accept,
        'accept-encoding': ACCEPTED_ENCODINGS,
        ...(known?.etag === undefined ? {} : { 'if-none-match': known.etag }),
        ...(known?.lastModified === undefined ? {} : { 'if-modified-since': known.lastModified }),
      },
      signal,
    });
    const { statusCode: status, headers, body } = response;
    // A body discarded unread emits an error, possibly after the last listener is gone.
    body.on('error', () => {});
    const header = (name: string): string => [headers[name]].flat()[0] ?? '';
    const location = header('location');
    if (REDIRECT_STATUSES.has(status) && location !== '') {
      body.destroy();
      return { location };
    }
    const caching = {
      ...pick('cacheControl', header('cache-control')),
      ...pick('etag', header('etag')),
      ...pick('lastModified', header('last-modified')),
    };
    if (status === 304 && known) {
      body.destroy();
      return { status, contentType: '', body: '', ...caching };
    }
    if (status >= 400)
      throw new RpcError('INTERNAL_ERROR', `${url.href} returned ${status} ${STATUS_CODES[status] ?? ''}`.trim(), { details: { status } });
    const contentType = header('content-type') || 'text/plain';
    if (!contentKind.isIt(contentType))
      throw new RpcError('INVALID_PARAMS', `${url.href} is ${contentType.slice(0, 100)}, not a ${contentKind.name}`);
    const bytes = await readBody(decodeBody({ body, headers }), url);
    return { status, contentType, body: bytes.toString('base64'), ...caching };
  } finally {
    await agent.destroy().catch(() => {});
  }
}

/** A header of a sane length. */
const pick = <Name extends string>(name: Name, value: string): Partial<Record<Name, string>> =>
  value === '' || value.length > MAX_HEADER_CHARS ? {} : ({ [name]: value } as Record<Name, string>);

async function readBody(body: Readable, url: URL): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > WEB_LIMITS.bytes) throw new RpcError('INVALID_PARAMS', `${url.href} is larger than ${WEB_LIMITS.bytes / 1024 / 1024} MB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toRpcError(error: unknown, { host }: URL): RpcError {
  if (error instanceof RpcError) return error;
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if (at instanceof BlockedAddressError) return new RpcError('INVALID_PARAMS', at.message);
  return new RpcError('INTERNAL_ERROR', describeConnectionError(error, host), {}, { cause: error });
}
