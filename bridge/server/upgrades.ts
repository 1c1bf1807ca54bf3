import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { MAX_BODY_BYTES } from '#shared/http/body-limits.ts';
import { RESPONSES_PATH } from '#shared/http/responses-socket.ts';
import { LIMITS } from '#shared/rpc/frames.ts';
import { STATUS_CODES } from '../node-http.ts';
import { arrivalOf } from './admission.ts';
import { bearerOf, tokenOf } from './auth.ts';
import type { Clients } from './clients.ts';
import { errorBody } from './http-errors.ts';
import { NO_VAULT } from './no-vault.ts';
import type { Timing } from './timing.ts';
import { UPLINK_MAX_PAYLOAD } from './uplink.ts';
import type { Vaults } from './vaults.ts';

export interface UpgradeDeps {
  vaults: Vaults;
  clients: Clients;
  timing: Timing;
  /** Whether the bridge is about to close. */
  closing(): boolean;
}

/**
 * Handles upgrades of all listeners: admission first, then `/ws` (or `/`), `/v1/responses` or `/uplink`. Rejects anything else with a
 * status.
 */
export function upgrades({
  vaults,
  clients,
  timing,
  closing,
}: UpgradeDeps): (request: IncomingMessage, transport: Duplex, head: Buffer) => void {
  const common = { noServer: true, perMessageDeflate: false, clientTracking: false, closeTimeout: timing.closeMs };
  const clientServer = new WebSocketServer({ ...common, maxPayload: LIMITS.maxPayload });
  const responsesServer = new WebSocketServer({ ...common, maxPayload: MAX_BODY_BYTES });
  const uplinkServer = new WebSocketServer({ ...common, maxPayload: UPLINK_MAX_PAYLOAD });

  return (request, transport, head) => {
    transport.on('error', () => transport.destroy());
    const arrival = arrivalOf(request);
    const door = vaults.door(request);
    const { admission } = door;
    const refusal = admission.refuse(arrival, false);
    if (refusal) return refuse(transport, refusal.status, refusal.message);
    const path = arrival.url.replace(/\?.*/, '').replace(/(.)\/+$/, '$1');
    if (!PATHS.has(path)) return refuse(transport, 404, 'No WebSocket at this path');
    if (closing()) return refuse(transport, 503, 'The gateway is shutting down');
    const { origin, authorization, 'user-agent': userAgent } = request.headers;
    if (path === '/uplink') {
      if (origin === undefined || origin !== admission.appOrigin(arrival)) return refuse(transport, 403, 'Only the app can host');
      return accept(uplinkServer, request, transport, head, (socket) => door.uplink(socket, origin));
    }
    const among = vaults.among(request);
    if (!among) return refuse(transport, 404, NO_VAULT);
    if (path === RESPONSES_PATH) {
      const { responses, log } = vaults.byToken(request, tokenOf(request));
      responses.admit(request, transport).then(
        (admitted) => {
          if (typeof admitted !== 'function') refuse(transport, admitted.status, admitted.message, admitted.headers);
          else if (!transport.destroyed) accept(responsesServer, request, transport, head, admitted);
        },
        (error: unknown) => {
          log(`The WebSocket at ${RESPONSES_PATH} failed: ${error instanceof Error ? error.message : String(error)}`);
          refuse(transport, 500, 'Internal bridge error');
        },
      );
      return;
    }
    if (clients.full) return refuse(transport, 503, `${LIMITS.maxConnections} clients are already connected`);
    const caller = {
      ...{ origin, among },
      bearer: bearerOf(authorization),
      userAgent: userAgent?.slice(0, 500),
      address: arrival.remoteAddress,
    };
    accept(clientServer, request, transport, head, (socket) => clients.add(socket, transport, caller));
  };
}

const PATHS = new Set(['/ws', '/', RESPONSES_PATH, '/uplink']);
const RETRY: Readonly<Record<number, Record<string, string>>> = { 503: { 'Retry-After': '1' } };

function accept(
  server: WebSocketServer,
  request: IncomingMessage,
  transport: Duplex,
  head: Buffer,
  serve: (socket: WebSocket) => void,
): void {
  server.handleUpgrade(request, transport, head, (socket) => {
    // Invalid UTF-8 or a broken frame emits an error event, which would end the process without a listener. The socket closes itself.
    socket.on('error', () => {});
    serve(socket);
  });
}

function refuse(transport: Duplex, status: number, message: string, more: Readonly<Record<string, string>> = RETRY[status] ?? {}): void {
  const body = JSON.stringify(errorBody(status, message));
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(more).map(([name, value]) => `${name}: ${value}`),
  ];
  transport.once('finish', () => transport.destroy());
  transport.end(`${headers.join('\r\n')}\r\n\r\n${body}`);
}
