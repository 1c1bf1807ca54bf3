import { isPrivateNetwork, type NetworkReach, checkAddress, checkHostName } from './address-policy.ts';

/**
 * Returns why the gateway must not request this URL; undefined if it may. Loopback and private addresses are allowed for local model
 * servers, unless `reach` is `public`. The addresses that a name resolves to are checked on connection (pinned-lookup.ts).
 */
export function checkEgressUrl(address: string, reach: NetworkReach = 'local'): string | undefined {
  if (!URL.canParse(address)) return 'Not a valid address';
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') return `Only http and https are allowed, not ${protocol}`;
  // The URL parser has normalized all IPv4 spellings (octal, hexadecimal, one number).
  return checkHostName(hostname) ?? checkAddress(hostname, reach);
}

/**
 * Returns how far a request may reach: to local addresses, or, if the server `namedBy` supplied the URL, no further than that server
 * itself.
 */
export const getReach = (namedBy: string | undefined): NetworkReach =>
  namedBy === undefined || (URL.canParse(namedBy) && isPrivateNetwork(new URL(namedBy).hostname)) ? 'local' : 'public';
