import { expect } from 'vitest';
import type { KeyScope } from '#shared/rpc/scopes.ts';
import { opening } from '#shared/link/hello.ts';
import { startTestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { TestSocketClient } from '../../bridge/server/tests/test-client.ts';
import { verifies } from '../requirements.ts';
import { createBridgedGateway } from '../support/bridged-gateway.ts';
import { waitFor } from '../support/test-gateway.ts';

const DENIED = { ok: false, error: { code: 'AUTH_REQUIRED' } };

verifies(['keys/areas', 'keys/connect-scopes'], 'through the bridge, where a connection may ask for fewer scopes', async () => {
  await using bridge = await startTestBridge();
  await using gw = await createBridgedGateway();
  await gw.attach(bridge);
  const { client: owner } = await gw.client();
  const { key, secret } = await owner.call('keys.create', { name: 'Script', scopes: ['chat', 'memory'] });
  const connect = async (scopes?: string[]): Promise<TestSocketClient> => {
    const client = await TestSocketClient.open(bridge.url);
    const answer = await client.call('connect', { minProtocol: 3, maxProtocol: 3, auth: { token: secret }, ...(scopes ? { scopes } : {}) });
    expect(answer).toMatchObject({ ok: true });
    return client;
  };
  const may = async (client: TestSocketClient): Promise<KeyScope[]> => {
    const calls = { memory: 'memory.list', sessions: 'sessions.list', files: 'drawings.list' } as const;
    const allowed: KeyScope[] = [];
    for (const [scope, method] of Object.entries(calls)) if ((await client.call(method, {})).ok) allowed.push(scope as KeyScope);
    return allowed;
  };
  await waitFor(async () => (await bridge.http('/metrics', { token: secret })).status === 403, 'the bridge to know the key');
  expect(await may(await connect())).toEqual(['memory']);
  expect(await may(await connect(['chat']))).toEqual([]);
  expect(await may(await connect(['memory']))).toEqual(['memory']);
  // Unknown scopes and those that the key lacks have no effect.
  expect(await may(await connect(['operator.read', 'operator.write']))).toEqual(['memory']);
  expect(await may(await connect(['sessions', 'files', 'admin']))).toEqual(['memory']);

  const full = (await owner.call('keys.create', { name: 'Full', scopes: ['write'] })).secret;
  await waitFor(async () => (await bridge.http('/metrics', { token: full })).status === 200, 'the bridge to know the key');
  const client = await TestSocketClient.open(bridge.url);
  await client.call('connect', { minProtocol: 3, maxProtocol: 3, auth: { token: full }, scopes: ['memory'] });
  expect(await may(client)).toEqual(['memory']);

  // A change of areas closes what the key has open.
  const open = await connect();
  const closed = new Promise<number>((resolve) => open.socket.once('close', resolve));
  await owner.call('keys.update', { id: key.id, scopes: ['chat'] });
  expect(await closed).toBe(1008);
  expect(await (await connect()).call('memory.list', {})).toMatchObject(DENIED);
});

verifies('keys/older-build', 'the opening of a stream has areas where older hosts do not look', () => {
  expect(opening.parse({ kind: 'rpc', scopes: [], areas: ['v1', 'of a later build'] })).toMatchObject({
    scopes: [],
    areas: ['v1', 'of a later build'],
  });
  expect(opening.safeParse({ kind: 'rpc', scopes: ['v1'] }).success).toBe(false);
});
