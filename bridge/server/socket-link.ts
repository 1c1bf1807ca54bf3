import type { WebSocket } from 'ws';
import type { Link } from '#shared/link/link.ts';

/**
 * Chunks of at least this size are passed on as they are. Smaller ones are copied, so that they do not keep the large message alive that
 * contains them.
 */
const MAX_COPY_BYTES = 16 * 1024;

/** Returns a chunk that stays valid after the current callback. */
export const copyChunk = (chunk: Uint8Array): Uint8Array => (chunk.byteLength < MAX_COPY_BYTES ? Buffer.from(chunk) : chunk);

/** A server-side WebSocket as a byte link. A text message is a protocol error and closes it. */
export function createSocketLink(socket: WebSocket): Link<Uint8Array> {
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

/** Closes a WebSocket with a valid code and reason: codes that can't be sent become 1011, long reasons are truncated. */
export function closeSocket(socket: WebSocket, code: number, reason: string): void {
  // A paused socket would never read the peer's close frame.
  socket.resume();
  const sendable = (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999);
  socket.close(sendable ? code : 1011, truncateReason(reason));
}

/** Truncates to 123 bytes of UTF-8 without splitting a character. */
function truncateReason(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.byteLength <= 123) return reason;
  let end = 123;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}
