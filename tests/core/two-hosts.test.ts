import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import type { EventFrame } from '#shared/rpc/frames.ts';
import { verifies } from '../requirements.ts';
import { script, until } from '../support/gateway.ts';
import { TestHosts } from '../support/hosts.ts';

const contentsOf = async (client: GatewayClient) =>
  (await client.call('chat.history', { sessionId: 'main' })).messages.map(({ content }) => content);
const textOf = (events: EventFrame[]): string =>
  events.flatMap(({ event, payload }) => (event === 'chat.delta' ? [String(payload.delta)] : [])).join('');

describe('two hosts', () => {
  verifies(
    ['vault.runs/waits', 'vault.runs/passed-on'],
    'a run active at the hand-over ends on its host, and is visible on the new one; the next message waits for it',
    async () => {
      const gate = Promise.withResolvers<void>();
      const hosts = new TestHosts();
      await using one = await hosts.host({ model: script(['first', { wait: gate.promise }, ' reply']) });
      await using two = await hosts.host({ model: script(['second']) });
      const [a, b] = [await one.client(), await two.client()];
      const sent = a.client.call('chat.send', { message: 'one' });
      await until(() => textOf(a.events) === 'first');
      hosts.serve(two);
      await until(async () => (await b.client.call('sessions.list', {})).sessions[0]?.running === true);
      const next = b.client.call('chat.send', { message: 'two' });
      await b.client.call('chat.send', { message: 'three', sessionId: 'other' });
      expect(two.calls).toHaveLength(1);
      gate.resolve();
      const { messageId } = await sent;
      await next;
      expect(await contentsOf(b.client)).toEqual(['one', 'first reply', 'two', 'second']);
      // The text from its beginning, although this host heard of it in the middle; and the end once the reply can be read here.
      const main = b.events.filter(({ event, payload }) => event.startsWith('chat.') && payload.sessionId === 'main');
      expect(textOf(main)).toBe('first replysecond');
      expect(main.filter(({ event }) => event === 'chat.done')).toHaveLength(2);
      expect(main.find(({ event }) => event === 'chat.done')?.payload.messageId).toBe(messageId);
      await until(async () => (await contentsOf(a.client)).length === 4);
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
      await two.replicator.reached(hosts.journal.seq);
      await two.gateway.settled();
      await b.client.call('cron.add', { schedule: { kind: 'every', everyMs: 7_200_000 }, message: 'Say it', agentId: id });
    }
    expect([...one.faults, ...two.faults]).toEqual([]);
  });

  verifies('idempotency/hosts', 'a send that was answered by a host that is gone, or is under way there, gets that answer', async () => {
    const gate = Promise.withResolvers<void>();
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: script(['first', { wait: gate.promise }, ' reply']) });
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    const params = { message: 'once', idempotencyKey: 'k1' };
    const sent = a.client.call('chat.send', params);
    await until(() => textOf(a.events) === 'first');
    hosts.serve(two);
    await until(async () => (await b.client.call('sessions.list', {})).sessions[0]?.running === true);
    const repeated = b.client.call('chat.send', params);
    gate.resolve();
    const answer = await sent;
    expect(await repeated).toEqual(answer);
    expect(await contentsOf(b.client)).toEqual(['once', 'first reply']);
    expect(two.calls).toHaveLength(0);
  });

  verifies(
    'idempotency/hosts',
    'a send whose host is gone before it had answered is answered by the next, under the same message',
    async () => {
      const hosts = new TestHosts();
      await using one = await hosts.host({ model: script(['half', { wait: new Promise(() => {}) }]) });
      await using two = await hosts.host({ model: script(['whole']) });
      const [a, b] = [await one.client(), await two.client()];
      const params = { message: 'once', idempotencyKey: 'k1' };
      a.client.call('chat.send', params).catch(() => {});
      await until(() => textOf(a.events) === 'half');
      await one.synced();
      await two.synced();
      one.crash();
      await until(() => one.replicator.state().state === 'away');
      hosts.serve(two);
      await b.client.call('chat.send', params);
      expect(await contentsOf(b.client)).toEqual(['once', 'whole']);
      expect((await two.vault.sessions.get('main/main'))?.messageCount).toBe(3);
    },
  );

  verifies('idempotency/hosts', 'messages sent over the bridge are known to the page’s own host', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: script(['half', { wait: new Promise(() => {}) }]) });
    await using two = await hosts.host({ model: script(['whole']) });
    const bridged = await GatewayClient.connect(one.link({ principal: 'app:credential' }), { params: { clientName: 'app' } });
    const own = await GatewayClient.connect(two.link({ principal: 'app:local' }), { params: { clientName: 'app' } });
    const params = { message: 'once', idempotencyKey: 'k1' };
    bridged.call('chat.send', params).catch(() => {});
    await until(() => one.calls.length > 0);
    await one.synced();
    await two.synced();
    one.crash();
    await until(() => one.replicator.state().state === 'away');
    hosts.serve(two);
    await own.call('chat.send', params);
    expect(await contentsOf(own)).toEqual(['once', 'whole']);
  });

  verifies('idempotency/hosts', 'a repeated request does not get the answer to a later one', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: script(['half', { wait: new Promise(() => {}) }]) });
    await using two = await hosts.host({ model: (_call, count) => [`answer ${count}`] });
    const [a, b] = [await one.client(), await two.client()];
    const params = { message: 'once', idempotencyKey: 'k1' };
    a.client.call('chat.send', params).catch(() => {});
    await until(() => textOf(a.events) === 'half');
    await one.synced();
    await two.synced();
    one.crash();
    await until(() => one.replicator.state().state === 'away');
    hosts.serve(two);
    const later = await b.client.call('chat.send', { message: 'later' });
    const repeated = await b.client.call('chat.send', params);
    expect(repeated.messageId).not.toBe(later.messageId);
    expect(await contentsOf(b.client)).toEqual(['once', 'answer 2']);
  });

  verifies('vault.runs/abort', 'from the one that serves', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: script(['half', { wait: new Promise(() => {}) }]) });
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    const sent = a.client.call('chat.send', { message: 'hi' });
    sent.catch(() => {});
    await until(() => textOf(a.events) === 'half');
    hosts.serve(two);
    await until(async () => (await b.client.call('sessions.list', {})).sessions[0]?.running === true);
    expect(await b.client.call('chat.abort', { sessionId: 'main' })).toMatchObject({ aborted: true });
    await expect(sent).rejects.toMatchObject({ code: 'ABORTED' });
    await until(() => b.events.some(({ event }) => event === 'chat.error'));
    expect((await b.client.call('chat.history', { sessionId: 'main' })).messages).toMatchObject([
      { content: 'hi' },
      { content: 'half', aborted: true },
    ]);
    await until(async () => (await b.client.call('sessions.list', {})).sessions[0]?.running === undefined);
    expect(await b.client.call('chat.abort', { sessionId: 'main' })).toEqual({ aborted: false, runIds: [] });
  });

  verifies('vault.runs/abort', 'what the one that serves has not read of, and what waits in line behind it, ends as well', async () => {
    const gate = Promise.withResolvers<void>();
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: script(['half', { wait: gate.promise }, ' more', { wait: new Promise(() => {}) }]) });
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    const reading = Promise.withResolvers<void>();
    hosts.journal.pullGate = reading.promise;
    const sent = ['hi', 'next'].map((message) => a.client.call('chat.send', { message }));
    const ends = Promise.allSettled(sent);
    await until(() => textOf(a.events) === 'half');
    hosts.serve(two);
    await expect(b.client.call('chat.history', { sessionId: 'main' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    gate.resolve();
    // Its events are followed here although its records cannot be read here yet.
    await until(() => textOf(b.events) === 'half more');
    await b.client.call('chat.abort', { sessionId: 'main' });
    expect(await ends).toMatchObject([{ reason: { code: 'ABORTED' } }, { reason: { code: 'ABORTED' } }]);
    reading.resolve();
    await one.synced();
    await two.synced();
    expect(await contentsOf(b.client)).toEqual(['hi', 'half more', 'next', '']);
  });

  verifies(
    ['vault.runs/recovers', 'runs/interrupted'],
    'the run of a lost host is ended by the other; its late output is kept as a branch',
    async () => {
      const gate = Promise.withResolvers<void>();
      const hosts = new TestHosts();
      await using one = await hosts.host({ model: script(['half', { wait: gate.promise }, ' and half']) });
      await using two = await hosts.host();
      const [a, b] = [await one.client(), await two.client()];
      const sent = a.client.call('chat.send', { message: 'hi' });
      await until(() => textOf(a.events) === 'half');
      await one.synced();
      await two.synced();
      one.crash();
      await until(() => one.replicator.state().state === 'away');
      hosts.serve(two);
      await until(() => b.events.some(({ event }) => event === 'chat.error'));
      const after = async () => (await b.client.call('chat.history', { sessionId: 'main' })).messages;
      expect(await after()).toMatchObject([{ content: 'hi' }, { interrupted: true }]);
      // The host was not dead but disconnected: it continues and comes back.
      gate.resolve();
      const { messageId } = await sent;
      one.replicator.attach(hosts.journal.line());
      await until(async () => (await two.vault.messages.get(messageId)) !== undefined);
      expect(await two.vault.messages.get(messageId)).toMatchObject({ content: 'half and half' });
      await one.synced();
      await two.synced();
      expect(await two.vault.runs.unfinished()).toEqual([]);
      expect(await one.vault.runs.unfinished()).toEqual([]);
      await until(async () => (await contentsOf(a.client)).join() === (await contentsOf(b.client)).join());
    },
  );

  verifies('vault.runs/waits', 'deleting a session on one ends the run on the other first', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: script(['half', { wait: new Promise(() => {}) }]) });
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    const sent = a.client.call('chat.send', { message: 'hi' });
    sent.catch(() => {});
    await until(() => textOf(a.events) === 'half');
    hosts.serve(two);
    await until(async () => (await b.client.call('sessions.list', {})).sessions[0]?.running === true);
    await b.client.call('sessions.delete', { path: 'main/main.jsonl' });
    await expect(sent).rejects.toMatchObject({ code: 'ABORTED' });
    await until(async () => (await one.vault.sessions.list()).length === 0);
    await one.synced();
    await two.synced();
    expect([await one.vault.sessions.list(), await two.vault.sessions.list()]).toEqual([[], []]);
  });
});
