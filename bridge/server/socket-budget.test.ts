import { expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { SocketBudget, toAddressGroup } from './socket-budget.ts';

function createBudget(max: number, maxPerAddress: number): { budget: SocketBudget<string>; dropped: string[] } {
  const dropped: string[] = [];
  return { budget: new SocketBudget({ max, maxPerAddress }, (socket) => void dropped.push(socket)), dropped };
}

it('drops the oldest when it is full', () => {
  const { budget, dropped } = createBudget(2, 10);
  for (const socket of ['a', 'b', 'c']) budget.add(socket, '127.0.0.1');
  expect([dropped, budget.size]).toEqual([['a'], 2]);
  budget.delete('c');
  budget.add('d', undefined);
  expect([dropped, budget.size]).toEqual([['a'], 2]);
});

verifies('limits/silent-sockets', 'an address that is not loopback drops the oldest of its own', () => {
  const { budget, dropped } = createBudget(10, 2);
  for (const socket of ['local 1', 'local 2', 'local 3']) budget.add(socket, '::1');
  budget.add('other', '192.0.2.1');
  for (const socket of ['a', 'b', 'c']) budget.add(socket, '::ffff:192.0.2.2');
  expect(dropped).toEqual(['a']);
  budget.delete('b');
  budget.add('d', '192.0.2.2');
  expect([dropped, budget.size]).toEqual([['a'], 6]);
});

it.each([
  ['127.0.0.9', undefined],
  ['::1', undefined],
  ['::ffff:127.0.0.1', undefined],
  [undefined, undefined],
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
])('groups %s as %s', (address, group) => expect(toAddressGroup(address)).toBe(group));

it('groups an IPv6 network of 64 bits', () => {
  expect(toAddressGroup('2001:db8:1:2:a::1')).toBe(toAddressGroup('2001:db8:1:2:b::2'));
  expect(toAddressGroup('2001:db8:1:2::1')).not.toBe(toAddressGroup('2001:db8:1:3::1'));
});
