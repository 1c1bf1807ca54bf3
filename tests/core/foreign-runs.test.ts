import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { RunRecord, Vault } from '../../web/gateway/core/vault.ts';
import { ask } from '../../web/gateway/storage/fixture.ts';
import { verifies } from '../requirements.ts';
import { FakeClock } from '../support/clock.ts';
import { FakeSync } from '../support/fake-sync.ts';
import { script, type TestGateway, testGateway, until } from '../support/gateway.ts';

const historyOf = async (client: GatewayClient, sessionId = 'main') => (await client.call('chat.history', { sessionId })).messages;

/** A gateway whose vault has a run that another host executes; `change` is what its record says. */
async function withRun(
  options: { sync?: FakeSync; clock?: FakeClock; change?: Partial<RunRecord>; runs?: (vault: Vault) => Partial<Vault['runs']> } = {},
): Promise<TestGateway & { base: TestGateway }> {
  const clock = options.clock ?? new FakeClock();
  const base = await testGateway({ clock });
  await ask(base.vault, 'q');
  const change = { executor: 'elsewhere', replica: 'another', ...options.change };
  const runs: Vault['runs'] = {
    ...base.vault.runs,
    // Storage lets a run be ended by its executor alone: here the first claim makes that this host.
    unfinished: async () => (await base.vault.runs.unfinished()).map((run) => ((run.fence ?? 0) > 1 ? run : { ...run, ...change })),
    ...options.runs?.(base.vault),
  };
  const gw = await testGateway({ vault: { ...base.vault, runs }, clock, useGuide: true, ...(options.sync ? { sync: options.sync } : {}) });
  return { ...gw, base };
}

const isInterrupted = async (client: GatewayClient): Promise<boolean> => (await historyOf(client)).at(-1)?.interrupted === true;

describe('a run whose host is gone', () => {
  verifies(['vault.runs/recovers', 'runs/interrupted'], 'is ended at the start where there are no other hosts', async () => {
    for (const sync of [undefined, new FakeSync({ state: 'off', role: 'none' })]) {
      await using gw = await withRun(sync ? { sync } : {});
      const { client } = await gw.client();
      expect(await historyOf(client)).toMatchObject([{ id: 'q' }, { interrupted: true, parentId: 'q' }]);
      expect(sync?.claimed ?? []).toEqual([]);
      expect(await gw.vault.runs.unfinished()).toEqual([]);
      expect(gw.faults).toEqual([]);
    }
  });

  verifies('vault.runs/recovers', 'without the bridge only what was begun on this copy of the data', async () => {
    const away = { state: 'away', role: 'none' } as const;
    await using theirs = await withRun({ sync: new FakeSync(away) });
    expect(await isInterrupted((await theirs.client()).client)).toBe(false);
    await using base = await testGateway();
    await using ours = await withRun({ sync: new FakeSync(away), change: { replica: base.vault.replica } });
    expect(await isInterrupted((await ours.client()).client)).toBe(false);
    await using mine = await withRun({ sync: new FakeSync(away), change: { replica: undefined } });
    expect(await isInterrupted((await mine.client()).client)).toBe(true);
  });

  verifies('vault.runs/recovers', 'by the host that serves, once it is given a fence; it is asked for again', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync({ role: 'replica' })];
    const fences: number[] = [];
    await using gw = await withRun({
      clock,
      sync,
      runs: ({ runs }) => ({
        claim: (id, fence) => {
          fences.push(fence);
          return runs.claim(id, fence);
        },
      }),
    });
    const { client, events } = await gw.client();
    clock.advance(30_000);
    await client.call('health', {});
    expect(sync.claimed).toEqual([]);
    sync.set({ role: 'holder' });
    await until(() => sync.claimed.length === 1);
    expect(sync.claimed).toEqual([{ runId: 'run-q', executor: 'elsewhere' }]);
    expect((await client.call('sessions.list', {})).sessions).toMatchObject([{ running: true }]);
    sync.fence = 7;
    await clock.waitsFor(10_000 - (30_000 % 10_000));
    clock.advance(10_000);
    await until(() => isInterrupted(client));
    expect(sync.claimed).toHaveLength(2);
    expect(fences).toEqual([7]);
    const [reply] = (await historyOf(client)).slice(-1);
    const ended = events.filter(({ event }) => event === 'chat.error');
    expect(ended).toMatchObject([{ payload: { runId: 'run-q', messageId: reply?.id, error: { details: { reason: 'interrupted' } } } }]);
    expect((await client.call('sessions.list', {})).sessions[0]).not.toHaveProperty('running');
    // Nothing is left to look for.
    clock.advance(60_000);
    await client.call('health', {});
    expect(sync.claimed).toHaveLength(2);
  });

  verifies('vault.runs/recovers', 'is left alone where another host has ended it meanwhile', async () => {
    const sync = new FakeSync();
    sync.fence = 7;
    await using gw = await withRun({ sync, runs: () => ({ claim: async () => false }) });
    const { client } = await gw.client();
    expect(await historyOf(client)).toHaveLength(1);
    expect((await client.call('sessions.list', {})).sessions[0]).not.toHaveProperty('running');
  });

  verifies('vault.runs/recovers', 'an end that cannot be stored is tried again', async () => {
    const clock = new FakeClock();
    let full = true;
    await using gw = await withRun({
      clock,
      runs: ({ runs }) => ({ finish: (outcome) => (full ? Promise.reject(new Error('no room')) : runs.finish(outcome)) }),
    });
    const { client } = await gw.client();
    expect(gw.faults).toHaveLength(1);
    expect(await isInterrupted(client)).toBe(false);
    full = false;
    clock.advance(10_000);
    await until(() => isInterrupted(client));
    expect(gw.faults).toHaveLength(1);
  });

  verifies(['vault.runs/recovers', 'vault.sync/read-only'], 'is not looked for by a host that may only read', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync({ state: 'outdated', role: 'none' })];
    await using gw = await withRun({ clock, sync });
    clock.advance(60_000);
    const { client } = await gw.client();
    expect(await isInterrupted(client)).toBe(false);
    expect(sync.claimed).toEqual([]);
    expect(gw.faults).toEqual([]);
  });
});

describe('a session in which another host executes a run', () => {
  verifies('vault.runs/waits', 'aborted while it waits, a message is not stored; its run ends once', async () => {
    const sync = new FakeSync();
    await using gw = await withRun({ sync });
    const { client, events } = await gw.client();
    const sent = client.call('chat.send', { message: 'next' });
    sent.catch(() => {});
    await client.call('chat.send', { message: 'elsewhere', sessionId: 'other' });
    const { aborted, runIds } = await client.call('chat.abort', { sessionId: 'main' });
    expect(aborted).toBe(true);
    expect(runIds).toHaveLength(2);
    expect(runIds).toContain('run-q');
    expect(sync.sent).toContainEqual({ to: 'elsewhere', payload: { type: 'abort', runId: 'run-q' } });
    await expect(sent).rejects.toMatchObject({ code: 'ABORTED' });
    expect(events.filter(({ event, payload }) => event === 'chat.error' && payload.sessionId === 'main')).toHaveLength(1);
    expect((await historyOf(client)).map(({ id }) => id)).toEqual(['q']);
  });

  verifies('vault.runs/abort', 'where its host is not there, it is taken over at once', async () => {
    const sync = new FakeSync();
    sync.delivers = false;
    await using gw = await withRun({ sync });
    const { client } = await gw.client();
    expect(await client.call('chat.abort', { sessionId: 'main' })).toEqual({ aborted: false, runIds: [] });
    sync.fence = 2;
    expect(await client.call('chat.abort', { sessionId: 'main' })).toEqual({ aborted: true, runIds: ['run-q'] });
    expect(await isInterrupted(client)).toBe(true);
  });

  verifies('vault.runs/waits', 'is free some seconds after the line to the bridge broke', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync({ role: 'replica' })];
    await using gw = await withRun({ clock, sync });
    const { client } = await gw.client();
    const sent = client.call('chat.send', { message: 'next' });
    sync.set({ state: 'away', role: 'none' });
    clock.advance(9_000);
    expect((await client.call('sessions.list', {})).sessions).toMatchObject([{ running: true }]);
    expect(await historyOf(client)).toHaveLength(1);
    clock.advance(1_000);
    expect((await sent).completed).toBe(true);
    expect((await client.call('sessions.list', {})).sessions[0]).not.toHaveProperty('running');
    // With the line back the other host is heard of again.
    sync.set({ state: 'synced', role: 'replica' });
    expect((await client.call('sessions.list', {})).sessions).toMatchObject([{ running: true }]);
  });

  verifies('vault.runs/waits', 'is cleared away although its host does not answer', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync()];
    await using gw = await withRun({ clock, sync });
    const { client } = await gw.client();
    const deleted = client.call('sessions.delete', { path: 'main/main.jsonl' });
    await clock.waitsFor(5_000);
    clock.advance(5_000);
    expect(await deleted).toEqual({ deleted: true });
    expect((await client.call('chat.send', { message: 'anew' })).completed).toBe(true);
  });
});

describe('what other hosts tell of their runs', () => {
  const ids = { sessionId: 'main', agentId: 'main', runId: 'run-q' };
  const delta = (text: string, offset: number) => ({
    event: 'chat.delta',
    payload: { ...ids, delta: text, role: 'assistant', offset },
    sessionKey: 'main/main',
  });

  verifies('vault.runs/passed-on', 'text goes on where it ends; what is missing is asked for, once', async () => {
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
    expect((await client.call('chat.history', { sessionId: 'main' })).runs).toEqual([{ runId: 'run-q', text: 'abcde' }]);
    expect(sync.sent).toHaveLength(1);
  });

  verifies('vault.runs/passed-on', 'what is malformed or unknown is left out, and the rest is told', async () => {
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
    // Its text is known from what was told of it.
    expect((await historyOf(client)).at(-1)?.content).toBe('kept');
    const error = { code: 'ABORTED', message: 'late' };
    sync.hear('elsewhere', { type: 'events', events: [delta('more', 4), { event: 'chat.error', payload: { ...ids, error } }] });
    await client.call('health', {});
    expect(events.filter(({ event }) => event === 'chat.error')).toHaveLength(1);
    expect(events.filter(({ event }) => event === 'chat.delta')).toHaveLength(1);
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
