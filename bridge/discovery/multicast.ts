import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type Bonjour from 'bonjour-service';

const MDNS_PORT = 5353;

/** Interface and port for multicast DNS. */
export interface MulticastNetwork {
  /** Address of one interface. Default: all interfaces. */
  interface?: string;
  /** Port instead of 5353, for tests. */
  port?: number;
}

/** A multicast DNS session. */
export interface MulticastSession extends AsyncDisposable {
  readonly bonjour: Bonjour;
}

/**
 * Opens multicast DNS. Binds the socket here because the package throws bind errors, and errors caused by others' packets, where they can't
 * be caught.
 */
export async function openMulticast(
  { interface: address, port = MDNS_PORT }: MulticastNetwork,
  onfault: (error: unknown) => void,
): Promise<MulticastSession> {
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
  guardSocket(socket, onfault);
  // The package joins the multicast groups on this event.
  socket.emit('listening');
  return {
    bonjour,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        bonjour.unpublishAll(() => bonjour.destroy(() => resolve()));
      }),
  };
}

function guardSocket(socket: Socket, onfault: (error: unknown) => void): void {
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
