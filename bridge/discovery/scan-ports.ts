import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { DEFAULT_PORT } from '#shared/link/default-port.ts';
import { fetchHealth } from '../server/fetch-health.ts';
import { type Beacon, toBeacon } from './beacon.ts';

/** Number of concurrent requests. */
const MAX_CONCURRENT = 64;
/** Ports to try if the listening ones are unknown. */
const PORTS = Array.from({ length: 20 }, (_, index) => DEFAULT_PORT + index);
const LISTENING = '0A';

type GatewayAddress = Pick<Beacon, 'host' | 'port' | 'method'>;

/** Requests each address's health and returns the gateways among them. Never rejects. */
export async function scanAddresses(addresses: readonly GatewayAddress[], timeoutMs: number): Promise<Beacon[]> {
  const found: Beacon[] = [];
  const remaining = [...addresses];
  const end = AbortSignal.timeout(timeoutMs);
  const askMs = Math.ceil(timeoutMs / Math.max(1, Math.ceil(addresses.length / MAX_CONCURRENT)));
  const work = async (): Promise<void> => {
    for (let address = remaining.shift(); address && !end.aborted; address = remaining.shift()) {
      const health = await fetchHealth({ ...address, signal: AbortSignal.any([end, AbortSignal.timeout(askMs)]) });
      if (health) found.push(toBeacon({ ...address, name: `Perch ${health.version}` }));
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
  return found;
}

/** Returns this machine's listening ports; if the system does not tell, a gateway's likely ports. */
export async function listLoopbackAddresses(): Promise<GatewayAddress[]> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8').catch(() => '')));
  const listening = tables.flatMap(parseListeningPorts);
  return [...new Set(listening.length > 0 ? listening : PORTS)].map((port) => ({ host: '127.0.0.1', port, method: 'loopback' as const }));
}

/** Parses a table in the format of `/proc/net/tcp`. Returns the listening ports outside the range reserved for system programs. */
export function parseListeningPorts(table: string): number[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/);
    const port = Number.parseInt(local.split(':').at(-1) ?? '', 16);
    return state === LISTENING && port >= 1024 ? [port] : [];
  });
}

/** Returns the other addresses of this machine's private /24 networks, each with the default port. */
export function listNetworkAddresses(interfaces = networkInterfaces()): GatewayAddress[] {
  const ownAddresses = Object.values(interfaces)
    .flatMap((all) => all ?? [])
    .filter(({ family, internal, address }) => family === 'IPv4' && !internal && ipaddr.parse(address).range() === 'private')
    .map(({ address }) => address);
  const nets = new Set(ownAddresses.map((address) => address.replace(/\.\d+$/, '')));
  return [...nets]
    .flatMap((net) => Array.from({ length: 254 }, (_, index) => `${net}.${index + 1}`))
    .filter((host) => !ownAddresses.includes(host))
    .map((host) => ({ host, port: DEFAULT_PORT, method: 'scan' as const }));
}
