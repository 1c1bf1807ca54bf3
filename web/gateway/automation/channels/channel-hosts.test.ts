import { IDBFactory } from 'fake-indexeddb';
import { describe, expect } from 'vitest';
import type { Fetch } from '../../ports/fetch.ts';
import { createFetch } from '../../ports/create-fetch.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { egressCapability, advanceUntil } from '../../../../tests/support/channel-gateway.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { FakeBridge } from '../../../../tests/support/fake-bridge.ts';
import {
  type Say,
  type ModelScript,
  createScriptedModel,
  type TestGateway,
  createTestGateway,
} from '../../../../tests/support/test-gateway.ts';
import { TestHosts } from '../../../../tests/support/test-hosts.ts';
import { isCall, startTelegramServer, TELEGRAM_TOKEN } from '../../../../tests/support/telegram-server.ts';

const echoScript: ModelScript = ({ body: { messages } }): Say[] => [`You said: ${String(messages.at(-1)?.content)}`];

/** The way out of a host: its model is scripted, the platform is real. */
function createEgress(platform: string, model: ModelScript = echoScript): Fetch {
  const scripted = createScriptedModel(model);
  const out = createFetch({ getAllowedOrigins: () => new Set([platform]), getEgress: () => null });
  return (url, init) => (url.startsWith('http://model.test/') ? scripted.fetch(url, init) : out(url, init));
}

const enableChannel = async (gw: TestGateway, apiBase: string): Promise<void> => {
  const { client } = await gw.client();
  await client.call('config.patch', {
    patch: { channels: { telegram: { enabled: true, botToken: TELEGRAM_TOKEN, allowedUsers: [], apiBase } } },
  });
  client.close();
};

const getChannelStatus = async (gw: TestGateway) => {
  const { client } = await gw.client();
  const status = await client.call('channels.status', { channelId: 'telegram' });
  client.close();
  return status;
};

async function createTwoHosts({ model }: { model?: ModelScript } = {}) {
  const clock = new FakeClock();
  const server = await startTelegramServer(clock);
  const hosts = new TestHosts();
  const options = () => ({ clock, bridge: new FakeBridge(egressCapability), fetch: createEgress(server.url, model) });
  const one = await hosts.host(options());
  const two = await hosts.host(options());
  await enableChannel(one, server.url);
  await two.waitForSync();
  return {
    ...{ clock, server, hosts, one, two },
    said: () => server.sent.map(({ text }) => text),
    passes: (condition: () => boolean | Promise<boolean>, what?: string) => advanceUntil(clock, condition, what),
    async [Symbol.asyncDispose]() {
      await one[Symbol.asyncDispose]();
      await two[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe('among hosts', () => {
  verifies(
    'channels/one-executor',
    'the one that serves runs a channel; when another one serves it goes on, and both know how it is',
    async () => {
      await using at = await createTwoHosts();
      at.server.write('first');
      await at.passes(() => at.said().length === 1, 'the first answer');
      expect(at.hosts.journal.fences.get('channel:telegram')?.holder).toBe(at.one.origin);
      at.hosts.activate(at.two);
      at.server.write('second');
      await at.passes(() => at.said().length === 2, 'the second answer');
      await at.passes(() => at.hosts.journal.fences.get('channel:telegram')?.holder === at.two.origin, 'the lease of the other');
      at.server.write('third');
      await at.passes(() => at.said().length === 3, 'the third answer');
      expect(at.said()).toEqual(['first', 'second', 'third'].map((text) => `You said: ${text}`));
      await at.passes(async () => (await getChannelStatus(at.two)).metrics?.messages_sent === 3);
      await at.two.waitForSync();
      await at.one.waitForSync();
      for (const host of [at.one, at.two]) {
        await at.passes(async () => (await getChannelStatus(host)).status === 'running', 'both say that it runs');
        expect((await getChannelStatus(host)).metrics).toMatchObject({ messages_received: 3, messages_sent: 3, messages_failed: 0 });
      }
      expect([...at.one.faults, ...at.two.faults]).toEqual([]);
    },
  );

  verifies(
    'channels/one-executor',
    'a host that is active only for a moment, as during a reload, returns messages it has not started',
    async () => {
      await using at = await createTwoHosts();
      at.server.write('first');
      await at.passes(() => at.said().length === 1, 'the first answer');
      const holder = (): string | undefined => at.hosts.journal.fences.get('channel:telegram')?.holder;
      at.hosts.activate(at.two);
      await at.passes(() => holder() === at.two.origin, 'the other has the lease, and waits for what is still on its way');
      at.hosts.activate(at.one);
      at.server.write('second');
      await at.passes(() => at.said().length === 2, 'the second answer');
      expect(holder()).toBe(at.one.origin);
    },
  );

  verifies(
    'channels/one-executor',
    'a message being answered during a hand-over is answered once, by the host that started it',
    async () => {
      const gate = Promise.withResolvers<void>();
      let calls = 0;
      await using at = await createTwoHosts({ model: () => (calls++, ['half', { wait: gate.promise }, ' and half']) });
      at.server.write('slowly');
      await at.passes(() => calls === 1, 'it is asked');
      at.hosts.activate(at.two);
      const end = at.clock.now() + 20_000;
      await at.passes(() => at.clock.now() > end);
      // The lease is given back behind the answer.
      expect(at.hosts.journal.fences.get('channel:telegram')?.holder).toBe(at.one.origin);
      gate.resolve();
      await at.passes(() => at.said().length === 1, 'the answer');
      await at.passes(() => at.hosts.journal.fences.get('channel:telegram')?.holder === at.two.origin, 'the other has it');
      at.server.write('next');
      await at.passes(() => at.said().length === 2, 'the next answer');
      expect([at.said(), calls]).toEqual([['half and half', 'half and half'], 2]);
    },
  );

  verifies('channels/one-executor', 'a host dies between two parts of a reply: the other sends the rest, and repeats nothing', async () => {
    const long = `${'a'.repeat(4000)}\n\n${'b'.repeat(4000)}\n\n${'c'.repeat(4000)}`;
    await using at = await createTwoHosts({ model: () => [long] });
    await at.passes(async () => (await getChannelStatus(at.one)).status === 'running');
    // The second piece never gets through, while the first host lives.
    let alive = true;
    at.server.fault = (asked) =>
      alive && isCall('sendMessage')(asked) && asked.body.toString().includes('bbb')
        ? { status: 429, body: '{"ok":false,"error_code":429,"parameters":{"retry_after":600}}' }
        : undefined;
    at.server.write('tell me');
    await at.passes(async () => at.said().length === 1 && Boolean((await getChannelStatus(at.one)).problem));
    await at.one.waitForSync();
    await at.two.waitForSync();
    alive = false;
    at.one.crash();
    at.hosts.activate(at.two);
    await at.passes(() => at.one.replicator.state().state === 'away');
    await at.passes(() => at.said().length === 3, 'the rest');
    await at.passes(async () => (await getChannelStatus(at.two)).metrics?.messages_sent === 1);
    expect(at.said().map((text) => text[0])).toEqual(['a', 'b', 'c']);
  });

  verifies('channels/one-executor', 'both believe that they serve: each message is answered once', async () => {
    await using at = await createTwoHosts();
    at.hosts.isEveryHostActive = true;
    at.hosts.activate(at.two);
    for (const text of ['one', 'two', 'three']) {
      at.server.write(text);
      await at.passes(() => at.said().includes(`You said: ${text}`), text);
    }
    const end = at.clock.now() + 120_000;
    await at.passes(() => at.clock.now() > end);
    expect(at.said()).toEqual(['You said: one', 'You said: two', 'You said: three']);
  });
});

verifies(
  'channels/one-executor',
  'a browser that is closed while an answer is under way answers when it is opened again, once',
  async () => {
    const clock = new FakeClock();
    await using server = await startTelegramServer(clock);
    const indexedDB = new IDBFactory();
    const neverSettles = new Promise<void>(() => {});
    let calls = 0;
    const open = (first: boolean, model: ModelScript) =>
      createTestGateway({
        clock,
        indexedDB,
        name: 'channel-restart',
        useGuide: !first,
        bridge: new FakeBridge(egressCapability),
        fetch: createEgress(server.url, model),
      });
    {
      await using gw = await open(true, () => (calls++, ['so', { wait: neverSettles }]));
      await enableChannel(gw, server.url);
      server.write('are you there?');
      await advanceUntil(clock, () => calls === 1, 'it is asked');
    }
    await using gw = await open(false, echoScript);
    await advanceUntil(clock, () => server.sent.length === 1, 'the answer');
    server.write('and now?');
    await advanceUntil(clock, () => server.sent.length === 2, 'the next one');
    expect(server.sent.map(({ text }) => text)).toEqual(['You said: are you there?', 'You said: and now?']);
    const { client } = await gw.client();
    const { messages } = await client.call('chat.history', { sessionId: 'telegram-7' });
    expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(['are you there?', 'and now?']);
  },
);
