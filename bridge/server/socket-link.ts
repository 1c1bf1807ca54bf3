import type { WebSocket } from 'ws';
import type { Link } from '#shared/link/link.ts';

/** From this size on a chunk is passed on as it is; smaller ones are copied, lest they keep alive the large message that they came in. */
const COPY_BELOW = 16 * 1024;

/** A chunk that stays valid after the call which brought it. */
export const keep = (chunk: Uint8Array): Uint8Array => (chunk.byteLength < COPY_BELOW ? Buffer.from(chunk) : chunk);

/** A server-side WebSocket as a link of bytes. A text message on it is a breach and closes it. */
export function socketLink(socket: WebSocket): Link<Uint8Array> {
  let draining = false;
  let drained: (() => void) | undefined;
  const written = (): void => {
    if (!draining || socket.bufferedAmount > 0) return;
    draining = false;
    drained?.();
  };
  return {
    get buffered() {
      return socket.bufferedAmount;
    },
    send(message) {
      if (socket.readyState !== socket.OPEN) return;
      socket.send(message, { binary: true }, written);
      draining ||= socket.bufferedAmount > 0;
    },
    close: (code, reason) => closeSocket(socket, code ?? 1000, reason ?? ''),
    receive(events) {
      drained = () => events.drain?.();
      socket.on('message', (data, isBinary) => {
        if (!isBinary || !Buffer.isBuffer(data)) return closeSocket(socket, 1003, 'only binary messages are supported');
        events.message(data);
      });
      socket.on('close', (code, reason) => events.close(code, reason.toString()));
    },
  };
}

/** Closes a WebSocket with what may be sent: codes that only stand for something at the receiver become 1011, long reasons are cut. */
export function closeSocket(socket: WebSocket, code: number, reason: string): void {
  // A paused socket would never see the other side's answer.
  socket.resume();
  const sendable = (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999);
  socket.close(sendable ? code : 1011, cut(reason));
}

/** At most 123 bytes of UTF-8, without a broken character at the end. */
function cut(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.byteLength <= 123) return reason;
  let end = 123;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}
