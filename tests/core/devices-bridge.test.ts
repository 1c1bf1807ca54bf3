import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { accessPort, type AccessGrant } from '#shared/ports/access-port.ts';
import type { Scope } from '#shared/rpc/contract.ts';
import { sha256 } from '#shared/sha256.ts';
import { AccessGrants, createAccessHandlers } from '../../bridge/server/access-grants.ts';
import { Home } from '../../bridge/home-directory.ts';
import { startTestBridge, type TestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { TestSocketClient } from '../../bridge/server/tests/test-client.ts';
import { createUplinkBridge } from '../../web/gateway/ports/uplink-bridge.ts';
import { verifies } from '../requirements.ts';
import { type BridgedGateway, createBridgedGateway } from '../support/bridged-gateway.ts';
import { createTestDevice } from '../support/test-device.ts';
import { FakeBridge, createCapability } from '../support/fake-bridge.ts';
import { FakeSync } from '../support/fake-sync.ts';
import { createTestGateway, waitFor } from '../support/test-gateway.ts';
import { checkedFetch } from '../support/openai-shapes/checked-fetch.ts';

/** A first frame with these credentials, and its answer. */
async function connect(bridge: TestBridge, auth: Record<string, unknown>, rest: Record<string, unknown> = {}) {
  const client = await TestSocketClient.open(bridge.url);
  const answer = await client.call('connect', { minProtocol: 3, maxProtocol: 3, auth, ...rest });
  return { client, answer };
}

/** Pairs a device as a phone would: over a socket that shows the code. */
async function pairDevice(bridge: TestBridge, scopes: Scope[]): Promise<{ deviceId: string; deviceToken: string }> {
  const owner = await TestSocketClient.connect(bridge.url, bridge.token);
  const code = String((await owner.call('device.initiate', { deviceName: 'Phone', scopes })).payload?.code);
  const { client } = await connect(bridge, { pairingCode: code });
  const answer = await client.call('device.complete', { code, response: await (await createTestDevice('P-256')).response(code) });
  expect(answer).toMatchObject({ ok: true, payload: { paired: true } });
  client.socket.close();
  owner.socket.close();
  return { deviceId: String(answer.payload?.deviceId), deviceToken: String(answer.payload?.deviceToken) };
}

async function createFixture(options: Parameters<typeof createBridgedGateway>[0] = {}) {
  const bridge = await startTestBridge({}, checkedFetch);
  const gw = await createBridgedGateway(options);
  await gw.attach(bridge);
  return {
    bridge,
    gw,
    async [Symbol.asyncDispose]() {
      await bridge[Symbol.asyncDispose]();
      await gw[Symbol.asyncDispose]();
    },
  };
}

const revokeDevice = (gw: BridgedGateway, deviceId: string) => gw.client().then(({ client }) => client.call('device.revoke', { deviceId }));
const DENIED = { ok: false, error: { code: 'AUTH_REQUIRED' } };
const sendCompletion = (bridge: TestBridge, token: string, stream: boolean) =>
  bridge.http('/v1/chat/completions', {
    token,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'perch/main', stream, messages: [{ role: 'user', content: 'hi' }] }),
  });

verifies('device/mirror', 'a host notifies the bridge when it becomes active, also if it returns; a standby host does not', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'perch-access-'));
  const access = await AccessGrants.open(join(dir, 'access.json'), () => {});
  const sync = new FakeSync({ role: 'none' });
  const approvals: boolean[] = [];
  const handlers = createAccessHandlers(access, () => {
    approvals.push(sync.state().role === 'holder');
    return sync.state().role === 'holder';
  });
  const bridge = new FakeBridge(createCapability(accessPort, handlers));
  await using gw = await createTestGateway({ bridge, sync });
  const { client } = await gw.client();
  const { code } = await client.call('device.initiate', { deviceName: 'Phone' });
  const response = await (await createTestDevice()).response(code);
  const { deviceId, deviceToken } = await client.call('device.complete', { code, response });
  expect(access.find(deviceToken)).toBeUndefined();
  sync.setState({ role: 'replica' });
  sync.setState({ role: 'holder' });
  await waitFor(() => access.find(deviceToken) !== undefined);
  bridge.detach();
  sync.setState({ role: 'none' });
  await client.call('device.revoke', { deviceId });
  bridge.attach();
  sync.setState({ role: 'holder' });
  await waitFor(() => access.find(deviceToken) === undefined);
  expect(new Set(approvals)).toEqual(new Set([true]));
  expect([...gw.faults, ...bridge.faults]).toEqual([]);
  // The mirror may still be on its way to the disk.
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
});

describe('over real sockets', () => {
  verifies('device/token', 'with the scopes that it was given: connect, bearer, and the token as another program has it', async () => {
    await using both = await createFixture();
    const { bridge } = both;
    const { deviceId, deviceToken } = await pairDevice(bridge, ['read']);
    for (const auth of [{ deviceToken }, { token: deviceToken }, { token: 'wrong', deviceToken }]) {
      const { client, answer } = await connect(bridge, auth, { role: 'operator', scopes: ['operator.admin'], device: { id: 'x' } });
      expect(answer).toMatchObject({ ok: true });
      expect(await client.call('sessions.list')).toMatchObject({ ok: true });
      for (const method of ['chat.send', 'device.initiate', 'config.set']) {
        expect(await client.call(method, { message: 'hi' }), method).toMatchObject(DENIED);
      }
      expect((await client.call('device.list')).payload?.devices).toMatchObject([{ id: deviceId, connected: true }]);
      client.socket.close();
    }
    expect((await bridge.http('/v1/models', { token: deviceToken })).status).toBe(200);
    expect((await sendCompletion(bridge, deviceToken, false)).status).toBe(403);
    const writer = await pairDevice(bridge, ['read', 'write']);
    expect((await sendCompletion(bridge, writer.deviceToken, false)).status).toBe(200);
    // The owner's rights are not a device's: no code that links a browser.
    expect((await bridge.http('/link/code', { token: writer.deviceToken, method: 'POST' })).status).toBe(401);
    const upgraded = await TestSocketClient.open(bridge.url, { headers: { authorization: `Bearer ${writer.deviceToken}` } });
    expect(await upgraded.call('connect', { minProtocol: 3, maxProtocol: 3 })).toMatchObject({ ok: true });
    expect(await upgraded.call('config.set', { key: 'chat.timeZone', value: 'UTC' })).toMatchObject(DENIED);
    const fewer = await connect(bridge, { deviceToken: writer.deviceToken }, { scopes: ['read'] });
    expect(await fewer.client.call('chat.abort', { sessionId: 'main' })).toMatchObject(DENIED);
    const more = await connect(bridge, { deviceToken: writer.deviceToken }, { scopes: ['admin'] });
    expect(await more.client.call('config.set', { key: 'chat.timeZone', value: 'UTC' })).toMatchObject(DENIED);
  });

  verifies('device.revoke/closes', 'sockets and streams, before the answer; the token is void', async () => {
    const gate = Promise.withResolvers<void>();
    await using both = await createFixture({ model: () => ['Hel', { wait: gate.promise }, 'lo'] });
    const { bridge, gw } = both;
    const { deviceId, deviceToken } = await pairDevice(bridge, ['write']);
    const other = await pairDevice(bridge, ['write']);
    const { client } = await connect(bridge, { deviceToken });
    const bystander = (await connect(bridge, { deviceToken: other.deviceToken })).client;
    let ended: unknown;
    void client.closed.then((end) => (ended = end));
    const streamed = await sendCompletion(bridge, deviceToken, true);
    const reader = streamed.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('data:');
    const waiting = sendCompletion(bridge, deviceToken, false).catch(() => 'cut');
    await waitFor(() => gw.calls.length === 2);
    await revokeDevice(gw, deviceId);
    const readOn = async (): Promise<void> => {
      for (;;) if ((await reader?.read())?.done) return;
    };
    await expect(readOn()).rejects.toThrow();
    expect(await waiting).toBe('cut');
    await waitFor(() => ended !== undefined);
    expect(ended).toMatchObject({ code: 1008, reason: 'access was revoked' });
    await waitFor(() => gw.calls.every(({ signal }) => signal.aborted), 'what ran for its requests to be ended');
    expect((await connect(bridge, { deviceToken })).answer).toMatchObject({
      ok: false,
      error: { code: 'AUTH_REQUIRED', message: expect.stringContaining('revoked') as string },
    });
    expect((await bridge.http('/v1/models', { token: deviceToken })).status).toBe(401);
    expect(await bystander.call('health')).toMatchObject({ ok: true });
    gate.resolve();
    await expect(revokeDevice(gw, deviceId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(gw.faults).toEqual([]);
  });

  verifies('device.revoke/closes', 'while the device waits for a host', async () => {
    await using bridge = await startTestBridge();
    const [host] = [await bridge.attach({ capabilities: [] })];
    const port = createUplinkBridge(
      () => host.mux,
      () => () => {},
    );
    const grant: AccessGrant = { principal: 'device:a', tokenHash: await sha256('t'.repeat(43)), scopes: ['read'] };
    expect(await port.call(accessPort, 'access.mirror', { grants: [grant] })).toEqual({ taken: true });
    // The device connects while its host is away, and the next host reports that it was revoked.
    bridge.bridge.hosts.expectHost(10_000);
    host.die();
    await waitFor(() => bridge.bridge.hosts.holder === null);
    bridge.bridge.hosts.expectHost(10_000);
    const client = await TestSocketClient.open(bridge.url);
    client.send(
      JSON.stringify({
        type: 'req',
        id: '1',
        method: 'connect',
        params: { minProtocol: 3, maxProtocol: 3, auth: { deviceToken: 't'.repeat(43) } },
      }),
    );
    await waitFor(() => bridge.bridge.hosts.waiting === 1);
    const lesser = await bridge.attach({ capabilities: ['journal'] });
    const other = createUplinkBridge(
      () => lesser.mux,
      () => () => {},
    );
    await other.call(accessPort, 'access.revoke', { principal: 'device:a' });
    expect(await client.closed).toMatchObject({ code: 1008, reason: 'access was revoked' });
  });

  verifies('device/guessing', 'ten codes, and then none is looked at; the owner and devices come in all the same', async () => {
    await using both = await createFixture();
    const { bridge, gw } = both;
    const { deviceToken } = await pairDevice(bridge, ['read']);
    const answers: unknown[] = [];
    for (let i = 0; i < 11; i++) {
      const { client, answer } = await connect(bridge, { pairingCode: `WRNG-${i}` });
      answers.push(answer.error?.code);
      expect(await client.closed).toMatchObject({ code: 1008 });
    }
    expect(answers).toEqual([...Array<string>(10).fill('AUTH_REQUIRED'), 'RATE_LIMITED']);
    const { client } = await gw.client();
    const { code } = await client.call('device.initiate', { deviceName: 'Late' });
    expect((await connect(bridge, { pairingCode: code })).answer).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    expect((await connect(bridge, { deviceToken })).answer).toMatchObject({ ok: true });
    expect((await connect(bridge, { token: bridge.token })).answer).toMatchObject({ ok: true });
    for (let i = 0; i < 12; i++) await connect(bridge, { deviceToken: 'wrong' });
    expect((await connect(bridge, { deviceToken: 'wrong' })).answer).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    expect((await connect(bridge, { deviceToken })).answer).toMatchObject({ ok: true });
  });

  verifies('device/guessing', 'pairing itself is no failed try', async () => {
    await using both = await createFixture();
    for (let i = 0; i < 11; i++) await pairDevice(both.bridge, ['read']);
    expect((await both.gw.vault.collection('devices').list()).length).toBe(11);
  });

  verifies('device/token-kept', 'in a file of mode 0600, by which another bridge lets in before a host is there', async () => {
    await using both = await createFixture();
    const { bridge, gw } = both;
    const { deviceId, deviceToken } = await pairDevice(bridge, ['read']);
    const text = await readFile(bridge.home.accessFile, 'utf8');
    expect(JSON.parse(text)).toMatchObject({ grants: [{ principal: `device:${deviceId}`, scopes: ['read'] }] });
    expect(text).not.toContain(deviceToken);
    expect((await stat(bridge.home.accessFile)).mode & 0o777).toBe(0o600);
    await using second = await startTestBridge({ home: bridge.home });
    second.bridge.hosts.expectHost(10_000);
    const client = await TestSocketClient.open(second.url);
    client.send(
      JSON.stringify({ type: 'req', id: '1', method: 'connect', params: { minProtocol: 3, maxProtocol: 3, auth: { deviceToken } } }),
    );
    await waitFor(() => second.bridge.hosts.waiting === 1);
    gw.detach();
    await gw.attach(second);
    expect(await client.next()).toMatchObject({ ok: true });
    // A damaged file admits nobody, and nothing fails.
    const home = await Home.open({ dir: join(bridge.home.dir, 'other') });
    await writeFile(home.accessFile, '{"version":1,"grants":[{"principal":"owner"}]}', { mode: 0o600 });
    await using third = await startTestBridge({ home });
    expect((await connect(third, { deviceToken })).answer).toMatchObject(DENIED);
    expect(third.lines.join()).toContain('is damaged');
  });

  verifies('device/mirror', 'a device that was revoked while no bridge was there is out once one is', async () => {
    await using both = await createFixture();
    const { bridge, gw } = both;
    const { deviceId, deviceToken } = await pairDevice(bridge, ['read']);
    gw.detach();
    await revokeDevice(gw, deviceId);
    await gw.attach(bridge);
    // A connection that was admitted a moment before is closed.
    const isDenied = () =>
      connect(bridge, { deviceToken }).then(
        ({ answer }) => answer.error?.code === 'AUTH_REQUIRED',
        () => false,
      );
    await waitFor(isDenied, 'the mirror to be there');
    expect(gw.faults).toEqual([]);
  });

  verifies(
    'device/mirror',
    'only from the host that serves, never for the owner; any host may take a grant back, and it stays so',
    async () => {
      await using bridge = await startTestBridge();
      const serving = await bridge.attach();
      const other = await bridge.attach({ capabilities: ['journal'] });
      const [port, second] = [serving, other].map(({ mux }) =>
        createUplinkBridge(
          () => mux,
          () => () => {},
        ),
      );
      const token = 't'.repeat(43);
      const grants: AccessGrant[] = [{ principal: 'device:a', tokenHash: await sha256(token), scopes: ['read'] }];
      expect(await second?.call(accessPort, 'access.mirror', { grants })).toEqual({ taken: false });
      expect((await connect(bridge, { deviceToken: token })).answer).toMatchObject(DENIED);
      expect(await port?.call(accessPort, 'access.mirror', { grants })).toEqual({ taken: true });
      const { answer, client } = await connect(bridge, { deviceToken: token });
      expect(answer).toMatchObject({ ok: true, payload: { opening: { principal: 'device:a', scopes: ['read'] } } });
      expect(await second?.call(accessPort, 'access.connected', {})).toEqual({ principals: ['device:a'] });
      await expect(
        port?.call(accessPort, 'access.mirror', { grants: [{ principal: 'owner', tokenHash: 'a'.repeat(64), scopes: ['admin'] }] }),
      ).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
      await second?.call(accessPort, 'access.revoke', { principal: 'device:a' });
      expect(await client.closed).toMatchObject({ code: 1008 });
      await port?.call(accessPort, 'access.mirror', { grants });
      expect((await connect(bridge, { deviceToken: token })).answer).toMatchObject(DENIED);
      expect(await second?.call(accessPort, 'access.connected', {})).toEqual({ principals: [] });
    },
  );
});
