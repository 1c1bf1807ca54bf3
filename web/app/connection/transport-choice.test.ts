import { expect, test } from 'vitest';
import { contracts, type MethodName } from '#shared/rpc/methods/index.ts';
import { isReadMethod } from './read-methods.ts';
import { type TransportState, type Transport, chooseTransport } from './transport-choice.ts';

/** A linked page whose bridge is reachable and has a host, and whose own worker has caught up and waits. */
const replica: TransportState = {
  linked: true,
  bridge: 'reachable',
  served: true,
  mode: 'auto',
  role: 'replica',
  unfit: false,
  current: null,
};

test.each<[string, Partial<TransportState>, Transport | 'ask']>([
  ['waits as a replica', {}, 'bridge'],
  ['waits as a replica, and its page is on it', { current: 'browser' }, 'bridge'],
  ['serves', { role: 'holder' }, 'browser'],
  ['serves, and its page is still on the bridge', { role: 'holder', current: 'bridge' }, 'browser'],
  ['is not linked', { linked: false, bridge: 'unknown', role: 'none', mode: null }, 'browser'],
  ['is linked no more', { linked: false, current: 'bridge' }, 'browser'],
  ['has lost the bridge', { bridge: 'stopped', role: 'none', current: 'bridge' }, 'browser'],
  ['has lost the bridge, and was outdated', { bridge: 'stopped', role: 'none', unfit: true }, 'browser'],
  ['catches up, its page on the bridge', { role: 'none', current: 'bridge' }, 'bridge'],
  ['catches up, its page on it', { role: 'none', current: 'browser' }, 'browser'],
  ['is a replica, and nobody serves', { served: false, current: 'browser' }, 'browser'],
  ['is a replica, and the one that served is gone', { served: false, current: 'bridge' }, 'browser'],
  ['is outdated', { role: 'none', unfit: true, current: 'browser' }, 'bridge'],
  ['is outdated, and nobody serves as yet', { role: 'none', unfit: true, served: false }, 'bridge'],
  ['starts, where tabs or the managed browser served', { role: 'none', bridge: 'unknown' }, 'bridge'],
  ['starts, where the managed browser alone served', { role: 'none', bridge: 'unknown', mode: 'headless' }, 'bridge'],
  ['starts, where tabs alone served', { role: 'none', bridge: 'unknown', mode: 'tab' }, 'browser'],
  ['starts, where another tab serves', { role: 'replica', mode: 'tab' }, 'bridge'],
  ['starts, newly linked', { role: 'none', bridge: 'unknown', mode: null }, 'ask'],
])('the way of a page whose worker %s', (_name, situation, way) => {
  expect(chooseTransport({ ...replica, ...situation })).toBe(way);
});

test('the methods taken for reads are those of the contracts', () => {
  const names = (Object.keys(contracts) as MethodName[]).filter((name) => name !== 'connect');
  expect(names.filter(isReadMethod)).toEqual(names.filter((name) => contracts[name].policy.scope === 'read'));
});
