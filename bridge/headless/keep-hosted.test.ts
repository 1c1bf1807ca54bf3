import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { memoryPair } from '../../shared/link/link.ts';
import { Mux } from '../../shared/link/mux.ts';
import { HostLease } from '../server/lease.ts';
import { keepHosted } from './keep-hosted.ts';

const hello = { portsVersion: 1, schemaVersion: 1, build: 'test', capabilities: [] };

let lease: HostLease;
let restarts: string[];
let end: AbortController;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  lease = new HostLease();
  restarts = [];
  end = new AbortController();
  keepHosted(lease, { restart: async (reason) => void restarts.push(reason) }, end.signal);
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
  lease.attach(host(), 'headless');
  vi.advanceTimersByTime(4_000);
  expect(restarts).toHaveLength(2);
});

test('when a host goes, clients wait for it, and it is given time to come back by itself', async () => {
  const gone = host();
  lease.attach(gone, 'headless');
  lease.detach(gone, 1006, '');
  const waiting = lease.wait(10_000);
  const back = host();
  lease.attach(back, 'headless');
  expect(await waiting).toBe(back);
  vi.advanceTimersByTime(4_000);
  expect(restarts).toEqual([]);
});

test('nothing is started again once the gateway closes', () => {
  end.abort();
  vi.advanceTimersByTime(60_000);
  expect(restarts).toEqual([]);
});
