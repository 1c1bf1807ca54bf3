import type { Link } from '#shared/link/link.ts';
import { CLOSE, LIMITS } from '#shared/rpc/frames.ts';
import type { Admission } from './admission.ts';
import { type Clock, every } from './clock.ts';
import type { Connection, ConnectionDeps } from './connection.ts';
import type { Connected } from './access/access.ts';
import type { Hub } from './hub.ts';
import type { LogWriter } from './log/log.ts';
import type { PresentClient } from './status/presence.ts';

export interface ConnectionsDeps {
  hub: Hub;
  clock: Clock;
  log: LogWriter;
  /** Creates a connection for a link that has not started to read. */
  open(link: Link<string>, admission: Admission, told: Pick<ConnectionDeps, 'joined' | 'closed'>): Connection;
  /** Called when a client has connected or disconnected. */
  onclients(): void;
  /** Called when a principal has connected or disconnected. */
  onseen(principal: string): void;
}

/** All connections: enforces their maximum number, drives their timers, and moves clients of the bridge while another host is active. */
export class Connections implements Connected {
  readonly #deps: ConnectionsDeps;
  readonly #open = new Set<Connection>();
  /** Connections whose `connect` has succeeded, oldest first. */
  readonly #joined = new Set<Connection>();
  #serves = true;
  #stopTicking = (): void => {};

  constructor(deps: ConnectionsDeps) {
    this.#deps = deps;
  }

  /** Starts the periodic tick. */
  start(): void {
    const { clock, hub } = this.#deps;
    this.#stopTicking = every(clock, LIMITS.tickIntervalMs, () => hub.broadcast({ event: 'tick', payload: { ts: clock.now() } }));
  }

  get size(): number {
    return this.#open.size;
  }

  clients(): PresentClient[] {
    return [...this.#joined].map(({ present }) => present);
  }

  principals(): string[] {
    return [...this.#open].map(({ principal }) => principal);
  }

  accept(link: Link<string>, admission: Admission): void {
    const { hub, log, open, onclients, onseen } = this.#deps;
    if (this.#open.size >= LIMITS.maxConnections) {
      log.write('warn', 'connections', `Refused a connection: the limit of ${LIMITS.maxConnections} connections is reached`);
      return link.close(CLOSE.noGateway, `limit of ${LIMITS.maxConnections} connections reached`);
    }
    const connection = open(link, admission, {
      joined: () => {
        this.#joined.add(connection);
        onclients();
        onseen(admission.principal);
        return hub.add(connection);
      },
      closed: () => {
        this.#open.delete(connection);
        if (this.#joined.delete(connection)) onclients();
        onseen(admission.principal);
      },
    });
    this.#open.add(connection);
    connection.start();
    this.#sendOn(connection);
  }

  /** Called when another host becomes active: clients of the bridge, present and future, are moved there once they have no pending call. */
  handOver(): void {
    this.#serves = false;
    for (const connection of [...this.#open]) this.#sendOn(connection);
  }

  /** Called when this host becomes active again. */
  resume(): void {
    this.#serves = true;
    for (const connection of this.#open) connection.closeWhenIdle(undefined);
  }

  /** Closes all connections of a principal. */
  close(principal: string, code: number, reason: string): void {
    for (const connection of [...this.#open]) if (connection.principal === principal) connection.close(code, reason);
  }

  /** Closes all connections and stops the tick. */
  end(): void {
    this.#stopTicking();
    for (const connection of [...this.#open]) connection.close(CLOSE.goingAway, 'the gateway was closed');
  }

  #sendOn(connection: Connection): void {
    if (!this.#serves && connection.socket) connection.closeWhenIdle({ code: CLOSE.handingOver, reason: 'handed over to another host' });
  }
}
