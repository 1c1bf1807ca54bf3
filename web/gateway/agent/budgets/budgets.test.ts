import { describe, expect } from 'vitest';
import { IDBFactory } from 'fake-indexeddb';
import { GatewayClient } from '#shared/client/client.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createTestGateway, type ModelScript, type TestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import type { UsageRecord } from '../../storage/vault-interface.ts';
import { computeGauges, computePeriods, forecastUsage } from './budget-gauges.ts';
import { getBudgetScopes } from './budget-scopes.ts';
import { type ScopeUsage, UsageTotals } from './usage-totals.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOON = Date.UTC(2026, 10, 20, 12);

let nextId = 0;
const toRecord = (fields: Partial<UsageRecord> & { cost?: number; tokens?: number } = {}): UsageRecord => {
  const { cost, tokens = 10, ...rest } = fields;
  return {
    id: `u${nextId++}`,
    at: NOON,
    provider: 'test',
    model: 'test/scripted',
    sessionKey: 'main/main',
    principal: 'owner',
    usage: { inputTokens: tokens, outputTokens: 0, totalTokens: tokens, ...(cost === undefined ? {} : { cost }) },
    ...rest,
  };
};

const complete = (gw: TestGateway, principal = 'owner'): Promise<Response> =>
  gw.gateway.fetch(
    new Request('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test/scripted', messages: [{ role: 'user', content: 'Hi' }] }),
    }),
    { id: principal, scopes: ['read', 'write'] },
  );

const setUtc = async (client: GatewayClient): Promise<void> =>
  void (await client.call('config.set', { key: 'chat.timeZone', value: 'UTC' }));

verifies('budgets/sums', 'a call counts for all of its scopes, and the guide’s for none', async () => {
  expect(getBudgetScopes({ principal: 'cron', sessionKey: 'sales/cron-1', jobId: 'j' })).toEqual([
    'chat:sales/cron-1',
    'job:j',
    'agent:sales',
    'vault',
  ]);
  expect(getBudgetScopes({ principal: 'channel:telegram', sessionKey: 'main/x' })).toContain('channel:telegram');
  expect(getBudgetScopes({ principal: 'key:k', sessionKey: null, agentId: 'main' })).toEqual(['key:k', 'agent:main', 'vault']);
  const records = [
    toRecord({ at: NOON - 24 * HOUR, cost: 1 }),
    toRecord({ cost: 2 }),
    toRecord({ principal: 'key:k', sessionKey: null, tokens: 5 }),
    toRecord({ at: NOON - 40 * 24 * HOUR, cost: 100 }),
    toRecord({ provider: 'guide' }),
  ];
  const clock = new FakeClock(NOON);
  const totals = new UsageTotals({
    usage: { since: (at) => Promise.resolve(records.filter((each) => each.at >= at)) },
    clock,
    timeZone: () => 'UTC',
  });
  const usageOf = await totals.read();
  expect(usageOf('vault').day).toEqual({ calls: 2, totalTokens: 15, cost: 2, unpricedCalls: 1 });
  expect(usageOf('vault').month).toEqual({ calls: 3, totalTokens: 25, cost: 3, unpricedCalls: 1 });
  expect(usageOf('chat:main/main').month.cost).toBe(3);
  expect(usageOf('key:k').day.totalTokens).toBe(5);
  expect(usageOf('agent:other').day.calls).toBe(0);
  // Each record counts once, however often it is read.
  records.push(toRecord({ at: NOON + MINUTE, cost: 4 }));
  clock.advance(MINUTE);
  expect((await totals.read())('vault').day.cost).toBe(6);
  expect((await totals.read())('vault').day.cost).toBe(6);
});

verifies('budgets/restart', 'records that another host adds later count, though they are older', async () => {
  const records = [toRecord({ cost: 1 })];
  const clock = new FakeClock(NOON);
  const since = (at: number): Promise<UsageRecord[]> => Promise.resolve(records.filter((each) => each.at >= at));
  const totals = new UsageTotals({ usage: { since }, clock, timeZone: () => 'UTC' });
  await totals.read();
  records.push(toRecord({ at: NOON - 5 * HOUR, cost: 1 }));
  clock.advance(MINUTE);
  totals.markStale();
  expect((await totals.read())('vault').day.cost).toBe(2);
});

describe('periods', () => {
  const at = (iso: string, timeZone: string): Record<string, string> => {
    const { starts, ends, date } = computePeriods(Date.parse(iso), timeZone);
    const toText = (time: number): string => new Date(time).toISOString().slice(0, 16);
    return { date, day: `${toText(starts.day)} ${toText(ends.day)}`, month: `${toText(starts.month)} ${toText(ends.month)}` };
  };

  verifies('budgets/periods', 'in UTC, in Berlin across both changes of the clocks, and east of the date line', () => {
    expect(at('2026-12-31T23:59:00Z', 'UTC')).toEqual({
      date: '2026-12-31',
      day: '2026-12-31T00:00 2027-01-01T00:00',
      month: '2026-12-01T00:00 2027-01-01T00:00',
    });
    // 23 hours.
    expect(at('2026-03-29T12:00:00Z', 'Europe/Berlin')).toEqual({
      date: '2026-03-29',
      day: '2026-03-28T23:00 2026-03-29T22:00',
      month: '2026-02-28T23:00 2026-03-31T22:00',
    });
    // 25 hours.
    expect(at('2026-10-25T22:30:00Z', 'Europe/Berlin').day).toBe('2026-10-24T22:00 2026-10-25T23:00');
    expect(at('2028-02-29T10:30:00Z', 'Pacific/Kiritimati').day).toBe('2028-02-29T10:00 2028-03-01T10:00');
    expect(at('2026-01-31T10:00:00Z', 'Asia/Kathmandu').month).toBe('2025-12-31T18:15 2026-01-31T18:15');
  });
});

verifies('budgets/forecast', 'the mean pace so far, once enough of the period has passed', () => {
  const sum = { calls: 3, totalTokens: 300, cost: 3, unpricedCalls: 1 };
  const forecast = (iso: string, period: 'day' | 'month') => {
    const now = Date.parse(iso);
    return forecastUsage(sum, period, computePeriods(now, 'UTC'), now).forecast;
  };
  expect(forecast('2026-11-20T12:00:00Z', 'day')).toEqual({ cost: 6, tokens: 600 });
  expect(forecast('2026-11-20T05:00:00Z', 'day')).toBeNull();
  expect(forecast('2026-11-16T00:00:00Z', 'month')).toEqual({ cost: 6, tokens: 600 });
  expect(forecast('2026-11-03T12:00:00Z', 'month')).toBeNull();
  const periods = computePeriods(NOON, 'UTC');
  expect(forecastUsage({ ...sum, calls: 0 }, 'month', periods, NOON)).toMatchObject({ forecast: null, unpricedCalls: 1 });
});

verifies('budgets/stop', 'states at 80 % and 100 %, with what the run has used so far', () => {
  const sum = { calls: 1, totalTokens: 0, cost: 0, unpricedCalls: 0 };
  const periods = computePeriods(NOON, 'UTC');
  const stateOf = (used: number, running = 0, continued?: string): string | undefined => {
    const usage: ScopeUsage = { day: { ...sum, cost: used }, month: sum, minute: [] };
    const record = { limits: { day: { cost: 10 } }, ...(continued ? { continued: { day: continued } } : {}) };
    return computeGauges(record, usage, periods, { cost: running, tokens: 0 })[0]?.state;
  };
  expect([stateOf(7.99), stateOf(8), stateOf(9.99), stateOf(10), stateOf(9, 1)]).toEqual(['ok', 'near', 'near', 'reached', 'reached']);
  expect([stateOf(10, 0, '2026-11-20'), stateOf(10, 0, '2026-11-19')]).toEqual(['continued', 'reached']);
});

describe('a chat', () => {
  verifies(
    ['budgets/sentence', 'budgets/continue'],
    'stops with a sentence, goes on for the day when a person says so, and stops the next day',
    async () => {
      const clock = new FakeClock(NOON);
      await using gw = await createTestGateway({ clock });
      const { client, events } = await gw.client();
      await setUtc(client);
      await client.call('budgets.set', { scope: 'vault', limits: { day: { cost: 5 } } });
      gw.vault.usage.add(toRecord({ cost: 5.25 }));
      const sent = client.call('chat.send', { message: 'Hi' });
      await expect(sent).rejects.toMatchObject({
        code: 'RATE_LIMITED',
        message:
          'The daily budget is used up: $5.25 of $5.00. It resets on 21 November at 00:00. Raise the budget, or continue anyway for today.',
        extra: { details: { limit: 'budget', budget: { scope: 'vault', period: 'day' } } },
      });
      expect(gw.calls).toEqual([]);
      const { messages } = await client.call('chat.history', { sessionId: 'main' });
      expect(messages.map(({ role, error }) => [role, error?.budget])).toEqual([
        ['user', undefined],
        ['assistant', { scope: 'vault', period: 'day' }],
      ]);
      const { budget } = await client.call('budgets.continue', { scope: 'vault', period: 'day' });
      expect(budget.gauges).toMatchObject([{ state: 'continued', used: 5.25 }]);
      expect(events.filter(({ event }) => event === 'budgets.changed')).toHaveLength(2);
      await client.call('chat.resend', { sessionId: 'main' });
      clock.advance(12 * HOUR);
      gw.vault.usage.add(toRecord({ at: clock.now(), cost: 6 }));
      await expect(client.call('chat.send', { message: 'Hi' })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
      await client.call('budgets.set', { scope: 'vault', limits: { day: { cost: 50 } } });
      await client.call('chat.send', { message: 'Hi' });
      expect(gw.faults).toEqual([]);
    },
  );

  verifies('budgets/stop', 'stops between the steps of a reply, and keeps what it has written', async () => {
    const script: ModelScript = (_call, count) =>
      count === 2 ? ['Looking. ', { tool: 'docs_search', args: { query: 'sync' } }] : ['Done'];
    await using gw = await createTestGateway({ model: script });
    const { client } = await gw.client();
    await expect(client.call('budgets.set', { scope: 'chat:main/main', limits: { day: { tokens: 1 } } })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    const { usage } = await client.call('chat.send', { message: 'Hi' });
    const { budget } = await client.call('budgets.set', {
      scope: 'chat:main/main',
      limits: { day: { tokens: (usage?.totalTokens ?? 0) + 1 } },
    });
    expect(budget?.gauges).toMatchObject([{ used: usage?.totalTokens, state: 'near' }]);
    await expect(client.call('chat.send', { message: 'Search' })).rejects.toMatchObject({
      message: expect.stringMatching(/^The daily budget of this chat is used up: [\d,]+ of \d+ tokens\./) as string,
    });
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    expect(messages.slice(-3).map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant']);
    expect(messages.at(-3)).toMatchObject({ content: 'Looking. ', toolCalls: [{ tool: 'docs_search' }] });
    expect(gw.calls).toHaveLength(2);
  });

  verifies('budgets/warn-once', 'at 80 %, once a period, also after a restart', async () => {
    const clock = new FakeClock(NOON);
    const [indexedDB, name] = [new IDBFactory(), 'budget-warnings'];
    const countWarnings = async (): Promise<number> => {
      await using gw = await createTestGateway({ clock, indexedDB, name });
      const { client, events } = await gw.client();
      await setUtc(client);
      if ((await client.call('budgets.list', {})).budgets.length === 0) {
        await client.call('budgets.set', { scope: 'agent:main', limits: { day: { cost: 10 } } });
        gw.vault.usage.add(toRecord({ cost: 8.5 }));
      }
      for (let sent = 0; sent < 2; sent++) await client.call('chat.send', { message: 'Hi' });
      // The sums are the same after the restart.
      expect((await client.call('budgets.list', {})).budgets).toMatchObject([
        { scope: 'agent:main', name: 'Main', gauges: [{ used: 8.5 }] },
      ]);
      return events.filter(({ event }) => event === 'budgets.near').length;
    };
    expect([await countWarnings(), await countWarnings()]).toEqual([1, 0]);
  });

  verifies('budgets/sums', 'jobs count for their own budget', async () => {
    await using gw = await createTestGateway();
    const { client, events } = await gw.client();
    const { jobId } = await client.call('cron.add', { cron: '0 0 1 1 *', name: 'Report', message: 'Work' });
    await client.call('budgets.set', { scope: `job:${jobId}`, limits: { month: { tokens: 1 } } });
    const run = async (): Promise<string | undefined> => {
      const before = events.length;
      await client.call('cron.run', { id: jobId });
      await waitFor(() => events.slice(before).some(({ event }) => event === 'chat.done' || event === 'chat.error'));
      const failure = events.slice(before).find(({ event }) => event === 'chat.error');
      await waitFor(async () => (await client.call('cron.history', { jobId })).records.every(({ status }) => status !== 'running'));
      return JSON.stringify(failure?.payload);
    };
    expect(await run()).toBeUndefined();
    expect(await run()).toContain('The monthly budget of the schedule “Report” is used up');
  });
});

describe('over HTTP', () => {
  verifies('budgets/http', 'the vault’s and the key’s budget answer 429 insufficient_quota', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const { key } = await client.call('keys.create', { name: 'Script' });
    expect((await complete(gw)).status).toBe(200);
    await client.call('budgets.set', { scope: 'vault', limits: { month: { tokens: 1 } } });
    const refused = await complete(gw);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      error: { type: 'insufficient_quota', message: expect.stringMatching(/^The monthly budget is used up/) as string },
    });
    await client.call('budgets.set', { scope: 'vault', limits: null });
    await client.call('budgets.set', { scope: `key:${key.id}`, limits: { day: { tokens: 1 }, month: { cost: 3 } } });
    expect((await client.call('keys.list', {})).keys).toMatchObject([{ limits: { monthlyBudget: 3 } }]);
    expect((await client.call('budgets.list', {})).budgets).toMatchObject([
      { name: 'Script', limits: { day: { tokens: 1 }, month: { cost: 3 } } },
    ]);
    expect((await complete(gw, `key:${key.id}`)).status).toBe(200);
    const message = expect.stringContaining('“Script”') as string;
    expect(await (await complete(gw, `key:${key.id}`)).json()).toMatchObject({ error: { type: 'insufficient_quota', message } });
    expect((await complete(gw)).status).toBe(200);
  });

  verifies('budgets/fast-path', 'a budget of the vault withdraws the decisions of the bridge', async () => {
    let withdrawn = 0;
    await using gw = await createTestGateway({ changed: () => withdrawn++ });
    const { client } = await gw.client();
    const before = withdrawn;
    await client.call('budgets.set', { scope: 'agent:main', limits: { day: { cost: 1 } } });
    expect(withdrawn).toBe(before);
    await client.call('budgets.set', { scope: 'vault', limits: { day: { cost: 1 } } });
    expect(withdrawn).toBe(before + 1);
  });
});

verifies('budgets/continue', 'no program sets or continues a budget, whatever its scopes', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  await client.call('budgets.set', { scope: 'vault', limits: { day: { cost: 1 } } });
  for (const principal of ['key:k', 'channel:telegram', 'host']) {
    const program = await GatewayClient.connect(gw.link({ principal }), { params: { clientName: 'program' } });
    for (const call of [
      program.call('budgets.set', { scope: 'vault', limits: null }),
      program.call('budgets.continue', { scope: 'vault', period: 'day' }),
    ])
      await expect(call).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  }
  const { client: reader } = await gw.client({ scopes: ['read', 'write'] });
  await expect(reader.call('budgets.continue', { scope: 'vault', period: 'day' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
});

verifies('budgets/input', 'amounts and scopes that are none', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  const day = (cost: unknown): object => ({ scope: 'vault', limits: { day: { cost } } });
  const tokens = (amount: unknown): object => ({ scope: 'vault', limits: { day: { tokens: amount } } });
  for (const params of [
    ...[day(-1), day(Number.NaN), day(1e9), day('5'), tokens(1.5), tokens(1e15), tokens(-1)],
    ...['', 'vaults', 'agent:', 'chat:main', 'user:x', `agent:${'a'.repeat(200)}`].map((scope) => ({ scope, limits: null })),
    { scope: 'vault', limits: { week: { cost: 1 } } },
  ])
    await expect(client.request('budgets.set', params as Record<string, unknown>)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  for (const scope of ['agent:nobody', 'job:none', 'channel:none', 'key:none', 'chat:main/none'])
    await expect(client.call('budgets.set', { scope, limits: { day: { cost: 1 } } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(client.call('budgets.continue', { scope: 'vault', period: 'day' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect((await client.call('budgets.set', { scope: 'vault', limits: { day: {} } })).budget).toBeNull();
});
