import type { Link } from '../link/link.ts';

/** Each WebSocket has event types of its own, all with these members; a method's parameters are compared both ways. */
type Handler<E> = { handle(event: E): void }['handle'];

/** The part of a WebSocket that both browsers and the `ws` package have. */
interface Socket {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  onmessage: Handler<{ data: unknown }> | null;
  onclose: Handler<{ code: number; reason: string }> | null;
  onerror: Handler<unknown> | null;
}

const OPEN = 1;

/** An open WebSocket as a link of texts. Binary messages are passed over: the protocol has none. */
export const socketLink = (socket: Socket): Link<string> => linkOf<string>(socket, (data) => (typeof data === 'string' ? data : undefined));

/** An open WebSocket as a link of bytes, for the multiplexer. */
export function binarySocketLink(socket: Socket): Link<Uint8Array> {
  socket.binaryType = 'arraybuffer';
  return linkOf<Uint8Array>(socket, (data) => (data instanceof ArrayBuffer ? new Uint8Array(data) : undefined));
}

function linkOf<M extends string | Uint8Array>(socket: Socket, read: (data: unknown) => M | undefined): Link<M> {
  return {
    get buffered() {
      return socket.bufferedAmount;
    },
    send(message) {
      if (socket.readyState === OPEN) socket.send(message as string);
    },
    // 1001 and the like may not be sent by a browser's socket: only 1000 and 3000 to 4999.
    close: (code = 1000, reason = '') => socket.close(code === 1000 || code >= 3000 ? code : 4000, reason.slice(0, 100)),
    receive(events) {
      socket.onmessage = ({ data }) => {
        const message = read(data);
        if (message !== undefined) events.message(message);
      };
      socket.onclose = ({ code, reason }) => events.close(code, reason);
      socket.onerror = () => {};
    },
  };
}
