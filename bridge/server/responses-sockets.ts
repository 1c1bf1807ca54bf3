import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { RESPONSES_KIND } from '#shared/http/responses-socket.ts';
import type { Mux } from '#shared/link/mux.ts';
import { MIN_HEAD_HEADER } from '#shared/ports/journal-streams.ts';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import { allowsScope, splitScopes } from '#shared/rpc/scopes.ts';
import { VIA_HEADER } from '../passthrough/upstream-request.ts';
import { type AdmittedClient, getRequestToken } from './auth.ts';
import { MAX_UNSENT_BYTES, HOST_RESTARTING, ACCESS_REVOKED } from './client-socket.ts';
import { type ApiListenerDeps, NO_HOST, OWN_REQUEST, TOO_MANY } from './api-listener.ts';
import { toDenialResponse } from './http-errors.ts';
import { closeSocket } from './socket-link.ts';
import { SocketWriter } from './socket-writer.ts';

/** Maximum number of these WebSockets per vault. Each may hold one message of the maximum size. */
export const MAX_RESPONSES_SOCKETS = 256;

/** Headers of the upgrade request that are passed on to the host. */
const FORWARDED_HEADERS = ['user-agent', 'x-perch-session'];

interface SocketRefusal {
  status: number;
  message: string;
  headers?: Record<string, string>;
}

type ResponsesSocketsDeps = Pick<ApiListenerDeps, 'auth' | 'hosts' | 'journal' | 'timing' | 'gauge' | 'maxExchanges' | 'via'>;

/**
 * WebSockets at `/v1/responses`. Admits them as requests to `/v1`, before the upgrade, and forwards their messages to the active host
 * without inspection. A socket counts as a request in progress.
 */
export class ResponsesSockets {
  readonly #deps: ResponsesSocketsDeps;
  readonly #transports = new Set<Duplex>();
  readonly #sockets = new Set<WebSocket>();

  constructor(deps: ResponsesSocketsDeps) {
    this.#deps = deps;
  }

  /** Checks an upgrade request. Returns a function that serves its socket. */
  async admit(request: IncomingMessage, transport: Duplex): Promise<SocketRefusal | ((socket: WebSocket) => void)> {
    const { auth, hosts, timing, gauge, maxExchanges, via } = this.#deps;
    const verdict = auth.checkBearer(getRequestToken(request), request.headers.origin);
    if (!verdict.ok) return { ...toDenialResponse(verdict), message: verdict.message };
    if (!allowsScope(verdict.scopes, 'v1')) return { status: 403, message: 'This request requires the scope "v1".' };
    if (request.headers[VIA_HEADER] === via) return { status: 508, message: OWN_REQUEST };
    if (gauge.count >= maxExchanges || this.#transports.size >= MAX_RESPONSES_SOCKETS) return { status: 503, message: TOO_MANY };
    const cancel = gauge.begin();
    const closeSignal = new AbortController();
    this.#transports.add(transport);
    transport.once('close', () => {
      this.#transports.delete(transport);
      cancel();
      closeSignal.abort();
    });
    const mux = hosts.current ?? (await hosts.wait(timing.hostWaitMs, closeSignal.signal));
    return mux ? (socket) => this.#serve(socket, request, verdict, mux) : { status: 503, message: NO_HOST };
  }

  close(code: number, reason: string): void {
    for (const socket of this.#sockets) closeSocket(socket, code, reason);
  }

  #serve(socket: WebSocket, request: IncomingMessage, { principal, scopes, hold }: AdmittedClient, mux: Mux): void {
    const { hosts, journal, timing } = this.#deps;
    this.#sockets.add(socket);
    const headers: Record<string, string> = { [MIN_HEAD_HEADER]: String(journal.head) };
    for (const name of FORWARDED_HEADERS) {
      const value = request.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    const stream = mux.open({ kind: RESPONSES_KIND, principal, ...splitScopes(scopes), origin: request.headers.origin ?? null, headers });
    const writer = new SocketWriter(socket);
    const end = (code: number, reason: string): void => {
      if (code === CLOSE_CODES.handingOver || !hosts.has(mux)) closeSocket(socket, HOST_RESTARTING.code, HOST_RESTARTING.reason);
      else closeSocket(socket, code, reason);
    };
    const sweeping = setInterval(() => {
      if (!writer.isStalled(performance.now(), timing.stallMs)) return;
      stream.reset(CLOSE_CODES.policy, 'slow consumer');
      closeSocket(socket, CLOSE_CODES.policy, 'slow consumer');
    }, timing.stallMs / 4).unref();
    const release = hold?.(() => closeSocket(socket, ACCESS_REVOKED.code, ACCESS_REVOKED.reason));
    socket.on('message', (data, isBinary) => {
      if (!Buffer.isBuffer(data) || (isBinary && !isUtf8(data)))
        return closeSocket(socket, CLOSE_CODES.notUtf8, 'binary messages must be JSON in UTF-8');
      stream.sendText(data);
      if (stream.buffered > MAX_UNSENT_BYTES) socket.pause();
    });
    socket.on('close', () => {
      clearInterval(sweeping);
      release?.();
      this.#sockets.delete(socket);
      stream.reset(CLOSE_CODES.goingAway, 'the client disconnected');
    });
    stream.receive({
      data: (chunk, fin, text) => (text ? writer.send(stream, chunk, fin) : stream.release(chunk.byteLength)),
      end,
      reset: end,
      drain: () => socket.resume(),
    });
  }
}
