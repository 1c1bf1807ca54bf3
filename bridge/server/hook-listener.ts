import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { HOOK_HEADERS, MAX_HOOK_BODY_BYTES, parseChannelHookPath } from '#shared/http/hook-path.ts';
import { fetchOverStream } from '#shared/link/stream-http.ts';
import { MIN_HEAD_HEADER } from '#shared/ports/journal-streams.ts';
import type { Journal } from '../journal/journal.ts';
import { discardRequest } from '../passthrough/http-exchange.ts';
import { NO_HOST } from './api-listener.ts';
import { sendError } from './http-errors.ts';
import type { HostRegistry } from './hosts.ts';
import type { InFlightCounter } from './in-flight-counter.ts';
import type { Timing } from './timing.ts';

/** Time for a host to check and store a call. */
const HOST_RESPONSE_MS = 30_000;
/** Calls of one vault that are checked at the same time: anybody can send them. */
const MAX_CONCURRENT = 32;
/** Calls of one vault in a second, with or without a valid signature. */
const MAX_PER_SECOND = 50;
const RETRY_AFTER = { 'retry-after': '30' };
/** Principal of a call, which proves itself to the host. */
const HOOK_PRINCIPAL = 'hook';
const TOO_LARGE = 'Calls of hooks are limited to 1 MB';

interface HookListenerDeps {
  hosts: HostRegistry;
  journal: Pick<Journal, 'head'>;
  timing: Timing;
  gauge: InFlightCounter;
  log(line: string): void;
}

/**
 * `POST /hooks/<name>`: a call from another service, or to a channel at `/hooks/channels/<id>`, which the active host checks and answers. Requires no token: the host knows the secret
 * of the hook. The bridge limits size and rate, and does not tell which hooks exist.
 */
export function createHookListener({ hosts, journal, timing, gauge, log }: HookListenerDeps): RequestListener {
  let active = 0;
  let second = 0;
  let callsInSecond = 0;
  /** Whether too many calls came in this second. */
  const isOverRate = (): boolean => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) [second, callsInSecond] = [now, 0];
    return ++callsInSecond > MAX_PER_SECOND;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (status: number, message: string, headers?: Record<string, string>): void => {
      sendError(response, status, message, headers);
      discardRequest(request);
    };
    // Platforms of channels check an address with GET.
    const isCheck = request.method === 'GET' && parseChannelHookPath((request.url ?? '').split('?', 1)[0] ?? '') !== undefined;
    if (request.method !== 'POST' && !isCheck) return refuse(405, 'Hooks are called with POST', { allow: 'POST' });
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
      return refuse(415, 'Compressed request bodies are not supported (Content-Encoding)');
    if (Number(request.headers['content-length'] ?? 0) > MAX_HOOK_BODY_BYTES) return refuse(413, TOO_LARGE);
    if (active >= MAX_CONCURRENT || isOverRate()) return refuse(429, 'Too many calls. Try again later.', { 'retry-after': '1' });
    active++;
    response.once('close', () => active--);
    response.once('close', gauge.begin());
    const body = await readBody(request);
    if (response.destroyed) return;
    if (!body) return refuse(413, TOO_LARGE);

    const disconnect = new AbortController();
    response.once('close', () => disconnect.abort(new Error('the caller disconnected')));
    const mux = hosts.current ?? (await hosts.wait(timing.hostWaitMs, disconnect.signal));
    if (response.destroyed) return;
    if (!mux) return refuse(503, NO_HOST, RETRY_AFTER);
    const headers: Record<string, string> = { ':path': request.url ?? '/', [MIN_HEAD_HEADER]: String(journal.head) };
    for (const name of HOOK_HEADERS) {
      const value = request.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    try {
      // Completes even if the caller disconnects, as most senders do after a few seconds: it is known then when they repeat it.
      const answer = await fetchOverStream(
        mux,
        { kind: 'http', principal: HOOK_PRINCIPAL, headers },
        { method: isCheck ? 'GET' : 'POST', ...(isCheck ? {} : { body }), signal: AbortSignal.timeout(HOST_RESPONSE_MS) },
      );
      const text = await answer.text();
      if (response.destroyed) return;
      const returned = ['content-type', 'retry-after', 'allow'].flatMap((name) => {
        const value = answer.headers.get(name);
        return value === null ? [] : [[name, value] as const];
      });
      response.writeHead(answer.status, { 'content-length': Buffer.byteLength(text), ...Object.fromEntries(returned) }).end(text);
    } catch (error) {
      log(`A call of a hook was not handled: ${error instanceof Error ? error.message : String(error)}`);
      refuse(503, NO_HOST, RETRY_AFTER);
    }
  };

  return (request, response) => {
    serve(request, response).catch((error: unknown) => {
      log(`A call of a hook failed: ${error instanceof Error ? error.message : String(error)}`);
      if (response.headersSent) response.destroy();
      else sendError(response, 500, 'Internal bridge error');
    });
  };
}

/** Reads the body; undefined if it is too large. Empty if the caller disconnects. */
function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve) => {
    const onData = (chunk: Buffer): void => {
      size += chunk.byteLength;
      if (size > MAX_HOOK_BODY_BYTES) {
        request.off('data', onData);
        return resolve(undefined);
      }
      chunks.push(chunk);
    };
    request.on('data', onData);
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () => resolve(Buffer.concat(chunks)));
    // The response is destroyed along with it.
    request.on('error', () => {});
  });
}
