import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import type { MethodParams } from '#shared/rpc/methods/index.ts';
import { sha256 } from '#shared/sha256.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createScript, type TestGateway, createTestGateway } from '../../../../tests/support/test-gateway.ts';

const MINUTE = 60_000;

async function createKeyClient(gw: TestGateway, params: Partial<MethodParams<'keys.create'>> = {}) {
  const { client: owner } = await gw.client();
  const { key, secret } = await owner.call('keys.create', { name: 'Script', scopes: ['read', 'write'], ...params });
  const complete = (body: Record<string, unknown> = {}): Promise<Response> =>
    gw.gateway.fetch(
      new Request('http://gateway.test/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'test/scripted', messages: [{ role: 'user', content: 'Hi' }], ...body }),
      }),
      { id: `key:${key.id}`, scopes: key.scopes },
    );
  return { owner, key, secret, ask: complete };
}

const listKeys = async (owner: GatewayClient) => (await owner.call('keys.list', {})).keys;

describe('keys', () => {
  verifies(['keys/made', 'keys/hash'], 'the secret is told once, and only its hash is kept', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock });
    const { owner, key, secret } = await createKeyClient(gw, { name: ' Script ', limits: { requestsPerMinute: 5 } });
    expect(secret).toMatch(/^sk-perch-[A-Za-z0-9_-]{43}$/);
    expect(key).toEqual({
      id: key.id,
      name: 'Script',
      hint: secret.slice(-4),
      scopes: ['read', 'write'],
      limits: { requestsPerMinute: 5, tokensPerMinute: null, monthlyBudget: null },
      createdAt: clock.now(),
      lastUsedAt: null,
      use: null,
    });
    expect(await listKeys(owner)).toEqual([{ ...key, month: { calls: 0, totalTokens: 0, cost: 0 } }]);
    const [record] = await gw.vault.collection('apiKeys').list();
    expect(record?.tokenHash).toBe(await sha256(secret));
    expect(JSON.stringify(record)).not.toContain(secret);
  });

  verifies('keys/changed', 'name, scopes and single limits; revoked once', async () => {
    await using gw = await createTestGateway();
    const { owner, key } = await createKeyClient(gw, { limits: { requestsPerMinute: 5, monthlyBudget: 1 } });
    const { key: after } = await owner.call('keys.update', {
      id: key.id,
      name: 'Other',
      scopes: ['read'],
      limits: { monthlyBudget: null },
    });
    expect(after).toEqual({
      ...key,
      name: 'Other',
      scopes: ['read'],
      limits: { requestsPerMinute: 5, tokensPerMinute: null, monthlyBudget: null },
    });
    expect(await owner.call('keys.revoke', { id: key.id })).toEqual({ revoked: true });
    expect(await listKeys(owner)).toEqual([]);
    await expect(owner.call('keys.revoke', { id: key.id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(owner.call('keys.update', { id: key.id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies('keys/scopes', 'no key makes keys, or may have been given the scope to', async () => {
    await using gw = await createTestGateway();
    const { client: owner } = await gw.client();
    await expect(owner.request('keys.create', { name: 'All', scopes: ['admin'] })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    const { client } = await gw.client({ scopes: ['read', 'write'] });
    await expect(client.call('keys.create', { name: 'More' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  });
});

verifies('keys/persons', 'no program makes, changes or revokes a key, whatever its scopes', async () => {
  await using gw = await createTestGateway();
  const { owner, key } = await createKeyClient(gw);
  for (const principal of ['channel:telegram', 'key:other', `key:${key.id}`, 'host']) {
    const program = await GatewayClient.connect(gw.link({ principal }), { params: { clientName: 'program' } });
    const { id } = key;
    for (const call of [
      program.call('keys.create', { name: 'More' }),
      program.call('keys.update', { id, limits: { monthlyBudget: null } }),
      program.call('keys.revoke', { id }),
    ])
      await expect(call).rejects.toMatchObject({ code: 'AUTH_REQUIRED', message: expect.stringContaining('Only a person') as string });
  }
  expect(await listKeys(owner)).toMatchObject([{ id: key.id }]);
});

describe('limits of a key', () => {
  verifies(['keys/requests', 'keys/last-used'], 'so many requests a minute, over /v1 and chat.* together', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock });
    const { owner, key, ask } = await createKeyClient(gw, { limits: { requestsPerMinute: 2 } });
    expect((await ask()).status).toBe(200);
    const link = gw.link({ principal: `key:${key.id}`, scopes: key.scopes });
    const program = await GatewayClient.connect(link, { params: { clientName: 'program' } });
    await program.call('chat.send', { message: 'Hi' });
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30']);
    expect(await refused.json()).toMatchObject({
      error: { type: 'rate_limited', message: expect.stringContaining('2 requests') as string },
    });
    await expect(program.call('chat.send', { message: 'Hi' })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    // Calls that use no model are not counted.
    await program.call('sessions.list', {});
    clock.advance(MINUTE / 2);
    expect((await ask()).status).toBe(200);
    expect(await listKeys(owner)).toMatchObject([{ lastUsedAt: expect.any(Number) as number }]);
  });

  verifies('keys/tokens', 'so many tokens a minute, until calls have left the minute behind', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock });
    const { key, ask } = await createKeyClient(gw, { limits: { tokensPerMinute: 100 } });
    const call = (id: string, totalTokens: number): void =>
      gw.vault.usage.add({
        id,
        at: clock.now(),
        provider: 'test',
        model: 'test/scripted',
        sessionKey: null,
        principal: `key:${key.id}`,
        usage: { inputTokens: totalTokens, outputTokens: 0, totalTokens },
      });
    call('a', 60);
    clock.advance(10_000);
    call('b', 60);
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '50']);
    clock.advance(50_000);
    expect((await ask()).status).toBe(200);
  });

  verifies('keys/budget', 'a budget for the month of the configured time zone, also after a restart', async () => {
    const clock = new FakeClock();
    clock.advance(Date.UTC(2026, 10, 30, 22, 30) - clock.now());
    await using gw = await createTestGateway({ clock });
    const { owner, key, ask } = await createKeyClient(gw, { limits: { monthlyBudget: 1 } });
    await owner.call('config.set', { key: 'chat.timeZone', value: 'Europe/Berlin' });
    const spend = (id: string, cost: number, principal = `key:${key.id}`): void =>
      gw.vault.usage.add({
        id,
        at: clock.now(),
        provider: 'test',
        model: 'test/scripted',
        sessionKey: null,
        principal,
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2, cost },
      });
    spend('a', 0.6);
    spend('other', 5, 'owner');
    expect((await ask()).status).toBe(200);
    clock.advance(5 * MINUTE);
    spend('b', 0.5);
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null]);
    expect(await refused.json()).toMatchObject({ error: { type: 'insufficient_quota' } });
    expect(await listKeys(owner)).toMatchObject([{ month: { calls: 3, cost: expect.closeTo(1.1) as number } }]);
    const { byKey } = await owner.call('usage.get', {});
    expect(byKey).toEqual({ [key.id]: expect.objectContaining({ calls: 3, cost: expect.closeTo(1.1) as number }) as object });
    // In Berlin it is already December.
    clock.advance(30 * MINUTE);
    expect((await ask()).status).toBe(200);
  });
});

verifies('keys/unattended', 'jobs are for keys without limits; plans, events and probes are counted', async () => {
  await using gw = await createTestGateway();
  const { owner, key } = await createKeyClient(gw, { limits: { monthlyBudget: 1 } });
  const program = async (id: string) =>
    GatewayClient.connect(gw.link({ principal: `key:${id}`, scopes: ['read', 'write'] }), {
      params: { clientName: 'program', events: 'all' },
    });
  const limited = await program(key.id);
  const job = { cron: '* * * * *', message: 'Work' };
  const { jobId: id } = await owner.call('cron.add', job);
  for (const call of [
    limited.call('cron.add', job),
    limited.call('cron.update', { id, message: 'Work for me' }),
    limited.call('cron.toggle', { id, enabled: true }),
    limited.call('cron.run', { id }),
  ])
    await expect(call).rejects.toMatchObject({ code: 'AUTH_REQUIRED', message: expect.stringContaining('limits') as string });
  const answered = new Promise<void>((resolve) => limited.on('chat.done', () => resolve()));
  await limited.call('system.event', { text: 'Something has happened', mode: 'now' });
  await answered;
  expect(await listKeys(owner)).toMatchObject([{ month: { calls: 1 } }]);
  await owner.call('keys.update', { id: key.id, limits: { requestsPerMinute: 1 } });
  await limited.call('models.probe', { model: 'test/scripted' });
  for (const call of [
    limited.call('models.probe', { model: 'test/scripted' }),
    limited.call('plan.resume', { planId: 'p' }),
    limited.call('system.event', { text: 'Again' }),
  ])
    await expect(call).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  const { key: free } = await owner.call('keys.create', { name: 'Free' });
  expect(await (await program(free.id)).call('cron.add', job)).toMatchObject({ ok: true });
});

describe('a caller that disconnects early', () => {
  const WORDS = 'A long story. '.repeat(100);
  const tokens = async (owner: GatewayClient): Promise<number> => (await listKeys(owner))[0]?.month.totalTokens ?? 0;
  /** A model that never finishes. */
  const endless = createScript([WORDS, { wait: new Promise(() => {}) }]);

  const post = (gw: TestGateway, id: string, path: string, body: object): Promise<Response> =>
    gw.gateway.fetch(
      new Request(`http://gateway.test${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ stream: true, ...body }),
      }),
      { id: `key:${id}`, scopes: ['write'] },
    );
  const messages = [{ role: 'user', content: 'Tell' }];
  const endpoints: [string, string, object][] = [
    ['a model', '/v1/chat/completions', { model: 'test/scripted', messages }],
    ['an agent', '/v1/chat/completions', { model: 'main', messages }],
    ['an agent in a session', '/v1/chat/completions', { model: 'main', messages, user: 'story' }],
    ['a model over responses', '/v1/responses', { model: 'test/scripted', input: 'Tell' }],
  ];
  for (const [name, path, body] of endpoints)
    verifies('keys/hung-up', name, async () => {
      await using gw = await createTestGateway({ model: endless });
      const { owner, key } = await createKeyClient(gw);
      const { body: stream } = await post(gw, key.id, path, body);
      const reader = (stream ?? expect.unreachable()).pipeThrough(new TextDecoderStream()).getReader();
      let read = '';
      while (!read.includes('story')) read += (await reader.read()).value ?? expect.unreachable();
      await reader.cancel();
      await expect.poll(() => tokens(owner)).toBeGreaterThan(WORDS.length / 5);
    });

  verifies('keys/hung-up', 'a run that is aborted', async () => {
    await using gw = await createTestGateway({ model: endless });
    const { owner, key } = await createKeyClient(gw);
    const program = await GatewayClient.connect(gw.link({ principal: `key:${key.id}`, scopes: key.scopes }), {
      params: { clientName: 'program', events: 'all' },
    });
    const firstDelta = new Promise<void>((resolve) => program.on('chat.delta', () => resolve()));
    const run = program.call('chat.send', { message: 'Tell' });
    await firstDelta;
    await program.call('chat.abort', { sessionId: 'main' });
    await expect(run).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await tokens(owner)).toBeGreaterThan(WORDS.length / 5);
  });
});
