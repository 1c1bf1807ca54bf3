import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { verifies } from '../requirements.ts';
import { createScript, waitFor } from '../support/test-gateway.ts';
import { TestHosts } from '../support/test-hosts.ts';

const listContents = async (client: GatewayClient) =>
  (await client.call('chat.history', { sessionId: 'main' })).messages.map(({ content }) => content);
const getDeltaText = (events: EventFrame[]): string =>
  events.flatMap(({ event, payload }) => (event === 'chat.delta' ? [String(payload.delta)] : [])).join('');

describe('two hosts', () => {
  verifies(
    ['vault.runs/waits', 'vault.runs/passed-on'],
    'a run active at the hand-over ends on its host, and is visible on the new one; the next message waits for it',
    async () => {
      const gate = Promise.withResolvers<void>();
      const hosts = new TestHosts();
      await using one = await hosts.host({ model: createScript(['first', { wait: gate.promise }, ' reply']) });
      await using two = await hosts.host({ model: createScript(['second']) });
      const [a, b] = [await one.client(), await two.client()];
      const pendingSend = a.client.call('chat.send', { message: 'one' });
      await waitFor(() => getDeltaText(a.events) === 'first');
      hosts.activate(two);
      await waitFor(async () => (await b.client.call('sessions.list', {})).sessions[0]?.running === true);
      const next = b.client.call('chat.send', { message: 'two' });
      await b.client.call('chat.send', { message: 'three', sessionId: 'other' });
      expect(two.calls).toHaveLength(1);
      gate.resolve();
      const { messageId } = await pendingSend;
      await next;
      expect(await listContents(b.client)).toEqual(['one', 'first reply', 'two', 'second']);
      // The text from its beginning, although this host heard of it in the middle; and the end once the reply can be read here.
      const main = b.events.filter(({ event, payload }) => event.startsWith('chat.') && payload.sessionId === 'main');
      expect(getDeltaText(main)).toBe('first replysecond');
      expect(main.filter(({ event }) => event === 'chat.done')).toHaveLength(2);
      expect(main.find(({ event }) => event === 'chat.done')?.payload.messageId).toBe(messageId);
      await waitFor(async () => (await listContents(a.client)).length === 4);
      expect([...one.faults, ...two.faults]).toEqual([]);
    },
  );

  verifies('agents/hosts', 'an agent that one host has made is there at the next once that has read of it', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host();
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    for (let at = 0; at < 10; at++) {
      const id = `agent-${at}`;
      await a.client.call('agents.add', { agent_id: id });
      await two.replicator.waitForPosition(hosts.journal.seq);
      await two.gateway.whenSettled();
      await b.client.call('cron.add', { schedule: { kind: 'every', everyMs: 7_200_000 }, message: 'Say it', agentId: id });
    }
    expect([...one.faults, ...two.faults]).toEqual([]);
  });

  verifies('chat/parameters', 'they are the same at the next host, and so is their reset', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host();
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    await a.client.call('chat.send', { message: 'one' });
    const listParameters = async () => (await b.client.call('sessions.list', {})).sessions.map((session) => session.parameters);
    for (const parameters of [{ thinking: 'max' as const, stop: ['END'] }, null]) {
      await a.client.call('sessions.setParameters', { path: 'main/main.jsonl', parameters });
      await two.replicator.waitForPosition(hosts.journal.seq);
      await waitFor(async () => JSON.stringify(await listParameters()) === JSON.stringify([parameters ?? undefined]));
    }
    expect([...one.faults, ...two.faults]).toEqual([]);
  });

  verifies('idempotency/hosts', 'a send that was answered by a host that is gone, or is under way there, gets that answer', async () => {
    const gate = Promise.withResolvers<void>();
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: createScript(['first', { wait: gate.promise }, ' reply']) });
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    const params = { message: 'once', idempotencyKey: 'k1' };
    const pendingSend = a.client.call('chat.send', params);
    await waitFor(() => getDeltaText(a.events) === 'first');
    hosts.activate(two);
    await waitFor(async () => (await b.client.call('sessions.list', {})).sessions[0]?.running === true);
    const repeated = b.client.call('chat.send', params);
    gate.resolve();
    const answer = await pendingSend;
    expect(await repeated).toEqual(answer);
    expect(await listContents(b.client)).toEqual(['once', 'first reply']);
    expect(two.calls).toHaveLength(0);
  });

  verifies(
    'idempotency/hosts',
    'a send whose host is gone before it had answered is answered by the next, under the same message',
    async () => {
      const hosts = new TestHosts();
      await using one = await hosts.host({ model: createScript(['half', { wait: new Promise(() => {}) }]) });
      await using two = await hosts.host({ model: createScript(['whole']) });
      const [a, b] = [await one.client(), await two.client()];
      const params = { message: 'once', idempotencyKey: 'k1' };
      a.client.call('chat.send', params).catch(() => {});
      await waitFor(() => getDeltaText(a.events) === 'half');
      await one.waitForSync();
      await two.waitForSync();
      one.crash();
      await waitFor(() => one.replicator.state().state === 'away');
      hosts.activate(two);
      await b.client.call('chat.send', params);
      expect(await listContents(b.client)).toEqual(['once', 'whole']);
      expect((await two.vault.sessions.get('main/main'))?.messageCount).toBe(3);
    },
  );

  verifies('idempotency/hosts', 'messages sent over the bridge are known to the page’s own host', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: createScript(['half', { wait: new Promise(() => {}) }]) });
    await using two = await hosts.host({ model: createScript(['whole']) });
    const bridged = await GatewayClient.connect(one.link({ principal: 'app:credential' }), { params: { clientName: 'app' } });
    const own = await GatewayClient.connect(two.link({ principal: 'app:local' }), { params: { clientName: 'app' } });
    const params = { message: 'once', idempotencyKey: 'k1' };
    bridged.call('chat.send', params).catch(() => {});
    await waitFor(() => one.calls.length > 0);
    await one.waitForSync();
    await two.waitForSync();
    one.crash();
    await waitFor(() => one.replicator.state().state === 'away');
    hosts.activate(two);
    await own.call('chat.send', params);
    expect(await listContents(own)).toEqual(['once', 'whole']);
  });

  verifies('idempotency/hosts', 'a repeated request does not get the answer to a later one', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: createScript(['half', { wait: new Promise(() => {}) }]) });
    await using two = await hosts.host({ model: (_call, count) => [`answer ${count}`] });
    const [a, b] = [await one.client(), await two.client()];
    const params = { message: 'once', idempotencyKey: 'k1' };
    a.client.call('chat.send', params).catch(() => {});
    await waitFor(() => getDeltaText(a.events) === 'half');
    await one.waitForSync();
    await two.waitForSync();
    one.crash();
    await waitFor(() => one.replicator.state().state === 'away');
    hosts.activate(two);
    const later = await b.client.call('chat.send', { message: 'later' });
    const repeated = await b.client.call('chat.send', params);
    expect(repeated.messageId).not.toBe(later.messageId);
    expect(await listContents(b.client)).toEqual(['once', 'answer 2']);
  });

  verifies('vault.runs/abort', 'from the one that serves', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: createScript(['half', { wait: new Promise(() => {}) }]) });
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    const pendingSend = a.client.call('chat.send', { message: 'hi' });
    pendingSend.catch(() => {});
    await waitFor(() => getDeltaText(a.events) === 'half');
    hosts.activate(two);
    await waitFor(async () => (await b.client.call('sessions.list', {})).sessions[0]?.running === true);
    expect(await b.client.call('chat.abort', { sessionId: 'main' })).toMatchObject({ aborted: true });
    await expect(pendingSend).rejects.toMatchObject({ code: 'ABORTED' });
    await waitFor(() => b.events.some(({ event }) => event === 'chat.error'));
    expect((await b.client.call('chat.history', { sessionId: 'main' })).messages).toMatchObject([
      { content: 'hi' },
      { content: 'half', aborted: true },
    ]);
    await waitFor(async () => (await b.client.call('sessions.list', {})).sessions[0]?.running === undefined);
    expect(await b.client.call('chat.abort', { sessionId: 'main' })).toEqual({ aborted: false, runIds: [] });
  });

  verifies('vault.runs/abort', 'what the one that serves has not read of, and what waits in line behind it, ends as well', async () => {
    const gate = Promise.withResolvers<void>();
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: createScript(['half', { wait: gate.promise }, ' more', { wait: new Promise(() => {}) }]) });
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    const reading = Promise.withResolvers<void>();
    hosts.journal.pullGate = reading.promise;
    const pendingSend = ['hi', 'next'].map((message) => a.client.call('chat.send', { message }));
    const ends = Promise.allSettled(pendingSend);
    await waitFor(() => getDeltaText(a.events) === 'half');
    hosts.activate(two);
    await expect(b.client.call('chat.history', { sessionId: 'main' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    gate.resolve();
    // Its events are followed here although its records cannot be read here yet.
    await waitFor(() => getDeltaText(b.events) === 'half more');
    await b.client.call('chat.abort', { sessionId: 'main' });
    expect(await ends).toMatchObject([{ reason: { code: 'ABORTED' } }, { reason: { code: 'ABORTED' } }]);
    reading.resolve();
    await one.waitForSync();
    await two.waitForSync();
    expect(await listContents(b.client)).toEqual(['hi', 'half more', 'next', '']);
  });

  verifies(
    ['vault.runs/recovers', 'runs/interrupted'],
    'the run of a lost host is ended by the other; its late output is kept as a branch',
    async () => {
      const gate = Promise.withResolvers<void>();
      const hosts = new TestHosts();
      await using one = await hosts.host({ model: createScript(['half', { wait: gate.promise }, ' and half']) });
      await using two = await hosts.host();
      const [a, b] = [await one.client(), await two.client()];
      const pendingSend = a.client.call('chat.send', { message: 'hi' });
      await waitFor(() => getDeltaText(a.events) === 'half');
      await one.waitForSync();
      await two.waitForSync();
      one.crash();
      await waitFor(() => one.replicator.state().state === 'away');
      hosts.activate(two);
      await waitFor(() => b.events.some(({ event }) => event === 'chat.error'));
      const after = async () => (await b.client.call('chat.history', { sessionId: 'main' })).messages;
      expect(await after()).toMatchObject([{ content: 'hi' }, { interrupted: true }]);
      // The host was not dead but disconnected: it continues and comes back.
      gate.resolve();
      const { messageId } = await pendingSend;
      one.replicator.attach(hosts.journal.connect());
      await waitFor(async () => (await two.vault.messages.get(messageId)) !== undefined);
      expect(await two.vault.messages.get(messageId)).toMatchObject({ content: 'half and half' });
      await one.waitForSync();
      await two.waitForSync();
      expect(await two.vault.runs.unfinished()).toEqual([]);
      expect(await one.vault.runs.unfinished()).toEqual([]);
      await waitFor(async () => (await listContents(a.client)).join() === (await listContents(b.client)).join());
    },
  );

  verifies('vault.runs/waits', 'deleting a session on one ends the run on the other first', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: createScript(['half', { wait: new Promise(() => {}) }]) });
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    const pendingSend = a.client.call('chat.send', { message: 'hi' });
    pendingSend.catch(() => {});
    await waitFor(() => getDeltaText(a.events) === 'half');
    hosts.activate(two);
    await waitFor(async () => (await b.client.call('sessions.list', {})).sessions[0]?.running === true);
    await b.client.call('sessions.delete', { path: 'main/main.jsonl' });
    await expect(pendingSend).rejects.toMatchObject({ code: 'ABORTED' });
    await waitFor(async () => (await one.vault.sessions.list()).length === 0);
    await one.waitForSync();
    await two.waitForSync();
    expect([await one.vault.sessions.list(), await two.vault.sessions.list()]).toEqual([[], []]);
  });
});
