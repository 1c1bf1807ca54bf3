import type { Link, LinkEvents } from '../link/link.ts';

/** Each WebSocket implementation has its own event types, all with these members; parameters of methods are compared bivariantly. */
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
const CLOSED = 3;
/** Close code of a WebSocket that ended without a closing handshake. */
const ABNORMAL_CLOSE_CODE = 1006;

/** An open WebSocket as a text link. Binary messages are ignored: the protocol has none. */
export const socketLink = (socket: Socket): Link<string> =>
  createSocketLink<string>(socket, (data) => (typeof data === 'string' ? data : undefined));

/** An open WebSocket as a link of bytes, for the multiplexer. */
export function binarySocketLink(socket: Socket): Link<Uint8Array> {
  socket.binaryType = 'arraybuffer';
  return createSocketLink<Uint8Array>(socket, (data) => (data instanceof ArrayBuffer ? new Uint8Array(data) : undefined));
}

function createSocketLink<M extends string | Uint8Array>(socket: Socket, read: (data: unknown) => M | undefined): Link<M> {
  // Buffers events until there is a listener: the creator of the link may await something first.
  let bufferedEvents: ((events: LinkEvents<M>) => void)[] = [];
  let deliver = (event: (events: LinkEvents<M>) => void): void => void bufferedEvents.push(event);
  let ended = false;
  const end = (code: number, reason: string): void => {
    if (ended) return;
    ended = true;
    deliver((events) => events.close(code, reason));
  };
  socket.onmessage = ({ data }) => {
    const message = read(data);
    if (message !== undefined) deliver((events) => events.message(message));
  };
  socket.onclose = ({ code, reason }) => end(code, reason);
  socket.onerror = () => {};
  if (socket.readyState === CLOSED) end(ABNORMAL_CLOSE_CODE, '');
  return {
    get buffered() {
      return socket.bufferedAmount;
    },
    send(message) {
      if (socket.readyState === OPEN) socket.send(message as string);
    },
    // 1001 and the like may not be sent by a browser's socket: only 1000 and 3000 to 4999.
    close: (code = 1000, reason = '') =>
      socket.close(code === 1000 || (code >= 3000 && code <= 4999) ? code : 4000, truncateReason(reason)),
    receive(events) {
      const buffered = bufferedEvents;
      bufferedEvents = [];
      deliver = (event) => event(events);
      for (const event of buffered) event(events);
    },
  };
}

/** A socket throws at a reason of more than 123 bytes. */
function truncateReason(reason: string): string {
  const bytes = new Uint8Array(123);
  const { read } = new TextEncoder().encodeInto(reason, bytes);
  return reason.slice(0, read);
}
