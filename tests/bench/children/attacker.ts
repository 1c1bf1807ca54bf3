// Opens sockets that cost their opener next to nothing. A command comes from the parent:
// `{ kind: 'silent' | 'heads', port, openSockets, perSecond }`: so many at once, then so many new ones a second; `{ stop: true }` ends all of them.
// `silent`: WebSockets that never send anything; `heads`: requests whose head never ends, a byte a second. Closed ones are forgotten.
import { connect, type Socket } from 'node:net';

export interface SocketAttack {
  kind: 'silent' | 'heads';
  port: number;
  open: number;
  perSecond: number;
}

const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
/** Number of batches per second in which new sockets are opened. */
const BATCHES_PER_SECOND = 20;

const sockets = new Set<Socket>();
let openedCount = 0;
let batchTimer: NodeJS.Timeout | undefined;
/** Sockets that were answered or closed, or from which no answer is expected. */
let settled = 0;

function openSockets({ kind, port }: SocketAttack): void {
  const socket = connect(port, '127.0.0.1');
  sockets.add(socket);
  openedCount++;
  socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  socket.once(kind === 'silent' ? 'data' : 'connect', () => void settled++);
  socket.write(
    `GET ${kind === 'silent' ? '/ws' : '/v1/models'} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${kind === 'silent' ? UPGRADE : 'X-Slow: '}`,
  );
  if (kind === 'heads') {
    const timer = setInterval(() => socket.write('a'), 1_000);
    socket.on('close', () => clearInterval(timer));
  }
}

process.on('message', (message: SocketAttack | { stop: true }) => {
  clearInterval(batchTimer);
  if ('stop' in message) {
    process.send?.({ opened: openedCount, stillOpen: sockets.size });
    for (const socket of sockets) socket.destroy();
    return;
  }
  openedCount = settled = 0;
  let left = message.open;
  // Not all in one turn: the listener's queue is as long as the system allows.
  const filling = setInterval(() => {
    for (let i = 0; i < 100 && left > 0; i++, left--) openSockets(message);
    // The listener's queue is not measured.
    if (left > 0 || settled < message.open) return;
    clearInterval(filling);
    process.send?.({ filled: sockets.size });
    batchTimer = setInterval(() => {
      for (let i = 0; i < message.perSecond / BATCHES_PER_SECOND; i++) openSockets(message);
    }, 1_000 / BATCHES_PER_SECOND);
  }, 10);
});
process.on('disconnect', () => process.exit());
process.send?.(0);
