import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import { type Link, memoryPair } from '#shared/link/link.ts';
import type { RequestFrame } from '#shared/rpc/frames.ts';
import { verifies } from '../../../tests/requirements.ts';
import { until } from '../../../tests/support/gateway.ts';
import { Mover } from './mover.ts';
import type { Way } from './way.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

interface Line {
  client: GatewayClient;
  /** The ids of the calls that wait. */
  asked: string[];
  answer(id: string): void;
}

async function line(): Promise<Line> {
  const [near, far]: [Link<string>, Link<string>] = memoryPair<string>();
  const asked: string[] = [];
  const answer = (id: string, payload: unknown = {}): void => far.send(JSON.stringify({ type: 'res', id, ok: true, payload }));
  far.receive({
    message(text) {
      const { id, method } = JSON.parse(text) as RequestFrame;
      if (method === 'connect') answer(id);
      else asked.push(id);
    },
    close: () => {},
  });
  far.send(JSON.stringify({ type: 'event', event: 'connect.challenge', seq: 1, payload: { nonce: 'n', ts: 1 } }));
  return { client: await GatewayClient.connect(near, { params: {} }), asked, answer };
}

/** A page on the bridge, which would rather be at its own worker. */
async function page() {
  const self = {
    line: await line(),
    via: 'bridge' as Way,
    wanted: 'browser' as Way,
    opened: 0,
    moves: 0,
    next: line as () => Promise<Line>,
    mover: undefined as unknown as Mover,
  };
  const lines = new Map<GatewayClient, Line>();
  self.mover = new Mover({
    current: () => self.line.client,
    wanted: () => (self.wanted === self.via ? null : self.wanted),
    async open() {
      self.opened++;
      const made = await self.next();
      lines.set(made.client, made);
      return made.client;
    },
    adopt(client, way) {
      self.moves++;
      self.via = way;
      self.line = lines.get(client)!;
    },
  });
  return self;
}

/** Lets everything happen that needs no time. */
const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0).then(() => new Promise(setImmediate));

verifies('vault.app/moves', 'a page waits for its calls to be answered before it moves, and cuts none', async () => {
  const self = await page();
  const { client, asked, answer } = self.line;
  const calls = [client.call('health', {}), client.call('health', {})];
  await until(() => asked.length === 2);
  self.mover.reconsider();
  await settled();
  expect(self.opened).toBe(0);
  answer(asked[0]!);
  await settled();
  expect(self.opened).toBe(0);
  answer(asked[1]!);
  await Promise.all(calls);
  await until(() => self.moves === 1);
  expect(self.via).toBe('browser');
  expect(await client.closed).toMatchObject({ code: 4012 });
});

test('a call that begins while the next connection is made is answered on the old one', async () => {
  const self = await page();
  const { client, asked, answer } = self.line;
  const made = Promise.withResolvers<Line>();
  self.next = () => made.promise;
  self.mover.reconsider();
  await until(() => self.opened === 1);
  const call = client.call('health', {});
  made.resolve(await line());
  await until(() => asked.length === 1);
  await settled();
  expect(self.moves).toBe(0);
  answer(asked[0]!);
  await call;
  await until(() => self.moves === 1);
});

test('a change that is reverted meanwhile moves nothing, and leaves no connection open', async () => {
  const self = await page();
  const made = Promise.withResolvers<Line>();
  self.next = () => made.promise;
  self.mover.reconsider();
  await until(() => self.opened === 1);
  self.wanted = 'bridge';
  const next = await line();
  made.resolve(next);
  expect(await next.client.closed).toMatchObject({ code: 1000 });
  expect([self.moves, self.via]).toEqual([0, 'bridge']);
});

verifies('vault.app/moves', 'moves have two seconds between them, whatever happens', async () => {
  const self = await page();
  self.mover.reconsider();
  await until(() => self.moves === 1);
  self.wanted = 'bridge';
  self.mover.reconsider();
  await vi.advanceTimersByTimeAsync(1_900);
  await settled();
  expect([self.opened, self.moves]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(200);
  await until(() => self.moves === 2);
});

test('a try that fails changes nothing, and the next ones come ever later', async () => {
  const self = await page();
  self.next = () => Promise.reject(new Error('nobody there'));
  self.mover.reconsider();
  await until(() => self.opened === 1);
  for (const [ms, opened] of [
    [3_900, 1],
    [200, 2],
    [7_800, 2],
    [300, 3],
  ] as const) {
    await vi.advanceTimersByTimeAsync(ms);
    await settled();
    expect(self.opened).toBe(opened);
  }
  expect([self.moves, self.line.client.pending]).toEqual([0, 0]);
});
