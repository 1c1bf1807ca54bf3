import { type Beacon, MAX_BEACONS } from './beacon.ts';
import { browseMdns } from './browse-mdns.ts';
import { listLoopbackAddresses, listNetworkAddresses, scanAddresses } from './scan-ports.ts';

interface DiscoverOptions {
  timeoutMs: number;
  /** Whether to ask every address of this machine's private /24 networks too. */
  network: boolean;
  /** Called with the reason if a method failed. */
  warn(line: string): void;
}

/** Finds gateways by all methods at once, without duplicate addresses. Never rejects. */
export async function discoverGateways({ timeoutMs, network, warn }: DiscoverOptions): Promise<Beacon[]> {
  const announced = browseMdns({ timeoutMs }).catch((error: unknown) => {
    warn(`Couldn’t use multicast DNS: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  });
  const nearby = network ? listNetworkAddresses() : [];
  if (network && nearby.length === 0) warn('This computer is not in a private network that can be scanned');
  const onThisMachine = listLoopbackAddresses().then((addresses) => scanAddresses(addresses, timeoutMs));
  const all = (await Promise.all([announced, onThisMachine, scanAddresses(nearby, timeoutMs)])).flat();
  const found = new Map<string, Beacon>();
  for (const beacon of all) if (!found.has(beacon.wsUrl)) found.set(beacon.wsUrl, beacon);
  return [...found.values()].slice(0, MAX_BEACONS);
}
