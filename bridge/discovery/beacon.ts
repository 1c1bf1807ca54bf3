import { toPrintable } from '#shared/printable.ts';

/** The multicast DNS service type, `_perch-gw._tcp`. */
export const SERVICE = 'perch-gw';
export const MAX_BEACONS = 256;
const MAX_NAME_CHARS = 100;

/** A gateway that was found. Anyone on the network can announce one, so this does not make it trustworthy. */
export interface Beacon {
  /** Reported name, safe to print. */
  name: string;
  /** IP address. */
  host: string;
  port: number;
  /** How it was found: by multicast DNS, on this machine's ports, or on the network's addresses. */
  method: 'mdns' | 'loopback' | 'scan';
  wsUrl: string;
}

/** `tls`: whether the gateway only speaks TLS. */
export function toBeacon({ name, host, port, method, tls = false }: Omit<Beacon, 'wsUrl'> & { tls?: boolean }): Beacon {
  const printableName = toPrintable(name.replace(/\s+/g, ' ').trim().slice(0, MAX_NAME_CHARS));
  const wsUrl = new URL(`${tls ? 'wss' : 'ws'}://${host.includes(':') ? `[${host}]` : host}:${port}/ws`).href;
  return { name: printableName || 'Perch', host, port, method, wsUrl };
}
