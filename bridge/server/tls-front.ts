import type { RequestListener, Server as PlainServer } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import { createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import { isLoopback } from './admission.ts';
import type { Certificate } from './certificate.ts';

export interface TlsFront {
  /** The server that listens. */
  readonly listener: NetServer;
  /** The HTTPS server behind it. */
  readonly secure: Server;
  /** Uses this certificate from now on. */
  renew(certificate: Certificate): void;
  /** Stops listening and closes remote connections, including those in a TLS handshake. */
  close(): void;
}

/** Time after which a silent connection is closed, as TLS does without a handshake. */
const MAX_SILENT_MS = 30_000;
/** First byte of a TLS handshake. */
const TLS_HANDSHAKE_BYTE = 0x16;
const USE_HTTPS_MESSAGE = 'This address requires HTTPS. Use https:// instead.';

/**
 * Serves two protocols on one port: connections to a loopback address go to `plain`; all others must use TLS. This needs neither a second
 * port nor a second loopback origin, and remote requests are never served in plain text.
 */
export function createTlsFront(plain: PlainServer, certificate: Certificate, options: ServerOptions, onrequest: RequestListener): TlsFront {
  const secure = createServer({ ...options, ...toPem(certificate) }, onrequest);
  const plainSockets = new Set<Socket>();
  const listener = createNetServer((socket) => {
    if (socket.localAddress !== undefined && isLoopback(socket.localAddress)) plain.emit('connection', socket);
    else {
      plainSockets.add(socket);
      socket.once('close', () => plainSockets.delete(socket));
      rejectPlainHttp(socket, secure);
    }
  });
  // Neither server listens itself. Without this event Node does not track their connections, and neither timeouts nor closing would apply
  // to them.
  listener.once('listening', () => {
    plain.emit('listening');
    secure.emit('listening');
  });
  secure.on('tlsClientError', (_error, socket) => socket.destroy());
  return {
    listener,
    secure,
    renew: (next) => secure.setSecureContext(toPem(next)),
    close() {
      listener.close();
      for (const socket of plainSockets) socket.destroy();
    },
  };
}

const toPem = ({ cert, key }: Certificate): { cert: string; key: string } => ({ cert, key });

/** Tells clients of plain HTTP to use HTTPS, without reading their request. */
function rejectPlainHttp(socket: Socket, secure: Server): void {
  const end = (): void => void socket.destroy();
  socket.on('error', end).setTimeout(MAX_SILENT_MS, end);
  socket.once('data', (first) => {
    socket.pause();
    socket.setTimeout(0).off('timeout', end);
    if (first[0] !== TLS_HANDSHAKE_BYTE)
      return socket.end(
        `HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${USE_HTTPS_MESSAGE.length}\r\n\r\n${USE_HTTPS_MESSAGE}`,
        end,
      );
    socket.unshift(first);
    return secure.emit('connection', socket);
  });
}
