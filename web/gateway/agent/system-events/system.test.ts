import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { createCronHosts, advanceUntil, HOUR, MINUTE, createCronApi } from '../../../../tests/support/cron-hosts.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { FakeSync } from '../../../../tests/support/fake-sync.ts';
import { type ModelCall, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const START = new FakeClock().now();
const readNotices = (call: ModelCall | undefined): string => call?.context ?? '';
const getLastContent = (call: ModelCall | undefined): unknown => call?.body.messages.at(-1)?.content;

describe('system events', () => {
  verifies(
    ['system.event/tells', 'system.event/waits'],
    'the next run of the main session gets it, once, and no other session does',
    async () => {
      await using gw = await createCronHosts().open();
      expect(await gw.api.call('system.event', { text: 'A parcel\u0007 has come' })).toEqual({
        ok: true,
        eventType: 'system',
        mode: 'next-heartbeat',
      });
      gw.clock.advance(1);
      await gw.api.call('system.event', { text: 'It rains\nand pours' });
      await gw.api.call('chat.send', { message: 'hi', sessionId: 'other' });
      await gw.api.call('chat.send', { message: 'hi' });
      await gw.api.call('chat.send', { message: 'and now?' });
      const [other, main, after] = gw.calls.map(readNotices);
      expect(main).toMatch(
        /System events since your last turn.*\n- 2026-11-20T12:00:00\.000Z: A parcel has come\n- .*: It rains\n  and pours$/s,
      );
      expect(other).not.toContain('parcel');
      expect(after).not.toContain('parcel');
      const { messages } = await gw.api.call('chat.history', { sessionId: 'main' });
      expect(JSON.stringify(messages)).not.toContain('parcel');
      expect(await gw.vault.collection('systemEvents').list()).toEqual([]);
    },
  );

  verifies('system.event/waits', 'a run that fails loses none, nor does a host that goes; many come in parts', async () => {
    const hosts = createCronHosts();
    {
      await using gw = await hosts.open(() => [{ status: 400, body: 'no' }]);
      await gw.api.call('system.event', { text: 'A parcel has come' });
      await gw.api.call('chat.send', { message: 'hi' }).catch(() => {});
      expect(readNotices(gw.calls[0])).toContain('parcel');
      hosts.clock.advance(1);
      for (const name of ['second', 'third', 'fourth']) {
        await gw.api.call('system.event', { text: name + '.'.repeat(9000) });
        hosts.clock.advance(1);
      }
    }
    await using gw = await hosts.open();
    await gw.api.call('chat.send', { message: 'hi' });
    await gw.api.call('chat.send', { message: 'hi' });
    const [one = '', two = ''] = gw.calls.map(readNotices);
    expect(['parcel', 'second', 'third', 'fourth'].map((name) => [one.includes(name), two.includes(name)])).toEqual([
      [true, false],
      [true, false],
      [true, false],
      [false, true],
    ]);
  });

  verifies('system.event/now', 'as a message of its own, after the session’s messages', async () => {
    await using gw = await createCronHosts().open();
    expect(await gw.api.call('system.event', { text: 'The bell rings', mode: 'now' })).toMatchObject({ ok: true, mode: 'now' });
    await waitFor(() => gw.calls.length === 1);
    expect(getLastContent(gw.calls[0])).toBe('System event: The bell rings');
    expect(readNotices(gw.calls[0])).not.toContain('bell');
    await waitFor(async () => (await gw.vault.collection('systemEvents').list()).length === 0);
    const { messages } = await gw.api.call('chat.history', { sessionId: 'main' });
    expect(messages[0]).toMatchObject({ role: 'user', content: 'System event: The bell rings' });
    for (const mode of ['now', 'next-heartbeat'] as const) {
      const refused = (text: string) => gw.api.call('system.event', { text, mode });
      await expect(refused(' \u0007')).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: '`text` must not be empty.' });
      await expect(refused('a\0b')).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: '`text` must not contain NUL characters.' });
    }
    const again = { text: 'once', idempotencyKey: 'k' };
    await gw.api.call('system.event', again);
    await gw.api.call('system.event', again);
    expect(await gw.vault.collection('systemEvents').list()).toHaveLength(1);
  });

  verifies(['system.event/now', 'system.event/waits'], 'an event that cannot start a run waits for the next one', async () => {
    const hosts = createCronHosts();
    await using gw = await hosts.open();
    await gw.api.call('config.patch', { patch: { chat: { model: 'none/none' } } });
    await gw.api.call('system.event', { text: 'The bell rings', mode: 'now' });
    await waitFor(() =>
      gw.vault
        .collection('systemEvents')
        .list()
        .then((events) => events.length === 1),
    );
    const getNotices = async () =>
      (await gw.api.call('logs.tail', { json: true })).lines.find((line) => typeof line === 'object' && line.component === 'system');
    await waitFor(async () => (await getNotices()) !== undefined);
    expect(await getNotices()).toMatchObject({
      level: 'warn',
      message: expect.stringContaining('none') as string,
      fields: { agentId: 'main', code: 'NOT_FOUND' },
    });
    await gw.api.call('config.patch', { patch: { chat: { model: 'test/scripted' } } });
    await waitFor(async () => {
      await gw.api.call('chat.send', { message: 'hi' });
      return readNotices(gw.calls.at(-1)).includes('The bell rings');
    });
  });

  verifies('system.event/now', 'and messages queued before it do not include it', async () => {
    const gate = Promise.withResolvers<void>();
    await using gw = await createCronHosts().open((_call, count) => (count === 1 ? ['first', { wait: gate.promise }] : ['next']));
    const pendingSend = [gw.api.call('chat.send', { message: 'one' }), gw.api.call('chat.send', { message: 'two' })];
    await waitFor(() => gw.calls.length === 1);
    await gw.api.call('system.event', { text: 'The bell rings', mode: 'now' });
    gate.resolve();
    await Promise.all(pendingSend);
    await waitFor(() => gw.calls.length === 3);
    expect(gw.calls.map((call) => [readNotices(call).includes('bell'), getLastContent(call)])).toEqual([
      [false, 'one'],
      [false, 'two'],
      [false, 'System event: The bell rings'],
    ]);
  });

  verifies('system.event/waits', 'too many are refused', async () => {
    await using gw = await createCronHosts().open();
    const events = gw.vault.collection('systemEvents');
    await Promise.all(Array.from({ length: 1000 }, (_, index) => events.put({ id: `e${index}`, text: 'x', at: START })));
    await expect(gw.api.call('system.event', { text: 'x' })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });
});

describe('the heartbeat', () => {
  verifies(['heartbeat/beats', 'system.heartbeat.last/answers'], 'is off by default, and calls no model where nothing waits', async () => {
    await using gw = await createCronHosts().open();
    await gw.advance(2 * HOUR, MINUTE);
    expect(await gw.api.call('system.heartbeat.last', {})).toEqual({ enabled: false, lastHeartbeatAt: null });
    await gw.api.call('config.patch', { patch: { heartbeat: { enabled: true, everyMs: 10 * MINUTE } } });
    // Its code is fetched now.
    await advanceUntil(gw.clock, async () => (await gw.api.call('system.heartbeat.last', {})).lastHeartbeatAt !== null, 10_000);
    const { enabled, lastHeartbeatAt } = await gw.api.call('system.heartbeat.last', {});
    expect(enabled).toBe(true);
    expect(lastHeartbeatAt).toBeGreaterThanOrEqual(START + 2 * HOUR);
    expect(gw.calls).toHaveLength(0);
    await expect(gw.api.call('config.patch', { patch: { heartbeat: { everyMs: 59_999 } } })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
    });
  });

  verifies(['heartbeat/beats', 'system.event/waits'], 'checks pending events, in the main session of its agent', async () => {
    await using gw = await createCronHosts().open();
    await gw.api.call('agents.add', { agent_id: 'helper' });
    await gw.api.call('config.patch', { patch: { heartbeat: { enabled: true, everyMs: 10 * MINUTE, agentId: 'helper' } } });
    await gw.api.call('system.event', { text: 'A parcel has come' });
    await advanceUntil(gw.clock, () => gw.calls.length === 1, 10_000);
    expect(readNotices(gw.calls[0])).toContain('parcel');
    expect(getLastContent(gw.calls[0])).toContain('Heartbeat');
    const { messages } = await gw.api.call('chat.history', { agentId: 'helper', sessionId: 'main' });
    expect(messages[0]?.content).toContain('Heartbeat');
    await gw.advance(25 * MINUTE, 10_000);
    expect(gw.calls).toHaveLength(1);
    // With a message it runs at each beat; beats that were missed are skipped.
    await gw.api.call('config.patch', { patch: { heartbeat: { message: 'Anything new?', agentId: null } } });
    gw.clock.jump(5 * HOUR);
    await advanceUntil(gw.clock, () => gw.calls.length === 3, 10_000);
    expect(gw.calls.slice(1).map(getLastContent)).toEqual(['Anything new?', 'Anything new?']);
    expect(await gw.api.call('cron.history', {})).toEqual({ records: [], count: 0 });
    expect(gw.faults).toEqual([]);
  });

  verifies(['heartbeat/beats', 'logs/notes'], 'with a model that there is not is noted with why', async () => {
    await using gw = await createCronHosts().open();
    await gw.api.call('config.patch', { patch: { chat: { model: 'none/none' } } });
    await gw.api.call('config.patch', { patch: { heartbeat: { enabled: true, everyMs: 10 * MINUTE, message: 'Well?' } } });
    const noted = async () =>
      (await gw.api.call('logs.tail', { json: true })).lines.find((line) => typeof line === 'object' && line.component === 'heartbeat');
    await advanceUntil(gw.clock, async () => (await noted()) !== undefined, 10_000);
    expect(await noted()).toMatchObject({
      level: 'warn',
      message: expect.stringContaining('none/none') as string,
      fields: { agentId: 'main' },
    });
  });

  verifies(['heartbeat/beats', 'cron/one-executor'], 'beats on one host', async () => {
    const clock = new FakeClock();
    const sync = new FakeSync({ role: 'replica' });
    await using gw = await createTestGateway({ clock, sync });
    const api = await createCronApi(gw, clock);
    await api.api.call('config.patch', { patch: { heartbeat: { enabled: true, everyMs: 10 * MINUTE, message: 'Well?' } } });
    await api.advance(15 * MINUTE, 10_000);
    expect(gw.calls).toHaveLength(0);
    sync.setState({ role: 'holder' });
    sync.leases.set(`cron:heartbeat@${START + 20 * MINUTE}`, null);
    await api.advance(10 * MINUTE, 10_000);
    expect(gw.calls).toHaveLength(0);
    await advanceUntil(clock, () => gw.calls.length === 1, 10_000);
    expect(sync.leaseCalls).toContain(`cron:heartbeat@${START + 30 * MINUTE}`);
  });
});
