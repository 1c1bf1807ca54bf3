import { afterEach, beforeEach, expect, vi } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { memoryPair } from '#shared/link/link.ts';
import { Mux } from '#shared/link/mux.ts';
import { HostRegistry } from './hosts.ts';
import { HostPresence } from './host-presence.ts';
import { TIMING } from './timing.ts';

const hello = { portsVersion: 1, schemaVersion: 1, build: 'test', capabilities: ['journal'] };

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

function join(hosts: HostRegistry, origin: string): Mux {
  const mux = new Mux(memoryPair<Uint8Array>()[0], { side: 'acceptor', hello, onstream: () => {} });
  const host = hosts.join(mux, 'tab', hello);
  if (host) hosts.identify(host, origin, '');
  return mux;
}

verifies('vault.port/presence', 'a host that left counts as there for 15 s, and everybody for 15 s after a start', () => {
  const hosts = new HostRegistry();
  const presence = new HostPresence(hosts, TIMING.presenceMs);
  join(hosts, 'a');
  const b = join(hosts, 'b');
  vi.advanceTimersByTime(14_999);
  expect(presence.now()).toBeNull();
  vi.advanceTimersByTime(1);
  expect(presence.now()).toEqual(['a', 'b']);
  hosts.leave(b, 1006, '');
  vi.advanceTimersByTime(14_999);
  expect(presence.now()).toEqual(['a', 'b']);
  vi.advanceTimersByTime(1);
  expect(presence.now()).toEqual(['a']);
  hosts.close(1001, '');
});

verifies('vault.port/presence', 'a host that reconnects is present, however often its connection broke', () => {
  const hosts = new HostRegistry();
  const presence = new HostPresence(hosts, 100);
  vi.advanceTimersByTime(100);
  for (let i = 0; i < 3; i++) hosts.leave(join(hosts, 'a'), 1006, '');
  const again = join(hosts, 'a');
  vi.advanceTimersByTime(100);
  expect(presence.now()).toEqual(['a']);
  hosts.leave(again, 1006, '');
  expect(presence.now()).toEqual(['a']);
  vi.advanceTimersByTime(100);
  expect(presence.now()).toEqual([]);
});
