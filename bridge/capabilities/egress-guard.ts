import ipaddr from 'ipaddr.js';

/** Names and addresses under which clouds hand out the machine's own credentials; the IPv4 one is link-local, and refused as such. */
const METADATA_NAMES = new Set(['metadata', 'metadata.google.internal', 'metadata.goog', 'instance-data', 'instance-data.ec2.internal']);
const METADATA_ADDRESSES = new Set(['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '168.63.129.16', '192.0.0.192']);
const REFUSED_RANGES = new Set(['unspecified', 'linkLocal', 'multicast', 'broadcast']);

/**
 * Why the gateway may not be made to ask this address; undefined where it may. Loopback and private addresses are allowed: local model servers
 * live there. Names are judged as they stand, not by what they resolve to.
 */
export function refuseEgress(address: string): string | undefined {
  if (!URL.canParse(address)) return 'this is no address';
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'http:' && protocol !== 'https:') return `only http and https go out, not ${protocol}`;
  const name = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
    .toLowerCase();
  if (METADATA_NAMES.has(name)) return `${hostname} hands out this machine's credentials, and is never asked`;
  // A URL's parser has written every IPv4 spelling (octal, hexadecimal, one number) in the usual way by now.
  if (!ipaddr.isValid(name)) return undefined;
  for (const inner of readings(ipaddr.parse(name))) {
    if (METADATA_ADDRESSES.has(inner.toString())) return `${hostname} hands out this machine's credentials, and is never asked`;
    if (REFUSED_RANGES.has(inner.range())) return `${hostname} is not an address that may be asked (${inner.range()})`;
  }
  return undefined;
}

type Address = ReturnType<typeof ipaddr.parse>;

/** An address, and the IPv4 ones that an IPv6 one may stand for: mapped, compatible, NAT64, 6to4. */
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
  return found;
}
