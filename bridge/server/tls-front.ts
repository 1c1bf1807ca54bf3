import type { RequestListener, Server as PlainServer } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import { createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import { isLoopback } from './admission.ts';
import type { Certificate } from './certificate.ts';

export interface TlsFront {
  /** What listens. */
  readonly listener: NetServer;
  /** What speaks HTTPS behind it. */
  readonly secure: Server;
  /** From now on this one is shown. */
  renew(certificate: Certificate): void;
  /** Takes no more, and ends what is open from outside, shaken hands or not. */
  close(): void;
}

/** A connection that says nothing for so long is ended, as TLS ends one that shakes no hands. */
const SILENT_MS = 30_000;
/** The first byte of a TLS handshake. */
const HANDSHAKE = 0x16;
const SENTENCE = 'This address requires HTTPS. Use https:// instead.';

/**
 * One port, two protocols: what reaches this machine at a loopback address goes to `plain`, as ever; all else must speak TLS. So neither
 * a second port nor a second loopback origin is needed, and nothing from outside is heard in the clear.
 */
export function tlsFront(plain: PlainServer, certificate: Certificate, options: ServerOptions, onrequest: RequestListener): TlsFront {
  const secure = createServer({ ...options, ...pemOf(certificate) }, onrequest);
  const outside = new Set<Socket>();
  const listener = createNetServer((socket) => {
    if (socket.localAddress !== undefined && isLoopback(socket.localAddress)) plain.emit('connection', socket);
    else {
      outside.add(socket);
      socket.once('close', () => outside.delete(socket));
      fromOutside(socket, secure);
    }
  });
  // Neither listens itself: without this event Node keeps no list of their connections, and no time-out and no closing would reach them.
  listener.once('listening', () => {
    plain.emit('listening');
    secure.emit('listening');
  });
  secure.on('tlsClientError', (_error, socket) => socket.destroy());
  return {
    listener,
    secure,
    renew: (next) => secure.setSecureContext(pemOf(next)),
    close() {
      listener.close();
      for (const socket of outside) socket.destroy();
    },
  };
}

const pemOf = ({ cert, key }: Certificate): { cert: string; key: string } => ({ cert, key });

/** Who speaks plain HTTP is told so, and what it asked is not read. */
function fromOutside(socket: Socket, secure: Server): void {
  const end = (): void => void socket.destroy();
  socket.on('error', end).setTimeout(SILENT_MS, end);
  socket.once('data', (first) => {
    socket.pause();
    socket.setTimeout(0).off('timeout', end);
    if (first[0] !== HANDSHAKE)
      return socket.end(
        `HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${SENTENCE.length}\r\n\r\n${SENTENCE}`,
        end,
      );
    socket.unshift(first);
    return secure.emit('connection', socket);
  });
}
