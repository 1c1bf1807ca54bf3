import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import { type Link, memoryPair } from '#shared/link/link.ts';
import type { RequestFrame } from '#shared/rpc/frames.ts';
import { verifies } from '../../../tests/requirements.ts';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import { ConnectionMigrator } from './connection-migrator.ts';
import type { Transport } from './transport-choice.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

interface FakeConnection {
  client: GatewayClient;
  /** The ids of the calls that wait. */
  asked: string[];
  answer(id: string): void;
}

async function createConnection(): Promise<FakeConnection> {
  const [near, far]: [Link<string>, Link<string>] = memoryPair<string>();
  const pendingIds: string[] = [];
  const reply = (id: string, payload: unknown = {}): void => far.send(JSON.stringify({ type: 'res', id, ok: true, payload }));
  far.receive({
    message(text) {
      const { id, method } = JSON.parse(text) as RequestFrame;
      if (method === 'connect') reply(id);
      else pendingIds.push(id);
    },
    close: () => {},
  });
  far.send(JSON.stringify({ type: 'event', event: 'connect.challenge', seq: 1, payload: { nonce: 'n', ts: 1 } }));
  return { client: await GatewayClient.connect(near, { params: {} }), asked: pendingIds, answer: reply };
}

/** A page on the bridge, which would rather be at its own worker. */
async function createPage() {
  const self = {
    line: await createConnection(),
    via: 'bridge' as Transport,
    wanted: 'browser' as Transport,
    opened: 0,
    moves: 0,
    next: createConnection as () => Promise<FakeConnection>,
    mover: undefined as unknown as ConnectionMigrator,
  };
  const lines = new Map<GatewayClient, FakeConnection>();
  self.mover = new ConnectionMigrator({
    getClient: () => self.line.client,
    getBetterTransport: () => (self.wanted === self.via ? null : self.wanted),
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
const flush = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0).then(() => new Promise(setImmediate));

verifies('vault.app/moves', 'a page waits for its calls to be answered before it moves, and cuts none', async () => {
  const self = await createPage();
  const { client, asked, answer } = self.line;
  const calls = [client.call('health', {}), client.call('health', {})];
  await waitFor(() => asked.length === 2);
  self.mover.reconsider();
  await flush();
  expect(self.opened).toBe(0);
  answer(asked[0]!);
  await flush();
  expect(self.opened).toBe(0);
  answer(asked[1]!);
  await Promise.all(calls);
  await waitFor(() => self.moves === 1);
  expect(self.via).toBe('browser');
  expect(await client.closed).toMatchObject({ code: 4012 });
});

test('a call that begins while the next connection is made is answered on the old one', async () => {
  const self = await createPage();
  const { client, asked, answer } = self.line;
  const made = Promise.withResolvers<FakeConnection>();
  self.next = () => made.promise;
  self.mover.reconsider();
  await waitFor(() => self.opened === 1);
  const call = client.call('health', {});
  made.resolve(await createConnection());
  await waitFor(() => asked.length === 1);
  await flush();
  expect(self.moves).toBe(0);
  answer(asked[0]!);
  await call;
  await waitFor(() => self.moves === 1);
});

test('a change that is reverted meanwhile moves nothing, and leaves no connection open', async () => {
  const self = await createPage();
  const made = Promise.withResolvers<FakeConnection>();
  self.next = () => made.promise;
  self.mover.reconsider();
  await waitFor(() => self.opened === 1);
  self.wanted = 'bridge';
  const next = await createConnection();
  made.resolve(next);
  expect(await next.client.closed).toMatchObject({ code: 1000 });
  expect([self.moves, self.via]).toEqual([0, 'bridge']);
});

verifies('vault.app/moves', 'moves have two seconds between them, whatever happens', async () => {
  const self = await createPage();
  self.mover.reconsider();
  await waitFor(() => self.moves === 1);
  self.wanted = 'bridge';
  self.mover.reconsider();
  await vi.advanceTimersByTimeAsync(1_900);
  await flush();
  expect([self.opened, self.moves]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(200);
  await waitFor(() => self.moves === 2);
});

test('a try that fails changes nothing, and the next ones come ever later', async () => {
  const self = await createPage();
  self.next = () => Promise.reject(new Error('nobody there'));
  self.mover.reconsider();
  await waitFor(() => self.opened === 1);
  for (const [ms, opened] of [
    [3_900, 1],
    [200, 2],
    [7_800, 2],
    [300, 3],
  ] as const) {
    await vi.advanceTimersByTimeAsync(ms);
    await flush();
    expect(self.opened).toBe(opened);
  }
  expect([self.moves, self.line.client.pending]).toEqual([0, 0]);
});
