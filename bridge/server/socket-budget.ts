import ipaddr from 'ipaddr.js';
import { isLoopback } from './admission.ts';

export interface BudgetLimits {
  max: number;
  /** Maximum per remote address; loopback is not limited. */
  maxPerAddress: number;
}

/** Sockets that are not authenticated yet. If there are too many, the oldest is dropped, so that a newcomer always gets in. */
export class SocketBudget<T> {
  readonly #limits: BudgetLimits;
  readonly #drop: (socket: T) => void;
  /** Oldest first, with their address groups. */
  readonly #sockets = new Map<T, string | undefined>();
  readonly #groups = new Map<string, Set<T>>();

  constructor(limits: BudgetLimits, drop: (socket: T) => void) {
    this.#limits = limits;
    this.#drop = drop;
  }

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: T, address: string | undefined): void {
    const group = toAddressGroup(address);
    const others = group === undefined ? undefined : this.#groups.get(group);
    if (others && others.size >= this.#limits.maxPerAddress) this.#dropOldest(others);
    else if (this.#sockets.size >= this.#limits.max) this.#dropOldest(this.#sockets.keys());
    this.#sockets.set(socket, group);
    if (group === undefined) return;
    const members = this.#groups.get(group) ?? new Set<T>();
    this.#groups.set(group, members.add(socket));
  }

  /** Releases a socket's place; does nothing if it has none. */
  delete(socket: T): void {
    const group = this.#sockets.get(socket);
    this.#sockets.delete(socket);
    if (group === undefined) return;
    const members = this.#groups.get(group);
    members?.delete(socket);
    if (members?.size === 0) this.#groups.delete(group);
  }

  #dropOldest(sockets: Iterable<T>): void {
    for (const socket of sockets) {
      this.delete(socket);
      return this.#drop(socket);
    }
  }
}

/** Addresses that count as one: an IPv4 address, or the /64 that an IPv6 network assigns to one customer. Undefined for loopback. */
export function toAddressGroup(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const plain = address.replace(/%.*$/, '');
  if (!ipaddr.isValid(plain) || isLoopback(plain)) return undefined;
  const parsed = ipaddr.process(plain);
  return parsed instanceof ipaddr.IPv6
    ? parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')
    : parsed.toString();
}
