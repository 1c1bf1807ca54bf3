import { describe, expect } from 'vitest';
import { contracts } from '#shared/rpc/methods/index.ts';
import type { UsageRecord } from '../storage/vault-interface.ts';
import { verifies } from '../../../tests/requirements.ts';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import { createTestGateway } from '../../../tests/support/test-gateway.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function createUsageRecord(at: number, change: Partial<UsageRecord> = {}, cost?: number): UsageRecord {
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, ...(cost === undefined ? {} : { cost }) };
  return { id: crypto.randomUUID(), at, provider: 'test', model: 'test/a', sessionKey: 'main/one', principal: 'owner', usage, ...change };
}

describe('usage', () => {
  verifies('usage/shapes', 'summed in all, by provider, model, day and hour', async () => {
    const clock = new FakeClock(Date.UTC(2026, 10, 20, 12));
    await using gw = await createTestGateway({ clock });
    const { client } = await gw.client();
    await client.call('config.set', { key: 'chat.timeZone', value: 'UTC' });
    const now = clock.now();
    for (const each of [
      createUsageRecord(now, {}, 0.25),
      createUsageRecord(now - HOUR, { sessionKey: 'main/two', model: 'test/b', purpose: 'title' }, 0.5),
      createUsageRecord(now - DAY, { provider: 'other', model: 'other/a', sessionKey: null, principal: 'key-1' }),
      createUsageRecord(now - 7 * DAY),
    ])
      gw.vault.usage.add(each);
    const sums = (calls: number, cost: number) => ({
      calls,
      inputTokens: 10 * calls,
      outputTokens: 5 * calls,
      totalTokens: 15 * calls,
      cost,
    });
    const { cost: estimatedCost, ...all } = sums(3, 0.75);
    const summary = await client.call('usage.get', {});
    expect(contracts['usage.get'].result.parse(summary)).toEqual({
      windowDays: 7,
      sessions: 2,
      ...all,
      estimatedCost,
      byProvider: { test: sums(2, 0.75), other: sums(1, 0) },
      byModel: { 'test/a': sums(1, 0.25), 'test/b': sums(1, 0.5), 'other/a': sums(1, 0) },
      byKey: {},
      byPurpose: { chat: sums(2, 0.25), title: sums(1, 0.5) },
    });
    gw.vault.usage.add(createUsageRecord(now - 7 * DAY, { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2, estimated: true } }));
    expect(summary).not.toHaveProperty('estimatedCalls');
    expect(await client.call('usage.get', { days: 8 })).toMatchObject({ estimatedCalls: 1, byProvider: { test: { estimatedCalls: 1 } } });
    expect(await client.call('usage.get', { days: 8 })).toMatchObject({ windowDays: 8, calls: 5 });
    expect(await client.call('usage.get', { days: 1 })).toMatchObject({ windowDays: 1, calls: 2 });
    const { dailyBreakdown } = contracts['usage.daily'].result.parse(await client.call('usage.daily', { days: 3 }));
    expect(dailyBreakdown).toEqual([
      { date: '2026-11-18', ...sums(0, 0) },
      { date: '2026-11-19', ...sums(1, 0) },
      { date: '2026-11-20', ...sums(2, 0.75) },
    ]);
    const { hourlyDistribution } = contracts['usage.hourly'].result.parse(await client.call('usage.hourly', {}));
    expect(hourlyDistribution).toEqual(Array.from({ length: 24 }, (_, hour) => ({ 11: 1, 12: 2 })[hour] ?? 0));
  });

  verifies('usage/shapes', 'what was read from caches and written to them, if a call reported it', async () => {
    const clock = new FakeClock(Date.UTC(2026, 10, 20, 12));
    await using gw = await createTestGateway({ clock });
    const { client } = await gw.client();
    const tokens = { inputTokens: 100, outputTokens: 5, totalTokens: 105 };
    for (const [model, usage] of [
      ['test/a', { ...tokens, cacheReadTokens: 90, cacheWriteTokens: 10 }],
      ['test/a', { ...tokens, cacheReadTokens: 0 }],
      ['test/b', tokens],
    ] as const)
      gw.vault.usage.add(createUsageRecord(clock.now(), { model, usage }));
    const summary = contracts['usage.get'].result.parse(await client.call('usage.get', {}));
    expect(summary).toMatchObject({ inputTokens: 300, cacheReadTokens: 90, cacheWriteTokens: 10 });
    expect(summary.byModel['test/a']).toMatchObject({ inputTokens: 200, cacheReadTokens: 90, cacheWriteTokens: 10 });
    expect(summary.byModel['test/b']).not.toHaveProperty('cacheReadTokens');
    const { dailyBreakdown } = await client.call('usage.daily', { days: 1 });
    expect(dailyBreakdown[0]).toMatchObject({ inputTokens: 300, cacheReadTokens: 90, cacheWriteTokens: 10 });
  });

  verifies('usage/windows', 'days of another zone, over a change of its clocks; wrong ones', async () => {
    // In New York the clocks went back on 1 November 2026: that day had 25 hours.
    const clock = new FakeClock(Date.UTC(2026, 10, 2, 3));
    await using gw = await createTestGateway({ clock });
    const { client } = await gw.client();
    await client.call('config.set', { key: 'chat.timeZone', value: 'America/New_York' });
    // 00:30 and 23:30 of that day, and 23:30 of the day before.
    for (const at of [Date.UTC(2026, 10, 1, 4, 30), Date.UTC(2026, 10, 2, 4, 30), Date.UTC(2026, 10, 1, 3, 30)])
      gw.vault.usage.add(createUsageRecord(at));
    const { dailyBreakdown } = await client.call('usage.daily', { days: 365 });
    expect(dailyBreakdown).toHaveLength(365);
    expect(dailyBreakdown.slice(-2).map(({ date, calls }) => [date, calls])).toEqual([
      ['2026-10-31', 1],
      ['2026-11-01', 2],
    ]);
    expect(new Set(dailyBreakdown.map(({ date }) => date)).size).toBe(365);
    expect((await client.call('usage.hourly', { days: 1 })).hourlyDistribution.flatMap((calls, hour) => (calls ? [hour] : []))).toEqual([
      0, 23,
    ]);
    for (const days of [0, -1, 366, 1.5, '7', null]) {
      for (const method of ['usage.get', 'usage.daily', 'usage.hourly']) {
        await expect(client.request(method, { days }), `${method} ${days}`).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
      }
    }
    await expect(client.call('config.set', { key: 'chat.timeZone', value: 'Mars/Olympus' })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: '`chat.timeZone` must be an IANA time zone, such as Europe/Berlin.',
    });
  });

  verifies('usage/counts', 'a run and a call over HTTP count, a failed one does not', async () => {
    await using gw = await createTestGateway({
      model: ({ body }) => (body.model === 'broken' ? [{ status: 500, body: 'no' }] : ['Hello']),
    });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'hi' });
    await client.call('chat.send', { message: 'hi', model: 'test/broken' }).catch(() => {});
    const body = JSON.stringify({ model: 'test/scripted', messages: [{ role: 'user', content: 'hi' }] });
    const request = new Request('http://perch/v1/chat/completions', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    const response = await gw.gateway.fetch(request, { id: 'key-1', scopes: ['write'] });
    expect(response.status).toBe(200);
    await response.text();
    expect(await client.call('usage.get', {})).toMatchObject({ calls: 2, sessions: 1, byModel: { 'test/scripted': { calls: 2 } } });
  });
});
