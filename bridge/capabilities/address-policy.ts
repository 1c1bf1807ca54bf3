import ipaddr from 'ipaddr.js';

/**
 * Names and addresses of cloud metadata services, which expose the machine's credentials. The IPv4 address is link-local and rejected as
 * such.
 */
const METADATA_NAMES = new Set(['metadata', 'metadata.google.internal', 'metadata.goog', 'instance-data', 'instance-data.ec2.internal']);
const METADATA_ADDRESSES = new Set(['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '168.63.129.16', '192.0.0.192']);

/** Address ranges that the gateway never connects to, whatever is configured. */
const BLOCKED_RANGES = new Set(['unspecified', 'linkLocal', 'multicast', 'broadcast']);

/** IPv6 range allocated for global unicast. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** `local`: includes loopback and private addresses, for model servers. `public`: only addresses on the public internet. */
export type NetworkReach = 'local' | 'public';

/** Normalizes a host name for comparison: lower case, without brackets or trailing dots. */
export const normalizeHost = (hostname: string): string =>
  hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
    .toLowerCase();

/** Returns why a name must not be requested, whatever it resolves to; undefined if it may be. */
export const checkHostName = (host: string): string | undefined =>
  METADATA_NAMES.has(normalizeHost(host)) ? `${host} exposes this computer’s credentials and is always blocked` : undefined;

/** Returns why an address must not be requested; undefined if it may be, and for names. Accepts any spelling that system parsers accept. */
export function checkAddress(address: string, reach: NetworkReach): string | undefined {
  const host = normalizeHost(address).replace(/%.*$/, '');
  if (!ipaddr.isValid(host)) return undefined;
  for (const inner of expandEmbeddedAddresses(ipaddr.parse(host))) {
    if (METADATA_ADDRESSES.has(inner.toString())) return `${address} exposes this computer’s credentials and is always blocked`;
    const range = inner.range();
    if (BLOCKED_RANGES.has(range)) return `${address} is always blocked (${range})`;
    if (reach === 'public' && !isPublic(inner))
      return `${address} is not on the public internet (${range === 'unicast' ? 'reserved' : range})`;
  }
  return undefined;
}

/** Names that can't exist on the public internet (RFC 6761, 6762, 8375; ICANN on `.internal`). */
const PRIVATE_NAMES = /(^|\.)(localhost|local|internal|home\.arpa)$/;

/**
 * Whether a server is on the user's own network, judged by its name or address only: the owner of a name controls what it resolves to, and
 * may be anyone on the internet.
 */
export function isPrivateNetwork(hostname: string): boolean {
  const host = normalizeHost(hostname).replace(/%.*$/, '');
  if (ipaddr.isValid(host)) return checkAddress(host, 'local') === undefined && checkAddress(host, 'public') !== undefined;
  return PRIVATE_NAMES.test(host) || !host.includes('.');
}

const isPublic = (address: IpAddress): boolean =>
  address.range() === 'unicast' && (!(address instanceof ipaddr.IPv6) || address.match(GLOBAL_UNICAST));

type IpAddress = ReturnType<typeof ipaddr.parse>;

/** Returns an address and the IPv4 addresses embedded in an IPv6 one: mapped, compatible, translated (NAT64), 6to4, ISATAP. */
function expandEmbeddedAddresses(address: IpAddress): IpAddress[] {
  if (!(address instanceof ipaddr.IPv6)) return [address];
  const bytes = address.toByteArray();
  const extractIpv4 = (from: number): IpAddress => ipaddr.fromByteArray(bytes.slice(from, from + 4));
  const zeros = (until: number): boolean => bytes.slice(0, until).every((byte) => byte === 0);
  const found: IpAddress[] = [address];
  if (zeros(10) && bytes[10] === 0xff && bytes[11] === 0xff) found.push(extractIpv4(12));
  // `::` and `::1` are not IPv4-compatible addresses.
  if (zeros(12) && bytes.slice(12, 15).some((byte) => byte !== 0)) found.push(extractIpv4(12));
  const range = address.range();
  if (range === 'rfc6052') found.push(extractIpv4(12));
  if (range === '6to4') found.push(extractIpv4(2));
  if ((bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe) found.push(extractIpv4(12));
  return found;
}
