import ipaddr from 'ipaddr.js';

/** Names and addresses under which clouds hand out the machine's own credentials; the IPv4 one is link-local, and refused as such. */
const METADATA_NAMES = new Set(['metadata', 'metadata.google.internal', 'metadata.goog', 'instance-data', 'instance-data.ec2.internal']);
const METADATA_ADDRESSES = new Set(['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '168.63.129.16', '192.0.0.192']);

/** Ranges that nothing of the gateway's asks, whatever is configured. */
const NEVER = new Set(['unspecified', 'linkLocal', 'multicast', 'broadcast']);

/** What of IPv6 has been given out for use on the internet. */
const GLOBAL: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** `local`: loopback and private addresses too, as for model servers. `public`: what anybody on the internet can reach, and nothing else. */
export type Reach = 'local' | 'public';

/** A host's name as it is compared: small letters, no brackets around, no dots behind. */
export const plainHost = (hostname: string): string =>
  hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
    .toLowerCase();

/** Why a name may not be asked, whatever it resolves to; undefined where it may. */
export const refuseName = (host: string): string | undefined =>
  METADATA_NAMES.has(plainHost(host)) ? `${host} exposes this computer’s credentials and is always blocked` : undefined;

/** Why an address may not be asked; undefined where it may, and for what is no address. Takes any spelling that a system's own parser takes. */
export function refuseAddress(address: string, reach: Reach): string | undefined {
  const host = plainHost(address).replace(/%.*$/, '');
  if (!ipaddr.isValid(host)) return undefined;
  for (const inner of readings(ipaddr.parse(host))) {
    if (METADATA_ADDRESSES.has(inner.toString())) return `${address} exposes this computer’s credentials and is always blocked`;
    const range = inner.range();
    if (NEVER.has(range)) return `${address} is always blocked (${range})`;
    if (reach === 'public' && !isPublic(inner))
      return `${address} is not on the public internet (${range === 'unicast' ? 'reserved' : range})`;
  }
  return undefined;
}

/** Names that nobody on the internet can have (RFC 6761, 6762, 8375; ICANN on `.internal`). */
const OWN_NAMES = /(^|\.)(localhost|local|internal|home\.arpa)$/;

/**
 * Whether a server is on the person's own network, by what it is called alone: what a name leads to is up to whoever has it, who may be on the internet.
 */
export function isOwnNetwork(hostname: string): boolean {
  const host = plainHost(hostname).replace(/%.*$/, '');
  if (ipaddr.isValid(host)) return refuseAddress(host, 'local') === undefined && refuseAddress(host, 'public') !== undefined;
  return OWN_NAMES.test(host) || !host.includes('.');
}

const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' && (!(address instanceof ipaddr.IPv6) || address.match(GLOBAL));

type Address = ReturnType<typeof ipaddr.parse>;

/** An address, and the IPv4 ones that an IPv6 one may stand for: mapped, compatible, translated (NAT64), 6to4, ISATAP. */
function readings(address: Address): Address[] {
  if (!(address instanceof ipaddr.IPv6)) return [address];
  const bytes = address.toByteArray();
  const within = (from: number): Address => ipaddr.fromByteArray(bytes.slice(from, from + 4));
  const zeros = (until: number): boolean => bytes.slice(0, until).every((byte) => byte === 0);
  const found: Address[] = [address];
  if (zeros(10) && bytes[10] === 0xff && bytes[11] === 0xff) found.push(within(12));
  // `::` and `::1` are addresses of their own.
  if (zeros(12) && bytes.slice(12, 15).some((byte) => byte !== 0)) found.push(within(12));
  const range = address.range();
  if (range === 'rfc6052') found.push(within(12));
  if (range === '6to4') found.push(within(2));
  if ((bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe) found.push(within(12));
  return found;
}
