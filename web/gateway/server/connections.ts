import type { Link } from '#shared/link/link.ts';
import { CLOSE_CODES, PROTOCOL_LIMITS } from '#shared/rpc/frames.ts';
import type { Admission } from './admission.ts';
import { type Clock, every } from '#shared/async/clock.ts';
import type { ClientConnection, ClientConnectionDeps } from './client-connection.ts';
import type { LiveConnections } from './access/access.ts';
import type { EventBus } from '../system/event-bus.ts';
import type { LogWriter } from '../system/log/log.ts';
import type { ConnectedClient } from '../system/status/presence.ts';

interface ConnectionsDeps {
  hub: EventBus;
  clock: Clock;
  log: LogWriter;
  /** Creates a connection for a link that has not started to read. */
  open(link: Link<string>, admission: Admission, callbacks: Pick<ClientConnectionDeps, 'onJoined' | 'onClosed'>): ClientConnection;
  /** Called when a client has connected or disconnected. */
  onClientsChange(): void;
  /** Called when a principal has connected or disconnected. */
  onActivity(principal: string): void;
}

/** All connections: enforces their maximum number, drives their timers, and moves clients of the bridge while another host is active. */
export class Connections implements LiveConnections {
  readonly #deps: ConnectionsDeps;
  readonly #open = new Set<ClientConnection>();
  /** Connections whose `connect` has succeeded, oldest first. */
  readonly #clients = new Set<ClientConnection>();
  #isActive = true;
  #stopTicking = (): void => {};

  constructor(deps: ConnectionsDeps) {
    this.#deps = deps;
  }

  /** Starts the periodic tick. */
  start(): void {
    const { clock, hub } = this.#deps;
    this.#stopTicking = every(clock, PROTOCOL_LIMITS.tickIntervalMs, () => hub.broadcast({ event: 'tick', payload: { ts: clock.now() } }));
  }

  get size(): number {
    return this.#open.size;
  }

  clients(): ConnectedClient[] {
    return [...this.#clients].map(({ description }) => description);
  }

  principals(): string[] {
    return [...this.#open].map(({ principal }) => principal);
  }

  accept(link: Link<string>, admission: Admission): void {
    const { hub, log, open, onClientsChange, onActivity } = this.#deps;
    if (this.#open.size >= PROTOCOL_LIMITS.maxConnections) {
      log.write('warn', 'connections', `Refused a connection: the limit of ${PROTOCOL_LIMITS.maxConnections} connections is reached`);
      return link.close(CLOSE_CODES.noGateway, `limit of ${PROTOCOL_LIMITS.maxConnections} connections reached`);
    }
    const connection = open(link, admission, {
      onJoined: () => {
        this.#clients.add(connection);
        onClientsChange();
        onActivity(admission.principal);
        return hub.add(connection);
      },
      onClosed: () => {
        this.#open.delete(connection);
        if (this.#clients.delete(connection)) onClientsChange();
        onActivity(admission.principal);
      },
    });
    this.#open.add(connection);
    connection.start();
    this.#transferIfInactive(connection);
  }

  /** Called when another host becomes active: clients of the bridge, present and future, are moved there once they have no pending call. */
  handOver(): void {
    this.#isActive = false;
    for (const connection of [...this.#open]) this.#transferIfInactive(connection);
  }

  /** Called when this host becomes active again. */
  resume(): void {
    this.#isActive = true;
    for (const connection of this.#open) connection.closeWhenIdle(undefined);
  }

  /** Closes all connections of a principal. */
  close(principal: string, code: number, reason: string): void {
    for (const connection of [...this.#open]) if (connection.principal === principal) connection.close(code, reason);
  }

  /** Closes all connections and stops the tick. */
  closeAll(): void {
    this.#stopTicking();
    for (const connection of [...this.#open]) connection.close(CLOSE_CODES.goingAway, 'the gateway was closed');
  }

  #transferIfInactive(connection: ClientConnection): void {
    if (!this.#isActive && connection.socket)
      connection.closeWhenIdle({ code: CLOSE_CODES.handingOver, reason: 'handed over to another host' });
  }
}
