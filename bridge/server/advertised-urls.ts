import { networkInterfaces } from 'node:os';
import { isIP } from 'node:net';
import type { Certificate } from './certificate.ts';
import { coversLoopback, isLoopbackBind } from './listen.ts';

/**
 * Returns WebSocket URLs at which other machines can try to reach the gateway; none if it is bound to loopback. `ws://address:port/ws`, or
 * `wss:` over TLS: the certificate's names first, then the addresses that it covers (all addresses if it covers none, which makes browsers
 * warn).
 */
export function getAdvertisedUrls(bind: string, port: number, certificate?: Pick<Certificate, 'names' | 'addresses'>): string[] {
  if (isLoopbackBind(bind)) return [];
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const addresses = coversLoopback(bind)
    ? own.filter((each) => !each.internal && each.family === 'IPv4').map(({ address }) => address)
    : [bind];
  const covered = certificate ? addresses.filter((address) => certificate.addresses.includes(address)) : addresses;
  const names = certificate?.names ?? [];
  const reached = [...names, ...(names.length + covered.length === 0 ? addresses : covered)];
  const scheme = certificate ? 'wss' : 'ws';
  return reached.map((name) => `${scheme}://${isIP(name) === 6 ? `[${name}]` : name}:${port}/ws`);
}
