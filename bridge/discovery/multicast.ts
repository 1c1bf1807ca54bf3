import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type Bonjour from 'bonjour-service';

const MDNS_PORT = 5353;

/** Where multicast DNS is spoken. */
export interface Network {
  /** The address of one interface; all where left out. */
  interface?: string;
  /** Another port than 5353, for tests. */
  port?: number;
}

/** Multicast DNS for as long as it is used. Rejects where it cannot be spoken here. */
export interface Multicast extends AsyncDisposable {
  readonly bonjour: Bonjour;
}

/**
 * Opens multicast DNS. The socket is bound here, not by the package: that throws a failure to bind, and whatever a packet of others makes it throw, at nobody who could
 * catch it.
 */
export async function openMulticast(
  { interface: address, port = MDNS_PORT }: Network,
  onfault: (error: unknown) => void,
): Promise<Multicast> {
  const { default: Bonjour } = await import('bonjour-service');
  const socket = createSocket({ type: 'udp4', reuseAddr: true });
  try {
    socket.bind(port);
    await once(socket, 'listening');
  } catch (error) {
    socket.close();
    throw error;
  }
  const options = { socket, bind: false, port, ...(address === undefined ? {} : { interface: address }) };
  const bonjour = new Bonjour(options, onfault);
  guard(socket, onfault);
  // It joins the groups when it hears of this.
  socket.emit('listening');
  return {
    bonjour,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        bonjour.unpublishAll(() => bonjour.destroy(() => resolve()));
      }),
  };
}

function guard(socket: Socket, onfault: (error: unknown) => void): void {
  for (const listener of socket.listeners('message')) {
    socket.removeAllListeners('message');
    socket.on('message', (...args) => {
      try {
        Reflect.apply(listener, socket, args);
      } catch (error) {
        onfault(error);
      }
    });
  }
}
