import { type Beacon, MAX_BEACONS } from './beacon.ts';
import { browse } from './browse.ts';
import { loopbackPlaces, networkPlaces, scan } from './scan.ts';

export interface Discovering {
  timeoutMs: number;
  /** Whether to ask every address of this machine's private /24 networks too. */
  network: boolean;
  /** Called with the reason if a method failed. */
  warn(line: string): void;
}

/** Finds gateways by all methods at once, without duplicate addresses. Never rejects. */
export async function discover({ timeoutMs, network, warn }: Discovering): Promise<Beacon[]> {
  const told = browse({ timeoutMs }).catch((error: unknown) => {
    warn(`Couldn’t use multicast DNS: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  });
  const nearby = network ? networkPlaces() : [];
  if (network && nearby.length === 0) warn('This computer is not in a private network that can be scanned');
  const own = loopbackPlaces().then((places) => scan(places, timeoutMs));
  const all = (await Promise.all([told, own, scan(nearby, timeoutMs)])).flat();
  const found = new Map<string, Beacon>();
  for (const beacon of all) if (!found.has(beacon.wsUrl)) found.set(beacon.wsUrl, beacon);
  return [...found.values()].slice(0, MAX_BEACONS);
}
