import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { FakeSync } from '../../../../tests/support/fake-sync.ts';
import { getHistory, isInterrupted, createGatewayWithRun } from '../../../../tests/support/remote-run.ts';
import { waitFor } from '../../../../tests/support/test-gateway.ts';
import { MemoryJournal } from '../../../../tests/support/memory-journal.ts';

describe('a run whose host disappeared', () => {
  verifies(['vault.runs/recovers', 'runs/interrupted'], 'is ended at the start if no other hosts exist', async () => {
    for (const sync of [undefined, new FakeSync({ state: 'off', role: 'none' })]) {
      await using gw = await createGatewayWithRun(sync ? { sync } : {});
      const { client } = await gw.client();
      expect(await getHistory(client)).toMatchObject([{ id: 'q' }, { interrupted: true, parentId: 'q' }]);
      expect(sync?.claimedRuns ?? []).toEqual([]);
      expect(await gw.vault.runs.unfinished()).toEqual([]);
      expect(gw.faults).toEqual([]);
    }
  });

  verifies(
    'vault.runs/recovers',
    'without the bridge only runs of this copy of the data are ended, once their host is known to be gone',
    async () => {
      const away = { state: 'away', role: 'none' } as const;
      const clock = new FakeClock();
      await using theirs = await createGatewayWithRun({ clock, sync: new FakeSync(away) });
      await using ours = await createGatewayWithRun({
        clock,
        sync: new FakeSync(away),
        change: { replica: 'this' },
        vault: { replica: 'this' },
      });
      // As data of a build before there were replicas.
      await using mine = await createGatewayWithRun({ clock, sync: new FakeSync(away), change: { replica: undefined } });
      const clients = await Promise.all([theirs, ours, mine].map(async (gw) => (await gw.client()).client));
      clock.advance(9_000);
      for (const client of clients) expect(await getHistory(client)).toHaveLength(1);
      clock.advance(1_000);
      for (const client of clients.slice(1)) await waitFor(() => isInterrupted(client));
      expect(await isInterrupted(await theirs.client().then(({ client }) => client))).toBe(false);
    },
  );

  verifies('vault.runs/recovers', 'begun on this copy of the data, its executor is known to be gone', async () => {
    const sync = new FakeSync({ role: 'replica' });
    sync.fence = 7;
    await using gw = await createGatewayWithRun({ sync, change: { replica: 'this' }, vault: { replica: 'this' } });
    expect(sync.claimedRuns).toEqual([{ runId: 'run-q', executor: 'nobody' }]);
    expect(await isInterrupted((await gw.client()).client)).toBe(true);
    // A copy of the browser's profile, which has the same data, executes it.
    const copied = new FakeSync({ role: 'replica' });
    const about = { kind: 'tab' as const, build: 'test', name: '', since: 0, ready: true, holder: true };
    copied.journal = { journal: new MemoryJournal().info(), hosts: [{ ...about, origin: 'elsewhere' }] };
    await using beside = await createGatewayWithRun({ sync: copied, change: { replica: 'this' }, vault: { replica: 'this' } });
    expect(copied.claimedRuns).toEqual([{ runId: 'run-q', executor: 'elsewhere' }]);
    expect(await isInterrupted((await beside.client()).client)).toBe(false);
  });

  verifies('vault.runs/recovers', 'is ended by the active host once it has a fence, which it requests again', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync({ role: 'replica' })];
    const fences: number[] = [];
    await using gw = await createGatewayWithRun({
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
    expect(sync.claimedRuns).toEqual([]);
    sync.setState({ role: 'holder' });
    await waitFor(() => sync.claimedRuns.length === 1);
    expect(sync.claimedRuns).toEqual([{ runId: 'run-q', executor: 'elsewhere' }]);
    expect((await client.call('sessions.list', {})).sessions).toMatchObject([{ running: true }]);
    sync.fence = 7;
    await clock.waitForTimer(10_000 - (30_000 % 10_000));
    clock.advance(10_000);
    await waitFor(() => isInterrupted(client));
    expect(sync.claimedRuns).toHaveLength(2);
    expect(fences).toEqual([7]);
    const [reply] = (await getHistory(client)).slice(-1);
    const ended = events.filter(({ event }) => event === 'chat.error');
    expect(ended).toMatchObject([{ payload: { runId: 'run-q', messageId: reply?.id, error: { details: { reason: 'interrupted' } } } }]);
    expect((await client.call('sessions.list', {})).sessions[0]).not.toHaveProperty('running');
    // Nothing is left to look for.
    clock.advance(60_000);
    await client.call('health', {});
    expect(sync.claimedRuns).toHaveLength(2);
  });

  verifies('vault.runs/recovers', 'is left alone where another host has ended it meanwhile', async () => {
    const sync = new FakeSync();
    sync.fence = 7;
    await using gw = await createGatewayWithRun({ sync, runs: () => ({ claim: async () => false }) });
    const { client } = await gw.client();
    expect(await getHistory(client)).toHaveLength(1);
    expect((await client.call('sessions.list', {})).sessions[0]).not.toHaveProperty('running');
  });

  verifies('vault.runs/recovers', 'an end that cannot be stored is tried again', async () => {
    const clock = new FakeClock();
    let full = true;
    await using gw = await createGatewayWithRun({
      clock,
      runs: ({ runs }) => ({ finish: (outcome) => (full ? Promise.reject(new Error('no room')) : runs.finish(outcome)) }),
    });
    const { client } = await gw.client();
    expect(gw.faults).toHaveLength(1);
    expect(await isInterrupted(client)).toBe(false);
    full = false;
    clock.advance(10_000);
    await waitFor(() => isInterrupted(client));
    expect(gw.faults).toHaveLength(1);
  });

  verifies(['vault.runs/recovers', 'vault.sync/read-only'], 'is not looked for by a host that may only read', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync({ state: 'outdated', role: 'none' })];
    await using gw = await createGatewayWithRun({ clock, sync });
    clock.advance(60_000);
    const { client } = await gw.client();
    expect(await isInterrupted(client)).toBe(false);
    expect(sync.claimedRuns).toEqual([]);
    expect(gw.faults).toEqual([]);
  });
});

describe('a session in which another host executes a run', () => {
  verifies('vault.runs/waits', 'aborted while it waits, a message is not stored; its run ends once', async () => {
    const sync = new FakeSync();
    await using gw = await createGatewayWithRun({ sync });
    const { client, events } = await gw.client();
    const pendingSend = client.call('chat.send', { message: 'next' });
    pendingSend.catch(() => {});
    await client.call('chat.send', { message: 'elsewhere', sessionId: 'other' });
    const { aborted, runIds } = await client.call('chat.abort', { sessionId: 'main' });
    expect(aborted).toBe(true);
    expect(runIds).toHaveLength(2);
    expect(runIds).toContain('run-q');
    expect(sync.sentSignals).toContainEqual({ to: 'elsewhere', payload: { type: 'abort', runId: 'run-q' } });
    await expect(pendingSend).rejects.toMatchObject({ code: 'ABORTED' });
    expect(events.filter(({ event, payload }) => event === 'chat.error' && payload.sessionId === 'main')).toHaveLength(1);
    expect((await getHistory(client)).map(({ id }) => id)).toEqual(['q']);
  });

  verifies('vault.runs/abort', 'is taken over at once if its host is missing', async () => {
    const sync = new FakeSync();
    sync.canDeliver = false;
    await using gw = await createGatewayWithRun({ sync });
    const { client } = await gw.client();
    expect(await client.call('chat.abort', { sessionId: 'main' })).toEqual({ aborted: false, runIds: [] });
    sync.fence = 2;
    expect(await client.call('chat.abort', { sessionId: 'main' })).toEqual({ aborted: true, runIds: ['run-q'] });
    expect(await isInterrupted(client)).toBe(true);
  });

  verifies('vault.runs/waits', 'is free some seconds after the line to the bridge broke', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync({ role: 'replica' })];
    await using gw = await createGatewayWithRun({ clock, sync });
    const { client, events } = await gw.client();
    const pendingSend = client.call('chat.send', { message: 'next' });
    sync.setState({ state: 'away', role: 'none' });
    clock.advance(9_000);
    expect((await client.call('sessions.list', {})).sessions).toMatchObject([{ running: true }]);
    expect(await getHistory(client)).toHaveLength(1);
    const lost = (): unknown[] => events.filter(({ event }) => event === 'chat.error');
    expect(lost()).toEqual([]);
    clock.advance(1_000);
    expect((await pendingSend).completed).toBe(true);
    // Readers are notified once; otherwise the reply would be shown as streaming for ever.
    expect(lost()).toMatchObject([{ payload: { sessionId: 'main', runId: 'run-q', error: { details: { reason: 'interrupted' } } } }]);
    expect((await client.call('sessions.list', {})).sessions[0]).not.toHaveProperty('running');
    // With the line back the other host is heard of again.
    sync.setState({ state: 'synced', role: 'replica' });
    expect((await client.call('sessions.list', {})).sessions).toMatchObject([{ running: true }]);
  });

  verifies('vault.runs/waits', 'is cleared away although its host does not answer', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync()];
    await using gw = await createGatewayWithRun({ clock, sync });
    const { client } = await gw.client();
    const deleted = client.call('sessions.delete', { path: 'main/main.jsonl' });
    await clock.waitForTimer(5_000);
    for (let count = 0; count < 20; count++) expect((await client.call('sessions.list', {})).sessions).toHaveLength(1);
    clock.advance(5_000);
    expect(await deleted).toMatchObject({ deleted: true });
    expect((await client.call('chat.send', { message: 'anew' })).completed).toBe(true);
  });
});
