import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import { ExchangeReset } from '#shared/link/stream-http.ts';
import { webPort } from '#shared/ports/web-port.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { FakeBridge, createCapability } from '../../../../tests/support/fake-bridge.ts';
import { type Say, createScript, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { type TestHost, TestHosts } from '../../../../tests/support/test-hosts.ts';

const getHistory = async (client: GatewayClient) => (await client.call('chat.history', { sessionId: 'main' })).messages;
const getRun = (hosts: TestHosts, path: string): unknown =>
  [...hosts.journal.rows.values()]
    .filter(({ store }) => store === 'runs')
    .map(({ payload }) => (JSON.parse(payload ?? '{}') as Record<string, unknown>)[path])[0];

/** A browser that closes while a reply streams, with another host on the same journal. */
async function closeWhileStreaming() {
  const clock = new FakeClock();
  const hosts = new TestHosts();
  const browser = await hosts.host({ clock, model: createScript(['What had come', { wait: new Promise(() => {}) }]) });
  const other = await hosts.host({ clock, model: createScript(['the rest']) });
  const { client, events } = await browser.client();
  client.call('chat.send', { message: 'hi' }).catch(() => {});
  await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
  clock.advance(1_000);
  await waitFor(() => getRun(hosts, 'partial') === 'What had come', 'the text in the journal');
  await other.waitForSync();
  browser.crash();
  await waitFor(() => browser.replicator.state().state === 'away');
  hosts.activate(other);
  const close = async (): Promise<void> => {
    await browser[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  };
  return { clock, hosts, browser, other, [Symbol.asyncDispose]: close };
}

/** Asserts that the reply has one version and no conflict exists. */
async function expectOneVersion(...all: TestHost[]): Promise<void> {
  for (const host of all) {
    const { client } = await host.client();
    expect((await getHistory(client)).slice(0, 2)).toMatchObject([{ content: 'hi' }, { content: 'What had come', interrupted: true }]);
    const session = await host.vault.sessions.get('main/main');
    expect(session?.messageCount).toBe((await getHistory(client)).length);
    expect(await host.vault.conflicts.ids()).toEqual([]);
  }
}

describe('a browser that closes while a reply streams', () => {
  verifies(
    ['vault.runs/text', 'vault.runs/recovers'],
    'leaves what had come to the next host, and finds it ended on its return',
    async () => {
      await using closed = await closeWhileStreaming();
      const { hosts, browser, other, clock } = closed;
      await waitFor(async () => (await other.vault.runs.unfinished()).length === 0, 'the run to be ended');
      await expectOneVersion(other);
      // Partial text of a running reply is not stored twice.
      await other.waitForSync();
      expect(getRun(hosts, 'partial')).toBe('');
      await using again = await hosts.reopen(browser, { clock });
      const { client } = await again.client();
      expect(await getHistory(client)).toHaveLength(1);
      again.attach();
      await again.waitForSync();
      await expectOneVersion(other, again);
    },
  );

  verifies(
    'vault.runs/text',
    'ends it on its return if the bridge stays away; that another host did so too, and went on, is no conflict',
    async () => {
      await using closed = await closeWhileStreaming();
      const { hosts, browser, other, clock } = closed;
      await waitFor(async () => (await other.vault.runs.unfinished()).length === 0, 'the run to be ended');
      // Without the bridge no other host can end it.
      await using again = await hosts.reopen(browser, { clock });
      expect(await getHistory((await again.client()).client)).toHaveLength(1);
      clock.advance(10_000);
      await waitFor(async () => (await again.vault.runs.unfinished()).length === 0, 'the run to be ended here');
      await expectOneVersion(again);
      clock.advance(1);
      const { client } = await other.client();
      await client.call('chat.send', { message: 'go on' });
      await other.waitForSync();
      again.attach();
      await again.waitForSync();
      await other.waitForSync();
      await expectOneVersion(other, again);
      expect((await getHistory(client)).map(({ content }) => content)).toEqual(['hi', 'What had come', 'go on', 'the rest']);
    },
  );
});

/** A browser that closes in the second step of a reply, after a tool's result, with another host on the same journal. */
async function closeBetweenSteps(result: string, calls = 1) {
  const clock = new FakeClock();
  const hosts = new TestHosts();
  const page = { url: 'https://pages.test/', status: 200, contentType: 'text/plain', body: btoa(result) };
  const bridge = new FakeBridge(createCapability(webPort, { 'web.fetch': async () => page }));
  const call = { tool: 'web_fetch', args: { url: page.url } };
  const steps: Say[][] = [
    ['Let me look. ', ...Array.from({ length: calls }, () => call)],
    ['It says ', { wait: new Promise(() => {}) }],
  ];
  const browser = await hosts.host({ clock, bridge, model: (_, count) => steps[count - 1] ?? ['done'] });
  const other = await hosts.host({ clock, model: createScript(['Still', { wait: new Promise(() => {}) }]) });
  const { client } = await browser.client();
  await client.call('config.patch', { patch: { tools: { policies: { web_fetch: 'auto' } } } });
  client.call('chat.send', { message: 'read https://pages.test/' }).catch(() => {});
  await waitFor(async () => {
    clock.advance(1_000);
    return String(getRun(hosts, 'partial')).endsWith('It says ');
  }, 'the text in the journal');
  await other.waitForSync();
  browser.crash();
  await waitFor(() => browser.replicator.state().state === 'away');
  hosts.activate(other);
  await waitFor(async () => (await other.vault.runs.unfinished()).length === 0, 'the run to be ended');
  const close = async (): Promise<void> => {
    await browser[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  };
  return { clock, hosts, browser, other, [Symbol.asyncDispose]: close };
}

describe('a browser that closes between two steps of a reply', () => {
  verifies(['vault.runs/steps', 'injection/labels'], 'leaves the steps with their sources to the next host, in one version', async () => {
    await using closed = await closeBetweenSteps('Buy tulips');
    const { hosts, browser, other, clock } = closed;
    const expected = [
      { role: 'user' },
      { role: 'assistant', content: 'Let me look. ', toolCalls: [{ tool: 'web_fetch' }] },
      { role: 'tool', content: expect.stringContaining('Buy tulips') as string, outside: ['web:pages.test'] },
      { role: 'assistant', content: 'It says ', interrupted: true, outside: ['web:pages.test'] },
    ];
    expect(await getHistory((await other.client()).client)).toMatchObject(expected);
    await other.waitForSync();
    expect(getRun(hosts, 'progress')).toBeUndefined();
    await using again = await hosts.reopen(browser, { clock });
    again.attach();
    await again.waitForSync();
    for (const host of [other, again]) {
      expect(await getHistory((await host.client()).client)).toMatchObject(expected);
      expect(await host.vault.conflicts.ids()).toEqual([]);
    }
  });

  verifies('injection/labels', 'leaves the sources of the chat above to the next host, if the reply has no steps', async () => {
    await using closed = await closeBetweenSteps('Buy tulips');
    const { clock, hosts, browser, other } = closed;
    const { client } = await other.client();
    client.call('chat.send', { message: 'go on' }).catch(() => {});
    await waitFor(async () => {
      clock.advance(1_000);
      return [...hosts.journal.rows.values()].some(({ payload }) => payload?.includes('"partial":"Still"') === true);
    }, 'the text in the journal');
    await using again = await hosts.reopen(browser, { clock });
    again.attach();
    await again.waitForSync();
    other.crash();
    await waitFor(() => other.replicator.state().state === 'away');
    hosts.activate(again);
    await waitFor(async () => (await again.vault.runs.unfinished()).length === 0, 'the run to be ended');
    const reply = (await getHistory((await again.client()).client)).at(-1);
    expect(reply).toMatchObject({ content: 'Still', interrupted: true, outside: ['web:pages.test'] });
  });

  verifies(['vault.runs/steps', 'injection/labels'], 'leaves long results cut, and their sources whole', async () => {
    await using closed = await closeBetweenSteps(`Buy tulips ${'x'.repeat(100_000)} now`, 5);
    const messages = await getHistory((await closed.other.client()).client);
    expect(messages).toHaveLength(8);
    const result = String(messages[2]?.content);
    expect(result.length).toBeLessThan(2_100);
    expect(result).toContain('Buy tulips');
    expect(result).toContain('characters omitted');
    expect(messages.at(-1)).toMatchObject({ content: 'It says ', interrupted: true, outside: ['web:pages.test'] });
  });
});

verifies('vault.runs/text', 'a reply is interrupted, not failed, when the connection to the bridge is lost meanwhile', async () => {
  const gate = Promise.withResolvers<never>();
  gate.promise.catch(() => {});
  const delta = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'What had come' } }] })}\n\n`;
  const fetch = async (url: string): Promise<Response> => {
    if (url.endsWith('/models')) return Response.json({ object: 'list', data: [{ id: 'scripted', object: 'model' }] });
    const pieces = [delta];
    const body = new ReadableStream<string>({
      async pull(controller) {
        const piece = pieces.shift();
        if (piece !== undefined) controller.enqueue(piece);
        else await gate.promise.catch((error: unknown) => controller.error(error));
      },
    });
    return new Response(body.pipeThrough(new TextEncoderStream()), { headers: { 'content-type': 'text/event-stream' } });
  };
  await using gw = await createTestGateway({ fetch });
  const { client, events } = await gw.client();
  const pendingSend = client.call('chat.send', { message: 'hi' });
  pendingSend.catch(() => {});
  await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
  gate.reject(new ExchangeReset(1006, 'the link closed'));
  await expect(pendingSend).rejects.toMatchObject({ message: expect.stringContaining('connection to the bridge was lost') as string });
  const reply = (await getHistory(client)).at(-1);
  expect(reply).toMatchObject({ content: 'What had come', interrupted: true });
  expect(reply).not.toHaveProperty('error');
});
