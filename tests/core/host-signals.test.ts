import { describe, expect } from 'vitest';
import type { ForeignChange, Vault } from '../../web/gateway/core/vault.ts';
import { verifies } from '../requirements.ts';
import { FakeClock } from '../support/clock.ts';
import { FakeSync } from '../support/fake-sync.ts';
import { historyOf, isInterrupted, withRun } from '../support/foreign-run.ts';
import { script, testGateway, until } from '../support/gateway.ts';

describe('run events of other hosts', () => {
  const ids = { sessionId: 'main', agentId: 'main', runId: 'run-q' };
  const delta = (text: string, offset: number) => ({
    event: 'chat.delta',
    payload: { ...ids, delta: text, role: 'assistant', offset },
    sessionKey: 'main/main',
  });

  verifies('vault.runs/passed-on', 'text continues where it ended; missing text is requested once', async () => {
    const sync = new FakeSync();
    await using gw = await withRun({ sync });
    const { client, events } = await gw.client();
    const tell = (...told: unknown[]): void => sync.hear('elsewhere', { type: 'events', events: told });
    const texts = (): unknown[] =>
      events.flatMap(({ event, payload }) => (event === 'chat.delta' ? [`${payload.offset}:${payload.delta}`] : []));
    tell(delta('c', 2), delta('d', 3));
    await until(() => sync.sent.length > 0);
    expect(texts()).toEqual([]);
    expect(sync.sent).toEqual([{ to: 'elsewhere', payload: { type: 'text', runId: 'run-q' } }]);
    tell(delta('abcd', 0), delta('cd', 2), delta('de', 3));
    await until(() => texts().length > 1);
    expect(texts()).toEqual(['0:abcd', '4:e']);
    expect((await client.call('chat.history', { sessionId: 'main' })).runs).toEqual([
      { runId: 'run-q', text: 'abcde', reasoning: '', calls: [], pending: [] },
    ]);
    expect(sync.sent).toHaveLength(1);
  });

  verifies('vault.runs/abort', 'a host that could not be told of a Stop is told when it is heard of again', async () => {
    const sync = new FakeSync();
    sync.delivers = false;
    await using gw = await withRun({ sync });
    const { client } = await gw.client();
    expect(await client.call('chat.abort', { sessionId: 'main' })).toEqual({ aborted: false, runIds: [] });
    sync.delivers = true;
    sync.sent.length = 0;
    sync.hear('elsewhere', { type: 'events', events: [delta('more', 0)] });
    await until(() => sync.sent.length > 0);
    expect(sync.sent).toEqual([{ to: 'elsewhere', payload: { type: 'abort', runId: 'run-q' } }]);
    // Even if its end was reported here in the meantime.
    sync.delivers = false;
    sync.fence = 2;
    expect(await client.call('chat.abort', { sessionId: 'main' })).toEqual({ aborted: true, runIds: ['run-q'] });
    sync.sent.length = 0;
    sync.hear('elsewhere', { type: 'events', events: [delta('still', 4)] });
    await until(() => sync.sent.length > 0);
    expect(sync.sent).toEqual([{ to: 'elsewhere', payload: { type: 'abort', runId: 'run-q' } }]);
  });

  verifies('vault.runs/passed-on', 'malformed and unknown events are ignored, and the others forwarded', async () => {
    const sync = new FakeSync();
    await using gw = await withRun({ sync });
    const { client, events } = await gw.client();
    for (const payload of [
      null,
      'abort',
      { type: 'later' },
      { type: 'events' },
      { type: 'abort', runId: 1 },
      { type: 'abort', runId: 'none' },
    ])
      sync.hear('elsewhere', payload);
    const strange = [null, { event: 'shutdown', payload: { reason: 'x' } }, { event: 'chat.delta', payload: {} }, { event: '__proto__' }];
    sync.hear('elsewhere', { type: 'events', events: [...strange, delta('a', 0)] });
    await until(() => events.some(({ event }) => event === 'chat.delta'));
    expect(events.some(({ event }) => event === 'shutdown')).toBe(false);
    expect((await client.call('health', {})).status).toBe('ok');
    expect(gw.faults).toEqual([]);
  });

  verifies(['vault.runs/passed-on', 'runs/one-terminal-event'], 'nothing more of a run that this host has ended', async () => {
    const sync = new FakeSync();
    await using gw = await withRun({ sync });
    const { client, events } = await gw.client();
    sync.hear('elsewhere', { type: 'events', events: [delta('kept', 0)] });
    await until(() => events.some(({ event }) => event === 'chat.delta'));
    sync.fence = 2;
    sync.set({ role: 'replica' });
    sync.set({ role: 'holder' });
    await until(() => isInterrupted(client));
    // Its text is known from its events.
    expect((await historyOf(client)).at(-1)?.content).toBe('kept');
    const error = { code: 'ABORTED', message: 'late' };
    sync.hear('elsewhere', { type: 'events', events: [delta('more', 4), { event: 'chat.error', payload: { ...ids, error } }] });
    const marker = { path: 'main/main.jsonl', agentId: 'main', sessionId: 'main', deleted: true };
    sync.hear('elsewhere', { type: 'events', events: [{ event: 'sessions.changed', payload: marker }] });
    await until(() => events.some(({ payload }) => payload.deleted === true));
    expect(events.filter(({ event }) => event === 'chat.error')).toHaveLength(1);
    expect(events.filter(({ event }) => event === 'chat.delta')).toHaveLength(1);
  });

  verifies('vault.runs/passed-on', 'an end is told when its reply can be read here, or after some seconds', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync()];
    let tell = (_changes: ForeignChange[]): void => {};
    const onforeign: Vault['onforeign'] = (listener) => {
      const before = tell;
      tell = (changes) => [before, listener].forEach((told) => told(changes));
      return () => {};
    };
    await using gw = await withRun({ clock, sync, vault: { onforeign } });
    const { client, events } = await gw.client();
    const done = (runId: string, messageId: string) => ({
      event: 'chat.done',
      payload: { ...ids, runId, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, messageId },
    });
    const told = (): unknown[] => events.flatMap(({ event, payload }) => (event === 'chat.done' ? [payload.runId] : []));
    sync.hear('elsewhere', { type: 'events', events: [done('a', 'q'), done('b', 'soon'), done('c', 'never')] });
    await until(() => told().length > 0);
    for (let count = 0; count < 20; count++) await client.call('sessions.list', {});
    expect(told()).toEqual(['a']);
    tell([{ store: 'messages', key: 'soon', deleted: false, sessionKey: 'main/main' }]);
    await until(() => told().length > 1);
    for (let count = 0; count < 20; count++) await client.call('sessions.list', {});
    expect(told()).toEqual(['a', 'b']);
    clock.advance(5_000);
    await until(() => told().length > 2);
  });

  verifies('vault.runs/passed-on', 'a host that does not serve tells of its own runs alone, in order', async () => {
    const gate = Promise.withResolvers<void>();
    const sync = new FakeSync({ role: 'replica' });
    await using gw = await testGateway({ sync, model: script(['one', { wait: gate.promise }, ' two']) });
    const { client } = await gw.client();
    const sent = client.call('chat.send', { message: 'hi' });
    const told = () => sync.sent.flatMap(({ payload }) => (payload as { events: { event: string; payload: { delta?: string } }[] }).events);
    await until(() => told().some(({ event }) => event === 'chat.delta'));
    sync.hear('elsewhere', { type: 'events', events: [delta('theirs', 0)] });
    await client.call('sessions.rename', { path: 'main/main.jsonl', title: 'Other' });
    gate.resolve();
    const { runId } = await sent;
    await until(() => told().filter(({ event }) => event === 'sessions.changed').length >= 3);
    expect(told().flatMap(({ event, payload }) => (event.startsWith('chat.') ? [payload.delta ?? event] : []))).toEqual([
      'chat.message',
      'one',
      ' two',
      'chat.done',
    ]);
    expect(sync.sent.every(({ to }) => to === undefined)).toBe(true);
    sync.hear('elsewhere', { type: 'text', runId });
    sync.set({ role: 'holder' });
    const before = sync.sent.length;
    await client.call('chat.send', { message: 'again' });
    expect(sync.sent).toHaveLength(before);
  });
});
