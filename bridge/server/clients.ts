import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { LIMITS } from '#shared/rpc/frames.ts';
import { type ClientCaller, type ClientDeps, ClientSocket } from './client-socket.ts';
import type { Vault } from './vault.ts';

/** All clients of `/ws`: their number is limited, stalled ones are swept, and all are told when the bridge goes. */
export class Clients {
  readonly #deps: ClientDeps;
  readonly #share: number;
  readonly #clients = new Map<WebSocket, ClientSocket>();
  #sweeping: NodeJS.Timeout | undefined;

  /** `share`: how many of one vault may be connected, so that the others have room. */
  constructor({ share, ...deps }: Omit<ClientDeps, 'hasRoom'> & { share: number }) {
    this.#share = share;
    this.#deps = { ...deps, hasRoom: (vault) => this.of(vault).size < this.#share };
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Bytes held here for clients that have not taken them yet. */
  get unsent(): number {
    return [...this.#clients.values()].reduce((sum, { unsent }) => sum + unsent, 0);
  }

  get full(): boolean {
    return this.#clients.size >= LIMITS.maxConnections;
  }

  /** Those of one vault that it has let in. */
  of(vault: Vault): { size: number; unsent: number } {
    const own = [...this.#clients.values()].filter((client) => client.vault === vault);
    return { size: own.length, unsent: own.reduce((sum, { unsent }) => sum + unsent, 0) };
  }

  add(socket: WebSocket, transport: Duplex, caller: ClientCaller): void {
    const client = new ClientSocket(socket, transport, caller, this.#deps);
    this.#clients.set(socket, client);
    socket.on('close', () => this.#remove(socket));
    this.#sweeping ??= setInterval(() => this.#sweep(), this.#deps.timing.stallMs / 4).unref();
  }

  /** Tells all to go; resolves when they are gone, or have been cut off. */
  async close(code: number, reason: string): Promise<void> {
    const sockets = [...this.#clients.keys()];
    const gone = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    for (const client of this.#clients.values()) client.close(code, reason);
    await Promise.all(gone);
  }

  #remove(socket: WebSocket): void {
    this.#clients.delete(socket);
    if (this.#clients.size > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  #sweep(): void {
    const now = performance.now();
    for (const client of [...this.#clients.values()]) client.checkStalled(now);
  }
}
