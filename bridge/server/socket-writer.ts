import type { WebSocket } from 'ws';
import type { Stream } from '#shared/link/stream.ts';
import { copyChunk } from './socket-link.ts';

/**
 * Sends a host's messages to a client's socket. A slow client holds at most the stream's credit here, since data that its socket has not
 * taken is not released; the host notices and handles it.
 */
export class SocketWriter {
  readonly #socket: WebSocket;
  /** Bytes not yet taken by the socket, and the time since when it has taken none. */
  #unsent = 0;
  #stalledSince = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** Bytes not yet taken by the client's socket. */
  get unsent(): number {
    return this.#unsent;
  }

  /** Whether the socket has taken nothing for `ms`. `now` is monotonic, in milliseconds. */
  isStalled(now: number, ms: number): boolean {
    return this.#unsent > 0 && now - this.#stalledSince >= ms;
  }

  /** Sends a chunk of a text message; `fin` ends the message. */
  send(stream: Stream, chunk: Uint8Array, fin: boolean): void {
    const bytes = chunk.byteLength;
    if (this.#socket.readyState !== this.#socket.OPEN) return stream.release(bytes);
    if (this.#unsent === 0) this.#stalledSince = performance.now();
    this.#unsent += bytes;
    this.#socket.send(copyChunk(chunk), { binary: false, fin }, () => {
      this.#unsent -= bytes;
      this.#stalledSince = performance.now();
      stream.release(bytes);
    });
  }
}
