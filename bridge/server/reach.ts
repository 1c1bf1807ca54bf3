import { networkInterfaces } from 'node:os';
import { isIP } from 'node:net';
import type { Certificate } from './certificate.ts';
import { coversLoopback, isLoopbackBind } from './listen.ts';

/**
 * Addresses of the gateway's socket that other machines can try; none where it is bound to this machine alone: `ws://address:port/ws`, or over
 * TLS `wss:`, with the certificate's names first, and of the addresses those that it is for (all, where it is for none: a browser then warns).
 */
export function reachOf(bind: string, port: number, certificate?: Pick<Certificate, 'names' | 'addresses'>): string[] {
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
