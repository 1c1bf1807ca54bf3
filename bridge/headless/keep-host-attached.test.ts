import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { memoryPair } from '../../shared/link/link.ts';
import { Mux } from '../../shared/link/mux.ts';
import { HostRegistry } from '../server/hosts.ts';
import { keepHostAttached } from './keep-host-attached.ts';

const hello = { portsVersion: 1, schemaVersion: 1, build: 'test', capabilities: [] };

let hosts: HostRegistry;
let restarts: string[];
let end: AbortController;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  hosts = new HostRegistry();
  restarts = [];
  end = new AbortController();
  keepHostAttached(hosts, { restart: async (reason) => void restarts.push(reason) }, end.signal);
});
afterEach(() => {
  end.abort();
  vi.useRealTimers();
});

/** A host that answers pings. */
function host(): Mux {
  const [near, far] = memoryPair<Uint8Array>();
  new Mux(far, { side: 'dialer', hello, onstream: () => {} });
  return new Mux(near, { side: 'acceptor', hello, onstream: () => {} });
}

test('a browser that runs but does not host is started again every 15 s, until its host attaches', () => {
  vi.advanceTimersByTime(14_900);
  expect(restarts).toEqual([]);
  vi.advanceTimersByTime(200);
  expect(restarts).toHaveLength(1);
  vi.advanceTimersByTime(15_000);
  expect(restarts).toHaveLength(2);
  hosts.join(host(), 'headless', hello);
  vi.advanceTimersByTime(4_000);
  expect(restarts).toHaveLength(2);
});

test('it is the managed host that must be there: a tab that serves does not do instead', () => {
  hosts.join(host(), 'tab', hello);
  vi.advanceTimersByTime(15_100);
  expect(restarts).toHaveLength(1);
});

test('clients wait for a lost host, which gets time to return', async () => {
  const lost = host();
  hosts.join(lost, 'headless', hello);
  hosts.leave(lost, 1006, '');
  const waiting = hosts.wait(10_000);
  const back = host();
  hosts.join(back, 'headless', hello);
  expect(await waiting).toBe(back);
  vi.advanceTimersByTime(4_000);
  expect(restarts).toEqual([]);
});

test('a tab that goes while the managed host is still coming is followed by it: clients wait', async () => {
  const tab = host();
  hosts.join(tab, 'tab', hello);
  hosts.leave(tab, 1006, '');
  const waiting = hosts.wait(10_000);
  expect(hosts.waiting).toBe(1);
  const managed = host();
  hosts.join(managed, 'headless', hello);
  expect(await waiting).toBe(managed);
});

test('a line of the managed host that another one has replaced starts nothing again', () => {
  const [earlier, later] = [host(), host()];
  hosts.join(earlier, 'headless', hello);
  hosts.join(later, 'headless', hello);
  hosts.leave(earlier, 4011, 'the same host attached again');
  vi.advanceTimersByTime(4_000);
  expect([restarts, hosts.current]).toEqual([[], later]);
});

test('nothing is started again once the gateway closes', () => {
  end.abort();
  vi.advanceTimersByTime(60_000);
  expect(restarts).toEqual([]);
});
