import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { LIMITS } from '#shared/rpc/frames.ts';
import { STATUS_CODES } from '../node-http.ts';
import { arrivalOf } from './admission.ts';
import { bearerOf } from './auth.ts';
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

/** Handles upgrades of all listeners: admission first, then `/ws` (or `/`) or `/uplink`. Rejects anything else with a status. */
export function upgrades({
  vaults,
  clients,
  timing,
  closing,
}: UpgradeDeps): (request: IncomingMessage, transport: Duplex, head: Buffer) => void {
  const common = { noServer: true, perMessageDeflate: false, clientTracking: false, closeTimeout: timing.closeMs };
  const clientServer = new WebSocketServer({ ...common, maxPayload: LIMITS.maxPayload });
  const uplinkServer = new WebSocketServer({ ...common, maxPayload: UPLINK_MAX_PAYLOAD });

  return (request, transport, head) => {
    transport.on('error', () => transport.destroy());
    const arrival = arrivalOf(request);
    const door = vaults.door(request);
    const { admission } = door;
    const refusal = admission.refuse(arrival, false);
    if (refusal) return refuse(transport, refusal.status, refusal.message);
    const path = arrival.url.replace(/\?.*/, '');
    if (path !== '/ws' && path !== '/' && path !== '/uplink') return refuse(transport, 404, 'No WebSocket at this path');
    if (closing()) return refuse(transport, 503, 'The gateway is shutting down');
    const { origin, authorization, 'user-agent': userAgent } = request.headers;
    if (path === '/uplink') {
      if (origin === undefined || origin !== admission.appOrigin(arrival)) return refuse(transport, 403, 'Only the app can host');
      return accept(uplinkServer, request, transport, head, (socket) => door.uplink(socket, origin));
    }
    const among = vaults.among(request);
    if (!among) return refuse(transport, 404, NO_VAULT);
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

function refuse(transport: Duplex, status: number, message: string): void {
  const body = JSON.stringify(errorBody(status, message));
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(status === 503 ? ['Retry-After: 1'] : []),
  ];
  transport.once('finish', () => transport.destroy());
  transport.end(`${headers.join('\r\n')}\r\n\r\n${body}`);
}
