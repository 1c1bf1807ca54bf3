import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from 'bonjour-service';
import ipaddr from 'ipaddr.js';
import { type Beacon, toBeacon, MAX_BEACONS, SERVICE } from './beacon.ts';
import { type MulticastNetwork, openMulticast } from './multicast.ts';

/** A question may be lost, so it is repeated once. */
const REPEAT_FRACTION = 0.3;

/** Finds gateways advertised by multicast DNS within a time. Rejects if multicast DNS is not available. */
export async function browseMdns({ timeoutMs, network = {} }: { timeoutMs: number; network?: MulticastNetwork }): Promise<Beacon[]> {
  await using multicast = await openMulticast(network, () => {});
  const found = new Map<string, Beacon>();
  const full = new AbortController();
  const onService = (service: Service): void => {
    const beacon = parseService(service);
    if (beacon) found.set(beacon.wsUrl, beacon);
    if (found.size === MAX_BEACONS) full.abort();
  };
  const browser = multicast.bonjour.find({ type: SERVICE }, onService);
  browser.on('srv-update', onService);
  try {
    await sleep(timeoutMs * REPEAT_FRACTION, undefined, { signal: full.signal });
    browser.update();
    await sleep(timeoutMs * (1 - REPEAT_FRACTION), undefined, { signal: full.signal });
  } catch (error) {
    if (!full.signal.aborted) throw error;
  } finally {
    browser.stop();
  }
  return [...found.values()];
}

/** Converts an answer to a beacon; undefined if it is invalid. The TXT record is only used to tell whether the gateway speaks TLS. */
function parseService({ name, fqdn, port, addresses = [], referer, txt }: Service): Beacon | undefined {
  if (!fqdn.toLowerCase().endsWith(`._${SERVICE}._tcp.local`) || port < 1) return undefined;
  const host = chooseAddress(addresses, referer?.address ?? '');
  return host === undefined ? undefined : toBeacon({ name, host, port, method: 'mdns', tls: isTls(txt) });
}

const isTls = (txt: unknown): boolean => typeof txt === 'object' && txt !== null && 'tls' in txt && txt.tls === '1';

/**
 * Picks the service's address: the sender's if the service lists it, else a private one of the list (a router may have forwarded the
 * answer), or this machine's own. Never a name, which a gateway rejects.
 */
function chooseAddress(listed: readonly string[], sender: string): string | undefined {
  if (listed.includes(sender)) return sender;
  // A machine without a network lists no address.
  if (getRange(sender) === 'loopback' && listed.length === 0) return sender;
  const ownAddresses = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
  return listed.find((address) => ['private', 'uniqueLocal'].includes(getRange(address)) || ownAddresses.includes(address));
}

const getRange = (address: string): string => (ipaddr.isValid(address) ? ipaddr.parse(address).range() : 'none');
