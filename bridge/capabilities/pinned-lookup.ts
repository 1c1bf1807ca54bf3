import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { type Reach, refuseAddress } from './addresses.ts';

/** All addresses of a name. */
export type Resolve = (hostname: string, signal?: AbortSignal) => Promise<LookupAddress[]>;

export const resolveBySystem: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

/** Thrown where a name leads to a place that may not be asked. */
export class RefusedAddress extends Error {}

/**
 * What a socket resolves a name with: once, and it connects to what was judged here, so that a name that changes between judgement and connection
 * (rebinding) gains nothing. One address that may not be asked refuses the name. `free`: the person has named the place.
 */
export function pinnedLookup(resolve: Resolve, reach: Reach, free: (hostname: string) => boolean = () => false): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const refusal = addresses
          .map(({ address }) => refuseAddress(address, free(hostname) ? 'local' : reach))
          .find((why) => why !== undefined);
        if (refusal !== undefined) return callback(new RefusedAddress(`${hostname} resolves to a blocked address: ${refusal}`), '', 0);
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
