import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { CLOSE_CODES, PROTOCOL_LIMITS } from '#shared/rpc/frames.ts';
import { type ClientCaller, type ClientDeps, ClientSocket } from './client-socket.ts';
import { type BudgetLimits, SocketBudget } from './socket-budget.ts';
import type { Vault } from './serve-vault.ts';

/** Limits for sockets before `connect`, separate from connected clients. */
const SILENT_LIMITS: BudgetLimits = { max: 256, maxPerAddress: 32 };
/** Limits for sockets whose credential is being checked, or was rejected with the close still unanswered. */
const UNADMITTED_LIMITS: BudgetLimits = { max: 256, maxPerAddress: 64 };

const CLIENT_REPLACED = { code: CLOSE_CODES.policy, reason: 'too many sockets before connect' };

/** All clients of `/ws`. Limits their number, also before `connect`, and closes stalled ones. */
export class ClientSockets {
  readonly #deps: ClientDeps;
  readonly #share: number;
  readonly #clients = new Map<WebSocket, ClientSocket>();
  readonly #silent: SocketBudget<ClientSocket>;
  readonly #unadmitted: SocketBudget<ClientSocket>;
  readonly #admitted = new Set<ClientSocket>();
  #sweeping: NodeJS.Timeout | undefined;

  /** `share`: maximum number of clients per vault, which leaves room for the others. */
  constructor({ share, ...deps }: Omit<ClientDeps, 'onconnect' | 'admit'> & { share: number }) {
    this.#share = share;
    const drop = (client: ClientSocket): void => client.drop(CLIENT_REPLACED.code, CLIENT_REPLACED.reason);
    this.#silent = new SocketBudget(SILENT_LIMITS, drop);
    this.#unadmitted = new SocketBudget(UNADMITTED_LIMITS, drop);
    this.#deps = {
      ...deps,
      onconnect: (client) => {
        this.#silent.delete(client);
        this.#unadmitted.add(client, client.address);
      },
      admit: (client, vault) => {
        if (this.full || this.of(vault).size >= this.#share) return false;
        this.#unadmitted.delete(client);
        this.#admitted.add(client);
        return true;
      },
    };
  }

  /** Number of admitted clients. */
  get size(): number {
    return this.#admitted.size;
  }

  /** Number of sockets that have not sent `connect`. */
  get silent(): number {
    return this.#silent.size;
  }

  /** Bytes held here that clients have not taken yet. */
  get unsent(): number {
    return [...this.#clients.values()].reduce((sum, { unsent }) => sum + unsent, 0);
  }

  get full(): boolean {
    return this.size >= PROTOCOL_LIMITS.maxConnections;
  }

  /** Number of admitted clients of a vault, and bytes held for them. */
  of(vault: Vault): { size: number; unsent: number } {
    const vaultClients = [...this.#admitted].filter((client) => client.vault === vault);
    return { size: vaultClients.length, unsent: vaultClients.reduce((sum, { unsent }) => sum + unsent, 0) };
  }

  add(socket: WebSocket, transport: Duplex, caller: ClientCaller): void {
    const client = new ClientSocket(socket, transport, caller, this.#deps);
    this.#clients.set(socket, client);
    this.#silent.add(client, client.address);
    socket.on('close', () => this.#remove(socket, client));
    this.#sweeping ??= setInterval(() => this.#sweep(), this.#deps.timing.stallMs / 4).unref();
  }

  /** Closes all sockets. Resolves when they are closed or terminated. */
  async close(code: number, reason: string): Promise<void> {
    const sockets = [...this.#clients.keys()];
    const onGone = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    for (const client of this.#clients.values()) client.close(code, reason);
    await Promise.all(onGone);
  }

  #remove(socket: WebSocket, client: ClientSocket): void {
    this.#clients.delete(socket);
    this.#silent.delete(client);
    this.#unadmitted.delete(client);
    this.#admitted.delete(client);
    if (this.#clients.size > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  #sweep(): void {
    const now = performance.now();
    for (const client of [...this.#clients.values()]) client.checkStalled(now);
  }
}
