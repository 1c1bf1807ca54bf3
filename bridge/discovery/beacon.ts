import { legible } from '#shared/legible.ts';

/** The type of the service in multicast DNS, `_perch-gw._tcp` (decisions, "Command line"). */
export const SERVICE = 'perch-gw';
export const MAX_BEACONS = 256;
const NAME_CHARS = 100;

/** A gateway that was found. Whoever is on the network can have said so: it is no reason to trust what is there. */
export interface Beacon {
  /** As it calls itself, safe to print. */
  name: string;
  /** An IP address. */
  host: string;
  port: number;
  /** How: told by multicast DNS, or asked on this machine's own ports, or on the network's addresses. */
  method: 'mdns' | 'loopback' | 'scan';
  wsUrl: string;
}

/** `tls`: it says that it speaks TLS alone. */
export function beaconOf({ name, host, port, method, tls = false }: Omit<Beacon, 'wsUrl'> & { tls?: boolean }): Beacon {
  const shown = legible(name.replace(/\s+/g, ' ').trim().slice(0, NAME_CHARS));
  const wsUrl = new URL(`${tls ? 'wss' : 'ws'}://${host.includes(':') ? `[${host}]` : host}:${port}/ws`).href;
  return { name: shown || 'Perch', host, port, method, wsUrl };
}
