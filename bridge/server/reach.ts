import { networkInterfaces } from 'node:os';
import { isIP } from 'node:net';
import { coversLoopback, isLoopbackBind } from './listen.ts';

/** Addresses of the gateway's socket that other machines can try, `ws://address:port/ws`; none where it is bound to this machine alone. */
export function reachOf(bind: string, port: number): string[] {
  if (isLoopbackBind(bind)) return [];
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const addresses = coversLoopback(bind)
    ? own.filter((each) => !each.internal && each.family === 'IPv4').map(({ address }) => address)
    : [bind];
  return addresses.map((address) => `ws://${isIP(address) === 6 ? `[${address}]` : address}:${port}/ws`);
}
