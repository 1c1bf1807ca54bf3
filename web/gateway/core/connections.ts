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
  /** Makes one of a link, which has not begun to read. */
  open(link: Link<string>, admission: Admission, told: Pick<ConnectionDeps, 'joined' | 'closed'>): Connection;
  /** A client has come or gone. */
  onclients(): void;
  /** Somebody has connected, or is gone. */
  onseen(principal: string): void;
}

/** All that are connected: lets no more in than there may be, keeps time for them, and sends those of the bridge on while another host serves. */
export class Connections implements Connected {
  readonly #deps: ConnectionsDeps;
  readonly #open = new Set<Connection>();
  /** Those that have been let in by `connect`, the oldest first. */
  readonly #joined = new Set<Connection>();
  #serves = true;
  #stopTicking = (): void => {};

  constructor(deps: ConnectionsDeps) {
    this.#deps = deps;
  }

  /** Begins to tick. */
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

  /** Another host serves from here on: those that came over the bridge, and those still to come, go there once no call of theirs is under way. */
  handOver(): void {
    this.#serves = false;
    for (const connection of [...this.#open]) this.#sendOn(connection);
  }

  /** This host serves again. */
  resume(): void {
    this.#serves = true;
    for (const connection of this.#open) connection.closeWhenIdle(undefined);
  }

  /** Closes those of a principal. */
  close(principal: string, code: number, reason: string): void {
    for (const connection of [...this.#open]) if (connection.principal === principal) connection.close(code, reason);
  }

  /** Closes all, and ticks no more. */
  end(): void {
    this.#stopTicking();
    for (const connection of [...this.#open]) connection.close(CLOSE.goingAway, 'the gateway was closed');
  }

  #sendOn(connection: Connection): void {
    if (!this.#serves && connection.socket) connection.closeWhenIdle({ code: CLOSE.handingOver, reason: 'handed over to another host' });
  }
}
