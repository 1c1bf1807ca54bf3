import { describe, expect } from 'vitest';
import type { RemoteChange, Vault } from '../../storage/vault-interface.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { FakeSync } from '../../../../tests/support/fake-sync.ts';
import { getHistory, isInterrupted, createGatewayWithRun } from '../../../../tests/support/remote-run.ts';
import { createScript, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

describe('run events of other hosts', () => {
  const ids = { sessionId: 'main', agentId: 'main', runId: 'run-q' };
  const delta = (text: string, offset: number) => ({
    event: 'chat.delta',
    payload: { ...ids, delta: text, role: 'assistant', offset },
    sessionKey: 'main/main',
  });

  verifies('vault.runs/passed-on', 'text continues where it ended; missing text is requested once', async () => {
    const sync = new FakeSync();
    await using gw = await createGatewayWithRun({ sync });
    const { client, events } = await gw.client();
    const receiveEvents = (...signals: unknown[]): void => sync.receive('elsewhere', { type: 'events', events: signals });
    const texts = (): unknown[] =>
      events.flatMap(({ event, payload }) => (event === 'chat.delta' ? [`${payload.offset}:${payload.delta}`] : []));
    receiveEvents(delta('c', 2), delta('d', 3));
    await waitFor(() => sync.sentSignals.length > 0);
    expect(texts()).toEqual([]);
    expect(sync.sentSignals).toEqual([{ to: 'elsewhere', payload: { type: 'text', runId: 'run-q' } }]);
    receiveEvents(delta('abcd', 0), delta('cd', 2), delta('de', 3));
    await waitFor(() => texts().length > 1);
    expect(texts()).toEqual(['0:abcd', '4:e']);
    expect((await client.call('chat.history', { sessionId: 'main' })).runs).toEqual([
      { runId: 'run-q', text: 'abcde', reasoning: '', calls: [], pending: [] },
    ]);
    expect(sync.sentSignals).toHaveLength(1);
  });

  verifies('vault.runs/abort', 'a host that could not be told of a Stop is told when it is heard of again', async () => {
    const sync = new FakeSync();
    sync.canDeliver = false;
    await using gw = await createGatewayWithRun({ sync });
    const { client } = await gw.client();
    expect(await client.call('chat.abort', { sessionId: 'main' })).toEqual({ aborted: false, runIds: [] });
    sync.canDeliver = true;
    sync.sentSignals.length = 0;
    sync.receive('elsewhere', { type: 'events', events: [delta('more', 0)] });
    await waitFor(() => sync.sentSignals.length > 0);
    expect(sync.sentSignals).toEqual([{ to: 'elsewhere', payload: { type: 'abort', runId: 'run-q' } }]);
    // Even if its end was reported here in the meantime.
    sync.canDeliver = false;
    sync.fence = 2;
    expect(await client.call('chat.abort', { sessionId: 'main' })).toEqual({ aborted: true, runIds: ['run-q'] });
    sync.sentSignals.length = 0;
    sync.receive('elsewhere', { type: 'events', events: [delta('still', 4)] });
    await waitFor(() => sync.sentSignals.length > 0);
    expect(sync.sentSignals).toEqual([{ to: 'elsewhere', payload: { type: 'abort', runId: 'run-q' } }]);
  });

  verifies('vault.runs/passed-on', 'malformed and unknown events are ignored, and the others forwarded', async () => {
    const sync = new FakeSync();
    await using gw = await createGatewayWithRun({ sync });
    const { client, events } = await gw.client();
    for (const payload of [
      null,
      'abort',
      { type: 'later' },
      { type: 'events' },
      { type: 'abort', runId: 1 },
      { type: 'abort', runId: 'none' },
    ])
      sync.receive('elsewhere', payload);
    const strange = [null, { event: 'shutdown', payload: { reason: 'x' } }, { event: 'chat.delta', payload: {} }, { event: '__proto__' }];
    sync.receive('elsewhere', { type: 'events', events: [...strange, delta('a', 0)] });
    await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
    expect(events.some(({ event }) => event === 'shutdown')).toBe(false);
    expect((await client.call('health', {})).status).toBe('ok');
    expect(gw.faults).toEqual([]);
  });

  verifies(['vault.runs/passed-on', 'runs/one-terminal-event'], 'nothing more of a run that this host has ended', async () => {
    const sync = new FakeSync();
    await using gw = await createGatewayWithRun({ sync });
    const { client, events } = await gw.client();
    sync.receive('elsewhere', { type: 'events', events: [delta('kept', 0)] });
    await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
    sync.fence = 2;
    sync.setState({ role: 'replica' });
    sync.setState({ role: 'holder' });
    await waitFor(() => isInterrupted(client));
    // Its text is known from its events.
    expect((await getHistory(client)).at(-1)?.content).toBe('kept');
    const error = { code: 'ABORTED', message: 'late' };
    sync.receive('elsewhere', { type: 'events', events: [delta('more', 4), { event: 'chat.error', payload: { ...ids, error } }] });
    const marker = { path: 'main/main.jsonl', agentId: 'main', sessionId: 'main', deleted: true };
    sync.receive('elsewhere', { type: 'events', events: [{ event: 'sessions.changed', payload: marker }] });
    await waitFor(() => events.some(({ payload }) => payload.deleted === true));
    expect(events.filter(({ event }) => event === 'chat.error')).toHaveLength(1);
    expect(events.filter(({ event }) => event === 'chat.delta')).toHaveLength(1);
  });

  verifies('vault.runs/passed-on', 'an end is told when its reply can be read here, or after some seconds', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync()];
    let notifyChanges = (_changes: RemoteChange[]): void => {};
    const onforeign: Vault['onRemoteChanges'] = (listener) => {
      const before = notifyChanges;
      notifyChanges = (changes) => [before, listener].forEach((told) => told(changes));
      return () => {};
    };
    await using gw = await createGatewayWithRun({ clock, sync, vault: { onRemoteChanges: onforeign } });
    const { client, events } = await gw.client();
    const done = (runId: string, messageId: string) => ({
      event: 'chat.done',
      payload: { ...ids, runId, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, messageId },
    });
    const getDoneEvents = (): unknown[] => events.flatMap(({ event, payload }) => (event === 'chat.done' ? [payload.runId] : []));
    sync.receive('elsewhere', { type: 'events', events: [done('a', 'q'), done('b', 'soon'), done('c', 'never')] });
    await waitFor(() => getDoneEvents().length > 0);
    for (let count = 0; count < 20; count++) await client.call('sessions.list', {});
    expect(getDoneEvents()).toEqual(['a']);
    notifyChanges([{ store: 'messages', key: 'soon', deleted: false, sessionKey: 'main/main' }]);
    await waitFor(() => getDoneEvents().length > 1);
    for (let count = 0; count < 20; count++) await client.call('sessions.list', {});
    expect(getDoneEvents()).toEqual(['a', 'b']);
    clock.advance(5_000);
    await waitFor(() => getDoneEvents().length > 2);
  });

  verifies('vault.runs/passed-on', 'a host that does not serve tells of its own runs alone, in order', async () => {
    const gate = Promise.withResolvers<void>();
    const sync = new FakeSync({ role: 'replica' });
    await using gw = await createTestGateway({ sync, model: createScript(['one', { wait: gate.promise }, ' two']) });
    const { client } = await gw.client();
    const pendingSend = client.call('chat.send', { message: 'hi' });
    const getSentEvents = () =>
      sync.sentSignals.flatMap(({ payload }) => (payload as { events: { event: string; payload: { delta?: string } }[] }).events);
    await waitFor(() => getSentEvents().some(({ event }) => event === 'chat.delta'));
    sync.receive('elsewhere', { type: 'events', events: [delta('theirs', 0)] });
    await client.call('sessions.rename', { path: 'main/main.jsonl', title: 'Other' });
    gate.resolve();
    const { runId } = await pendingSend;
    await waitFor(() => getSentEvents().filter(({ event }) => event === 'sessions.changed').length >= 3);
    expect(getSentEvents().flatMap(({ event, payload }) => (event.startsWith('chat.') ? [payload.delta ?? event] : []))).toEqual([
      'chat.message',
      'one',
      ' two',
      'chat.done',
    ]);
    expect(sync.sentSignals.every(({ to }) => to === undefined)).toBe(true);
    sync.receive('elsewhere', { type: 'text', runId });
    sync.setState({ role: 'holder' });
    const before = sync.sentSignals.length;
    await client.call('chat.send', { message: 'again' });
    expect(sync.sentSignals).toHaveLength(before);
  });
});
