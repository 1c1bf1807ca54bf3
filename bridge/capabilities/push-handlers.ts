import type { Readable } from 'node:stream';
import type { pushPort } from '#shared/ports/push-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { describeConnectionError } from './connection-error.ts';
import { BlockedAddressError, pinnedLookup, resolveHost, type ResolveHost } from './pinned-lookup.ts';
import type { PortHandlers } from './serve-port.ts';
import { Agent, request } from './undici.ts';
import { HostAllowlist, parseWebUrl } from './web-guard.ts';

const TIMEOUT_MS = 30_000;
const MAX_REASON_BYTES = 2048;
const MAX_REASON_CHARS = 300;
/** Errors before anything was sent. */
const UNSENT_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);
/** Statuses with which a push service, or a proxy before it, has certainly not taken the message. */
const isUnsentStatus = (status: number): boolean => status === 503 || (status >= 300 && status < 500);

interface PushHandlersDeps {
  /** Resolves a name to all its addresses. Default: the system's resolver. */
  resolve?: ResolveHost;
  /** Time limit for a message, in milliseconds. */
  ms?: number;
  /** Servers, as `host:port`, that need neither https nor a public address. */
  local?: readonly string[];
  now?: () => number;
}

/** Handlers that pass encrypted messages to push services (RFC 8030). */
export function createPushHandlers({
  resolve = resolveHost,
  ms = TIMEOUT_MS,
  local = [],
  now = Date.now,
}: PushHandlersDeps = {}): PortHandlers<(typeof pushPort)['calls'], (typeof pushPort)['events']> {
  const allowed = new HostAllowlist(local);
  return {
    async 'push.deliver'({ endpoint, headers, body }, { signal }) {
      const url = parseEndpoint(endpoint, allowed);
      const timeout = AbortSignal.timeout(ms);
      // A new connection for each message, since its address is checked while connecting.
      const agent = new Agent({ connect: { lookup: pinnedLookup(resolve, 'public', () => allowed.has(url)) } });
      try {
        const response = await request(url, {
          dispatcher: agent,
          method: 'POST',
          headers: {
            ttl: headers.ttl,
            urgency: headers.urgency,
            ...(headers.topic === undefined ? {} : { topic: headers.topic }),
            authorization: headers.authorization,
            'content-encoding': 'aes128gcm',
            'content-type': 'application/octet-stream',
          },
          body: Buffer.from(body, 'base64'),
          signal: AbortSignal.any([signal, timeout]),
        });
        const status = response.statusCode;
        const retryAfterMs = parseRetryAfter([response.headers['retry-after']].flat()[0], now());
        return {
          ...{ status, reason: await readReason(response.body), isUnsent: isUnsentStatus(status) },
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        };
      } catch (error) {
        signal.throwIfAborted();
        if (timeout.aborted) return { status: 0, reason: `${url.host} took longer than ${ms / 1000} s`, isUnsent: false };
        return toFailure(error, url);
      } finally {
        await agent.destroy().catch(() => {});
      }
    },
  };
}

function parseEndpoint(endpoint: string, allowed: HostAllowlist): URL {
  const url = URL.parse(endpoint);
  if (url && url.protocol !== 'https:' && !allowed.has(url))
    throw new RpcError('INVALID_PARAMS', 'The push service’s address must start with https://.');
  try {
    return parseWebUrl(endpoint, allowed);
  } catch (error) {
    // The setting that it names is for web pages.
    const reason = error instanceof RpcError ? error.message.replace(/\. To allow it.*/s, '.') : 'The address is invalid.';
    throw new RpcError('INVALID_PARAMS', `The push service’s address is not allowed: ${reason}`, {}, { cause: error });
  }
}

/** The start of a response's text; never rejects. */
async function readReason(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_REASON_BYTES) break;
    }
  } catch {
    // The status was received, which is what counts.
  }
  body.on('error', () => {}).destroy();
  return Buffer.concat(chunks).toString('utf8').replace(/\s+/g, ' ').trim().slice(0, MAX_REASON_CHARS);
}

/** `Retry-After`: seconds or a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function toFailure(error: unknown, { host }: URL): { status: 0; reason: string; isUnsent: boolean } {
  let isUnsent = false;
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof BlockedAddressError) throw new RpcError('INVALID_PARAMS', at.message);
    if ('code' in at && UNSENT_CODES.has(String(at.code))) isUnsent = true;
  }
  return { status: 0, reason: describeConnectionError(error, host), isUnsent };
}
