import { IDBFactory } from 'fake-indexeddb';
import { expect, it } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import { createTestGateway, type TestGateway, waitFor } from '../../../tests/support/test-gateway.ts';
import { createDemoBridge } from './demo-bridge.ts';
import { createDemoFetch } from './demo-fetch.ts';
import { startDemo } from './seed-demo.ts';
import { SHOWCASE_SESSION } from './showcase-chat.ts';

/** The smallest PNG: one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const DAY_MS = 24 * 3_600_000;

interface Demo extends AsyncDisposable {
  gateway: TestGateway;
  client: GatewayClient;
}

/** The demo in Node. `storage`: the browser's databases, which outlive a worker. */
async function openDemo(storage = new IDBFactory()): Promise<Demo> {
  const gateway = await createTestGateway({
    fetch: createDemoFetch(0),
    bridge: createDemoBridge(),
    useGuide: true,
    indexedDB: storage,
    name: 'demo',
  });
  await startDemo({ gateway: gateway.gateway, vault: gateway.vault, drawPicture: () => Promise.resolve(PIXEL), pagesDelayMs: 0 });
  const { client } = await gateway.client();
  await waitFor(async () => (await client.call('workspace.list', { workspace: 'main', under: '.demo' })).count > 0, 'the rest of the data');
  return { gateway, client, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}

/** The approvals that wait, by the chat that they belong to. */
const listWaiting = async (client: GatewayClient): Promise<string[]> =>
  (await client.call('approvals.list', {})).approvals.map(({ sessionId }) => sessionId ?? '');

const readReply = async (client: GatewayClient, sessionId: string): Promise<string> =>
  JSON.stringify((await client.call('chat.history', { agentId: 'main', sessionId, limit: 50 })).messages.at(-1)?.content);

it('has something to see on every page', async () => {
  await using demo = await openDemo();
  const { client } = demo;
  const { sessions } = await client.call('sessions.list', {});
  const now = Date.now();
  const ages = sessions.map(({ updatedAt }) => (now - updatedAt) / DAY_MS);
  expect(ages.filter((days) => days < 1.5).length).toBeGreaterThan(1);
  expect(ages.filter((days) => days > 7 && days < 30).length).toBeGreaterThan(3);
  expect(ages.filter((days) => days > 30).length).toBeGreaterThan(1);
  expect(Math.min(...ages)).toBeGreaterThanOrEqual(0);
  expect(sessions.some(({ pinned }) => pinned)).toBe(true);
  expect(sessions.some(({ archived }) => archived)).toBe(true);
  expect(new Set(sessions.map(({ folder }) => folder)).size).toBeGreaterThan(2);
  expect(sessions.some(({ tags }) => tags.length > 0)).toBe(true);

  const counts = {
    agents: (await client.call('agents.list', {})).agents.length,
    memories: (await client.call('memory.list', {})).memories.length,
    pages: (await client.call('wiki.pages', {})).pages.length,
    suggestions: (await client.call('dreaming.review', {})).count,
    nights: (await client.call('dreaming.history', {})).count,
    signals: (await client.call('dreaming.signals', {})).total,
    schedules: (await client.call('cron.list', {})).count,
    runs: (await client.call('cron.history', {})).count,
    plans: (await client.call('plan.list', {})).count,
    approvals: (await client.call('approvals.list', { status: 'all' })).count,
    allowed: (await client.call('exec.policies', {})).count,
    drawings: (await client.call('drawings.list', {})).count,
    skills: (await client.call('skills.list', {})).skills.length,
    keys: (await client.call('keys.list', {})).count,
    devices: (await client.call('device.list', {})).devices.length,
    channels: (await client.call('channels.list', {})).channels.length,
    prompts: (await client.call('workspace.list', { workspace: 'main', under: 'prompts' })).count,
  };
  expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([]);
  expect((await client.call('keys.list', {})).keys[0]).toMatchObject({ name: 'Code editor', lastUsedAt: expect.any(Number) as number });
  const [first] = (await client.call('dreaming.history', {})).runs;
  expect((await client.call('dreaming.report', { runId: first?.id ?? '' })).narrative).toContain('The boat');
  expect(demo.gateway.faults).toEqual([]);
});

it('continues after the approval of the first chat, and then asks in the second', async () => {
  await using demo = await openDemo();
  const { client } = demo;
  await waitFor(async () => (await listWaiting(client)).includes(SHOWCASE_SESSION), 'the request of the first chat');
  expect(await listWaiting(client)).toEqual([SHOWCASE_SESSION]);
  const { approvals } = await client.call('approvals.list', {});
  await client.call('approvals.resolve', { id: approvals[0]?.id ?? '', decision: 'approve' });
  await waitFor(async () => (await readReply(client, SHOWCASE_SESSION)).includes('has 20 rows'), 'the end of the first chat');
  await waitFor(async () => (await listWaiting(client)).includes('outside'), 'the request of the second chat');
});

it('survives a reopening: nothing is added twice, what the visitor did stays, and an undecided request is made again', async () => {
  const storage = new IDBFactory();
  let paths: string[] = [];
  {
    await using demo = await openDemo(storage);
    await waitFor(async () => (await listWaiting(demo.client)).includes(SHOWCASE_SESSION), 'the request');
    await demo.client.call('sessions.rename', { path: 'main/bread.jsonl', title: 'Two loaves' });
    paths = (await demo.client.call('sessions.list', {})).sessions.map(({ path }) => path).sort();
  }
  await using demo = await openDemo(storage);
  const { client } = demo;
  await waitFor(async () => (await listWaiting(client)).includes(SHOWCASE_SESSION), 'the request, again');
  const { sessions } = await client.call('sessions.list', {});
  expect(sessions.map(({ path }) => path).sort()).toEqual(paths);
  expect(sessions.find(({ sessionId }) => sessionId === 'bread')?.title).toBe('Two loaves');
  const { messages } = await client.call('chat.history', { agentId: 'main', sessionId: SHOWCASE_SESSION, limit: 50 });
  expect(messages.filter(({ role }) => role === 'user')).toHaveLength(3);
  expect((await client.call('cron.list', {})).jobs.filter(({ name }) => name === 'Morning lake check')).toHaveLength(1);
});

it('a request that the visitor decided, or a chat that was deleted, does not come back', async () => {
  const storage = new IDBFactory();
  {
    await using demo = await openDemo(storage);
    await waitFor(async () => (await listWaiting(demo.client)).includes(SHOWCASE_SESSION), 'the request');
    const { approvals } = await demo.client.call('approvals.list', {});
    await demo.client.call('approvals.resolve', { id: approvals[0]?.id ?? '', decision: 'deny' });
    await waitFor(async () => (await listWaiting(demo.client)).includes('outside'), 'the second request');
    await demo.client.call('sessions.delete', { path: 'main/outside.jsonl' });
  }
  await using demo = await openDemo(storage);
  expect(await readReply(demo.client, SHOWCASE_SESSION)).toContain('I didn’t export anything');
  expect(await listWaiting(demo.client)).toEqual([]);
});
