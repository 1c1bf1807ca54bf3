import { afterEach, beforeEach, expect, vi } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import type { Mux } from '#shared/link/mux.ts';
import { RouteCache } from './route-cache.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

verifies('http.chat/standing', 'a decision holds for its time and no longer, for its host, its caller and its model', () => {
  const cache = new RouteCache('here');
  const host = {} as Mux;
  const body = Buffer.from(JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'Hi' }] }));
  const call = { id: 'c', provider: 'up', model: 'up/m', principal: 'owner', inputTokens: 1 };
  const wish = {
    to: 1,
    call,
    wire: 'chat' as const,
    stream: false,
    choices: 1,
    idleMs: 1000,
    trailerMs: 1000,
    stripUsage: false,
    thinksFirst: false,
  };
  const activate = cache.prepareRoute(
    host,
    { ...wish, standing: { ms: 500, asked: 'up/m', model: 'm', variant: '', addUsage: true } },
    { ':url': 'http://up/v1', 'x-own': 'yes' },
  );
  expect(cache.findRoute(host, 'owner', body)).toBeUndefined();
  activate();
  const decided = cache.findRoute(host, 'owner', body);
  expect(decided?.upstream).toMatchObject({ url: 'http://up/v1', headers: { 'x-own': 'yes', 'x-perch-via': 'here' } });
  expect(JSON.parse(String(decided?.upstream.body))).toMatchObject({ model: 'm' });
  expect(cache.findRoute(host, 'device:a', body)).toBeUndefined();
  expect(cache.findRoute({} as Mux, 'owner', body)).toBeUndefined();
  vi.advanceTimersByTime(499);
  expect(cache.findRoute(host, 'owner', body)).toBeDefined();
  vi.advanceTimersByTime(2);
  expect(cache.findRoute(host, 'owner', body)).toBeUndefined();
});
