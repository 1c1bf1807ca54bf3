import { isOwnNetwork, type Reach, refuseAddress, refuseName } from './addresses.ts';

/**
 * Why the gateway may not be made to ask this address; undefined where it may. Loopback and private addresses are allowed: local model servers
 * live there, unless `reach` is `public`. What a name resolves to is judged when it is connected to (pinned-lookup.ts).
 */
export function refuseEgress(address: string, reach: Reach = 'local'): string | undefined {
  if (!URL.canParse(address)) return 'Not a valid address';
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') return `Only http and https are allowed, not ${protocol}`;
  // A URL's parser has written every IPv4 spelling (octal, hexadecimal, one number) in the usual way by now.
  return refuseName(hostname) ?? refuseAddress(hostname, reach);
}

/** How far a request may reach: as far as the person's own addresses, or, where the server `namedBy` has named the address, no further than that server itself is. */
export const reachOf = (namedBy: string | undefined): Reach =>
  namedBy === undefined || (URL.canParse(namedBy) && isOwnNetwork(new URL(namedBy).hostname)) ? 'local' : 'public';
