import type { LookupAddress } from 'node:dns';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { pinnedLookup, BlockedAddressError } from './pinned-lookup.ts';

const known = (addresses: string[]) => async (): Promise<LookupAddress[]> =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

function lookUp(addresses: string[], options: { all?: boolean; family?: number | 'IPv4' | 'IPv6' } = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    pinnedLookup(known(addresses), 'local')('name.test', options, (error, address) => (error ? reject(error) : resolve(address)));
  });
}

verifies(
  'egress/resolved',
  'whatever the name, on this machine and in private networks yes, where credentials are handed out no',
  async () => {
    for (const address of ['127.0.0.1', '192.168.1.5', '10.0.0.1', '::1', 'fd00::1', '93.184.216.34'])
      expect(await lookUp([address]), address).toBe(address);
    for (const address of [
      '169.254.169.254',
      '169.254.1.1',
      'fd00:ec2::254',
      '::ffff:169.254.169.254',
      '100.100.100.200',
      '0.0.0.0',
      '224.0.0.1',
      'fe80::1',
    ])
      await expect(lookUp(['93.184.216.34', address]), address).rejects.toBeInstanceOf(BlockedAddressError);
    expect(await lookUp(['::1', '127.0.0.1'], { family: 4 })).toBe('127.0.0.1');
    expect(await lookUp(['::1', '127.0.0.1'], { family: 'IPv6' })).toBe('::1');
    expect(await lookUp(['::1', '127.0.0.1'], { all: true })).toEqual([
      { address: '::1', family: 6 },
      { address: '127.0.0.1', family: 4 },
    ]);
    await expect(lookUp(['::1'], { family: 4 })).rejects.toMatchObject({ code: 'ENOTFOUND' });
  },
);
