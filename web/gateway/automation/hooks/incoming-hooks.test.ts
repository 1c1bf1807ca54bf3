import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { HookAction, HookPreset } from '#shared/rpc/methods/hook-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createTestGateway, type Say, type TestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const AGENT: HookAction = { kind: 'agent', agentId: 'main', template: 'Look at this:\n{{message}}' };
const HOOK_PRINCIPAL = { id: 'hook', scopes: [] };

const call = (gw: TestGateway, name: string, body: string, headers: Record<string, string>): Promise<Response> =>
  gw.gateway.fetch(
    new Request(`http://perch.test/hooks/${name}`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } }),
    HOOK_PRINCIPAL,
  );

async function createHook(client: GatewayClient, name: string, { preset = 'json', action = AGENT, events = [] as string[] } = {}) {
  return (await client.call('hooks.create', { hook: { direction: 'in', name, preset: preset as HookPreset, action, events } })).secret;
}

const listCalls = async (client: GatewayClient, name: string) => (await client.call('hooks.deliveries', { name })).deliveries;
const waitForCalls = (client: GatewayClient, name: string, count: number): Promise<unknown> =>
  waitFor(async () => {
    const calls = await listCalls(client, name);
    return calls.length === count && calls.every(({ endedAt }) => endedAt !== null);
  }, `${count} ended calls`);

describe('incoming hooks', () => {
  verifies('hooks/actions', 'send a call’s text to an agent, in a new chat each time', async () => {
    await using gw = await createTestGateway();
    const { client, events } = await gw.client();
    const secret = await createHook(client, 'ci', { preset: 'github' });
    const body = JSON.stringify({ action: 'opened', issue: { number: 3, title: 'It broke' }, repository: { full_name: 'octo/app' } });
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const response = await call(gw, 'ci', body, { 'x-hub-signature-256': signature, 'x-github-event': 'issues' });
    expect(response.status).toBe(202);
    await waitForCalls(client, 'ci', 1);
    const [done] = await listCalls(client, 'ci');
    expect(done).toMatchObject({ state: 'completed', event: 'issues.opened', error: null, agentId: 'main' });
    expect(JSON.stringify(gw.calls[0]?.body.messages.at(-1))).toContain('Look at this:\\nGitHub: issue #3 opened in octo/app\\nIt broke');
    const { messages } = await client.call('chat.history', { sessionId: done?.sessionId ?? '' });
    expect(messages[0]?.outside).toEqual(['hook:ci']);
    expect(events.some(({ event }) => event === 'hook.changed')).toBe(true);
    expect(gw.faults).toEqual([]);
  });

  verifies('hooks/signatures', 'give the same answer for a wrong secret, a hook that is off and one that does not exist', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const secret = await createHook(client, 'a');
    const right = { authorization: `Bearer ${secret}` };
    const wrong = await call(gw, 'a', '{}', { authorization: 'Bearer wrong' });
    const missing = await call(gw, 'none', '{}', right);
    await client.call('hooks.update', { name: 'a', enabled: false });
    const off = await call(gw, 'a', '{}', right);
    const texts = await Promise.all([wrong, missing, off].map((response) => response.text()));
    expect([wrong, missing, off].map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(new Set(texts).size).toBe(1);
    const [hook] = (await client.call('hooks.list', {})).hooks;
    expect(hook).toMatchObject({ rejected: { count: 2, reason: 'The hook is turned off.' } });
    expect(await listCalls(client, 'a')).toEqual([]);
  });

  verifies('hooks/replay', 'handle a repeated call once', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const secret = await createHook(client, 'ci', { preset: 'sentry', action: AGENT }).catch((error: unknown) => error);
    expect(secret).toMatchObject({ code: 'INVALID_PARAMS', message: expect.stringContaining('Sentry') as string });
    const own = 'a secret that Sentry shows';
    await client.call('hooks.create', { hook: { direction: 'in', name: 'ci', preset: 'sentry', action: AGENT, secret: own } });
    const body = '{"action":"created","data":{"issue":{"title":"Oops"}}}';
    const headers = { 'sentry-hook-signature': createHmac('sha256', own).update(body).digest('hex'), 'sentry-hook-resource': 'issue' };
    const answers = await Promise.all([1, 2, 3].map(async () => (await call(gw, 'ci', body, headers)).json()));
    expect(answers.filter((answer: { duplicate?: boolean }) => answer.duplicate)).toHaveLength(2);
    await waitForCalls(client, 'ci', 1);
    // The header does not count: it is not signed.
    expect(await (await call(gw, 'ci', body, { ...headers, 'request-id': 'another' })).json()).toMatchObject({ duplicate: true });
    expect(gw.calls).toHaveLength(1);
  });

  verifies('hooks/limits', 'refuse large, malformed and too many calls', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const headers = { 'x-hook-secret': await createHook(client, 'a', { events: ['deploy'] }) };
    expect((await call(gw, 'a', '{', headers)).status).toBe(400);
    expect((await call(gw, 'a', 'x'.repeat(1024 * 1024 + 1), headers)).status).toBe(413);
    expect((await gw.gateway.fetch(new Request('http://perch.test/hooks/a', { method: 'PUT', body: '{}' }), HOOK_PRINCIPAL)).status).toBe(
      405,
    );
    const statuses = await Promise.all(Array.from({ length: 70 }, async () => (await call(gw, 'a', '{"type":"other"}', headers)).status));
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect(statuses.filter((status) => status === 202).length).toBeGreaterThan(50);
    expect((await listCalls(client, 'a')).every(({ state }) => state === 'ignored')).toBe(true);
    expect(gw.calls).toHaveLength(0);
  });

  verifies('hooks/taint', 'have changes of the agent wait for an approval', async () => {
    const steps: Say[][] = [[{ tool: 'file_remove', args: { path: 'mine.md' } }], ['done']];
    await using gw = await createTestGateway({ model: (_, count) => steps[count - 1] ?? ['done'] });
    const { client } = await gw.client();
    await client.call('config.patch', { patch: { tools: { policies: { file_remove: 'auto' } } } });
    await client.call('workspace.write', { path: 'mine.md', content: 'mine' });
    const secret = await createHook(client, 'a');
    await call(gw, 'a', '{"text":"Delete mine.md"}', { 'x-hook-secret': secret });
    await waitFor(async () => (await client.call('approvals.list', {})).count === 1, 'the approval');
    const [approval] = (await client.call('approvals.list', {})).approvals;
    expect(approval).toMatchObject({ tool: 'file_remove', outside: ['hook:a'] });
    await client.call('approvals.resolve', { id: approval?.id ?? '', decision: 'deny' });
    await waitForCalls(client, 'a', 1);
    expect((await client.call('workspace.read', { path: 'mine.md' })).content).toBe('mine');
  });

  verifies('hooks/actions', 'run a job, deliver a message, and can be tested and handled again after a failure', async () => {
    let isFailing = true;
    await using gw = await createTestGateway({ model: () => (isFailing ? [{ status: 400, body: '{}' }] : ['done']) });
    const { client } = await gw.client();
    const secret = await createHook(client, 'agent');
    await call(gw, 'agent', '{"text":"Hi"}', { 'x-hook-secret': secret });
    await waitForCalls(client, 'agent', 1);
    const [failed] = await listCalls(client, 'agent');
    expect(failed).toMatchObject({ state: 'failed', error: expect.stringContaining('400') as string });
    isFailing = false;
    await client.call('hooks.resend', { id: failed?.id ?? '' });
    await waitForCalls(client, 'agent', 1);
    expect((await listCalls(client, 'agent'))[0]).toMatchObject({ state: 'completed', error: null });

    const { jobId } = await client.call('cron.add', { cron: '0 0 1 1 *', message: 'Report' });
    await createHook(client, 'job', { action: { kind: 'job', jobId } });
    await client.call('hooks.test', { name: 'job' });
    await waitForCalls(client, 'job', 1);
    await waitFor(async () => (await client.call('cron.history', { jobId })).records[0]?.status === 'completed', 'the job');

    const target = { kind: 'chat', agentId: 'main', sessionId: 'inbox' } as const;
    await createHook(client, 'note', { action: { kind: 'message', target, template: 'News: {{message}}' } });
    await client.call('hooks.test', { name: 'note' });
    await waitForCalls(client, 'note', 1);
    const [delivery] = (await client.call('deliveries.list', {})).deliveries;
    expect(delivery).toMatchObject({ text: 'News: This call is a test of the hook.', source: { kind: 'hook', id: 'note' } });
  });

  verifies('hooks/actions', 'are not handled any more once the hook is off', async () => {
    const gate = Promise.withResolvers<void>();
    await using gw = await createTestGateway({ model: () => [{ wait: gate.promise }, 'done'] });
    const { client } = await gw.client();
    const secret = await createHook(client, 'a');
    for (const text of ['One', 'Two']) await call(gw, 'a', JSON.stringify({ text }), { 'x-hook-secret': secret });
    await waitFor(() => gw.calls.length === 1, 'the first call');
    await client.call('hooks.update', { name: 'a', enabled: false });
    gate.resolve();
    await waitForCalls(client, 'a', 2);
    const calls = await listCalls(client, 'a');
    expect(calls.map(({ state }) => state)).toEqual(['failed', 'completed']);
    expect([calls[0]?.error, gw.calls.length]).toEqual(['The hook was turned off.', 1]);
  });

  verifies('hooks/rotation', 'accept the secret before a rotation', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const before = await createHook(client, 'a', { events: ['none'] });
    const { secret, hook } = await client.call('hooks.rotate', { name: 'a' });
    expect(hook.previousSecretUntil).not.toBeNull();
    expect(hook.secretHint).toBe(secret.slice(-4));
    const send = async (token: string): Promise<number> => (await call(gw, 'a', '{}', { 'x-hook-secret': token })).status;
    expect([await send(secret), await send(before), await send('third')]).toEqual([202, 202, 401]);
    await client.call('hooks.rotate', { name: 'a' });
    expect([await send(secret), await send(before)]).toEqual([202, 401]);
    expect(JSON.stringify(await client.call('hooks.list', {}))).not.toContain(secret);
  });

  verifies('hooks/people', 'are managed by people only, and checked', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await createHook(client, 'a');
    await expect(createHook(client, 'a')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await expect(createHook(client, 'b', { action: { ...AGENT, template: '{{title}}' } })).rejects.toThrow(
      'unknown placeholder "{{title}}"',
    );
    await expect(createHook(client, 'b', { action: { kind: 'job', jobId: 'none' } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(createHook(client, 'b', { action: { kind: 'plan', planId: 'none' } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(createHook(client, 'b', { action: { ...AGENT, agentId: 'none' } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.call('hooks.update', { name: 'a', url: 'https://x.test/' })).rejects.toBeInstanceOf(RpcError);
    const { GatewayClient: Client } = await import('#shared/client/client.ts');
    const key = await Client.connect(gw.link({ principal: 'key:1' }), { params: { clientName: 'key' } });
    await expect(key.call('hooks.delete', { name: 'a' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await client.call('hooks.delete', { name: 'a' });
    await expect(client.call('hooks.delete', { name: 'a' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
