import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { type NetworkReach, checkAddress } from './address-policy.ts';

/** Resolves a name to all its addresses. */
export type ResolveHost = (hostname: string, signal?: AbortSignal) => Promise<LookupAddress[]>;

export const resolveHost: ResolveHost = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

/** Thrown if a name resolves to an address that must not be requested. */
export class BlockedAddressError extends Error {}

/**
 * Returns a lookup function for sockets. It resolves a name once and connects to the checked addresses, so that changing the name in
 * between (DNS rebinding) has no effect. A single forbidden address rejects the name. `isAllowed`: whether the user has allowed the host.
 */
export function pinnedLookup(
  resolve: ResolveHost,
  reach: NetworkReach,
  isAllowed: (hostname: string) => boolean = () => false,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const refusal = addresses
          .map(({ address }) => checkAddress(address, isAllowed(hostname) ? 'local' : reach))
          .find((reason) => reason !== undefined);
        if (refusal !== undefined) return callback(new BlockedAddressError(`${hostname} resolves to a blocked address: ${refusal}`), '', 0);
        const family = options.family === 'IPv4' ? 4 : options.family === 'IPv6' ? 6 : options.family;
        const fitting = family === 4 || family === 6 ? addresses.filter((each) => each.family === family) : addresses;
        const [first] = fitting;
        if (!first) return callback(Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' }), '', 0);
        if (options.all) callback(null, fitting);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}
