import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { MAX_BODY_BYTES } from '#shared/http/body-limits.ts';
import { RESPONSES_PATH } from '#shared/http/responses-socket.ts';
import { PROTOCOL_LIMITS } from '#shared/rpc/frames.ts';
import { STATUS_CODES } from '../node-http.ts';
import { toAdmissionRequest } from './admission.ts';
import { getBearerToken, getRequestToken } from './auth.ts';
import type { ClientSockets } from './clients.ts';
import { createErrorBody } from './http-errors.ts';
import { NO_VAULT } from './no-vault.ts';
import type { Timing } from './timing.ts';
import { UPLINK_MAX_PAYLOAD } from './uplink.ts';
import type { VaultRegistry } from './vault-registry.ts';

interface UpgradeDeps {
  vaults: VaultRegistry;
  clients: ClientSockets;
  timing: Timing;
  /** Whether the bridge is about to close. */
  closing(): boolean;
}

/**
 * Handles upgrades of all listeners: admission first, then `/ws` (or `/`), `/v1/responses` or `/uplink`. Rejects anything else with a
 * status.
 */
export function createUpgradeHandler({
  vaults,
  clients,
  timing,
  closing,
}: UpgradeDeps): (request: IncomingMessage, transport: Duplex, head: Buffer) => void {
  const common = { noServer: true, perMessageDeflate: false, clientTracking: false, closeTimeout: timing.closeMs };
  const clientServer = new WebSocketServer({ ...common, maxPayload: PROTOCOL_LIMITS.maxPayload });
  const responsesServer = new WebSocketServer({ ...common, maxPayload: MAX_BODY_BYTES });
  const uplinkServer = new WebSocketServer({ ...common, maxPayload: UPLINK_MAX_PAYLOAD });

  return (request, transport, head) => {
    transport.on('error', () => transport.destroy());
    const arrival = toAdmissionRequest(request);
    const doorVault = vaults.byHost(request);
    const { admission } = doorVault;
    const refusal = admission.refuse(arrival, false);
    if (refusal) return rejectUpgrade(transport, refusal.status, refusal.message);
    const path = arrival.url.replace(/\?.*/, '').replace(/(.)\/+$/, '$1');
    if (!PATHS.has(path)) return rejectUpgrade(transport, 404, 'No WebSocket at this path');
    if (closing()) return rejectUpgrade(transport, 503, 'The gateway is shutting down');
    const { origin, authorization, 'user-agent': userAgent } = request.headers;
    if (path === '/uplink') {
      if (origin === undefined || origin !== admission.appOrigin(arrival)) return rejectUpgrade(transport, 403, 'Only the app can host');
      return acceptUpgrade(uplinkServer, request, transport, head, (socket) => doorVault.uplink(socket, origin));
    }
    const candidates = vaults.getCandidates(request);
    if (!candidates) return rejectUpgrade(transport, 404, NO_VAULT);
    if (path === RESPONSES_PATH) {
      const { responses, log } = vaults.byToken(request, getRequestToken(request));
      responses.admit(request, transport).then(
        (admitted) => {
          if (typeof admitted !== 'function') rejectUpgrade(transport, admitted.status, admitted.message, admitted.headers);
          else if (!transport.destroyed) acceptUpgrade(responsesServer, request, transport, head, admitted);
        },
        (error: unknown) => {
          log(`The WebSocket at ${RESPONSES_PATH} failed: ${error instanceof Error ? error.message : String(error)}`);
          rejectUpgrade(transport, 500, 'Internal bridge error');
        },
      );
      return;
    }
    if (clients.full) return rejectUpgrade(transport, 503, `${PROTOCOL_LIMITS.maxConnections} clients are already connected`);
    const caller = {
      ...{ origin, candidates },
      bearer: getBearerToken(authorization),
      userAgent: userAgent?.slice(0, 500),
      address: arrival.remoteAddress,
    };
    acceptUpgrade(clientServer, request, transport, head, (socket) => clients.add(socket, transport, caller));
  };
}

const PATHS = new Set(['/ws', '/', RESPONSES_PATH, '/uplink']);
const RETRY: Readonly<Record<number, Record<string, string>>> = { 503: { 'Retry-After': '1' } };

function acceptUpgrade(
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

function rejectUpgrade(
  transport: Duplex,
  status: number,
  message: string,
  extraHeaders: Readonly<Record<string, string>> = RETRY[status] ?? {},
): void {
  const body = JSON.stringify(createErrorBody(status, message));
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(extraHeaders).map(([name, value]) => `${name}: ${value}`),
  ];
  transport.once('finish', () => transport.destroy());
  transport.end(`${headers.join('\r\n')}\r\n\r\n${body}`);
}
