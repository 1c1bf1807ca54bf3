import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { secretsPort } from '#shared/ports/secrets-port.ts';
import { createSecretsHandlers } from '../../../../bridge/capabilities/secrets/secrets-handlers.ts';
import { startTestBridge } from '../../../../bridge/server/tests/test-bridge.ts';
import { dumpDatabase } from '../../storage/fixture.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createBridgedGateway } from '../../../../tests/support/bridged-gateway.ts';
import { FakeBridge, createCapability } from '../../../../tests/support/fake-bridge.ts';
import { createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { createRealBridge } from '../../../../tests/support/real-bridge.ts';
import { checkedFetch } from '../../../../tests/support/openai-shapes/checked-fetch.ts';
import { startUpstream } from '../../../../tests/test-upstream.ts';
import { NO_KEEPER } from '../../../../bridge/processes/process-keeper.ts';

const SECRET = 'a-plain-value-of-no-form';

/** A gateway whose bridge has a file of secrets and an environment. */
async function createGatewayWithSecrets(file: Record<string, string>, options: Partial<Parameters<typeof createTestGateway>[0]> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'perch-secrets-'));
  const path = join(home, 'secrets.env');
  const save = (entries: Record<string, string>): void =>
    writeFileSync(
      path,
      Object.entries(entries)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
      { mode: 0o600 },
    );
  save(file);
  const bridge = new FakeBridge(
    createCapability(
      secretsPort,
      createSecretsHandlers({ home, env: { ENV_KEY: 'of-the-environment' }, hide: () => {}, log: () => {}, keeper: NO_KEEPER }),
    ),
  );
  const gw = await createTestGateway({ bridge, ...options });
  const { client, events } = await gw.client();
  return {
    ...{ gw, bridge, client, events, path, save },
    provide: (apiKey: string | null, more: object = {}) =>
      client.call('config.patch', { patch: { providers: { test: { apiKey, ...more } } } }),
    /** The key that the model's server received. */
    async key(): Promise<string | undefined> {
      await client.call('chat.send', { message: 'Hi' });
      await waitFor(() => gw.calls.length > 0);
      return gw.calls.splice(0).at(-1)?.headers.authorization;
    },
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

verifies(['secrets/reference', 'secrets/memory-only'], 'the reference is shown, the value is used, and is stored nowhere', async () => {
  await using at = await createGatewayWithSecrets({ MY_KEY: SECRET }, { name: 'secrets-referred' });
  await at.provide('${MY_KEY}');
  expect((await at.client.call('config.get', { key: 'providers.test.apiKey' })).value).toBe('${MY_KEY}');
  expect(await at.key()).toBe(`Bearer ${SECRET}`);
  expect(await at.client.call('secrets.reload', {})).toEqual({ reloaded: true, count: 1 });
  await at.provide('${ENV_KEY}');
  await waitFor(async () => (await at.key()) === 'Bearer of-the-environment');
  // A key of before is not kept under the reference, and the other way round.
  await at.provide('typed-in');
  expect((await at.client.call('config.get', { key: 'providers.test.apiKey' })).value).toBe('***');
  expect(await at.key()).toBe('Bearer typed-in');
  await at.provide('${MY_KEY}');
  expect(await at.gw.vault.secrets.get('providers.test.apiKey')).toBeUndefined();
  expect(await at.key()).toBe(`Bearer ${SECRET}`);
  expect(JSON.stringify(await dumpDatabase('secrets-referred'))).not.toContain(SECRET);
});

verifies('secrets/reload', 'a value that has changed is used after a reload, and what was decided by the old one ends', async () => {
  let changes = 0;
  await using at = await createGatewayWithSecrets({ MY_KEY: 'old-value' }, { changed: () => void changes++ });
  await at.provide('${MY_KEY}');
  expect(await at.key()).toBe('Bearer old-value');
  at.save({ MY_KEY: 'new-value' });
  expect(await at.key()).toBe('Bearer old-value');
  const before = changes;
  expect(await at.client.call('secrets.reload', {})).toEqual({ reloaded: true, count: 1 });
  expect(changes).toBeGreaterThan(before);
  expect(await at.key()).toBe('Bearer new-value');
});

verifies('secrets/attach', 'a bridge that attaches later is asked then; its values stay after it detaches', async () => {
  await using at = await createGatewayWithSecrets({ MY_KEY: SECRET });
  at.bridge.detach();
  await at.provide('${MY_KEY}');
  await expect(at.client.call('chat.send', { message: 'Hi' })).rejects.toThrow('${MY_KEY} comes from the bridge');
  expect(at.gw.calls).toEqual([]);
  at.bridge.attach();
  await waitFor(async () => (await at.client.call('secrets.reload', {})).count === 1);
  expect(await at.key()).toBe(`Bearer ${SECRET}`);
  at.bridge.detach();
  expect(await at.key()).toBe(`Bearer ${SECRET}`);
});

verifies(['secrets/missing', 'doctor/checks'], 'without a value the server is not asked; the error and the doctor name it', async () => {
  await using at = await createGatewayWithSecrets({});
  await at.provide('${MY_KEY}');
  await expect(at.client.call('chat.send', { message: 'Hi' })).rejects.toThrow('the secret ${MY_KEY} was not found');
  expect(at.gw.calls).toEqual([]);
  const check = async () => (await at.client.call('doctor.run', {})).checks.find(({ id }) => id === 'references');
  expect(await check()).toMatchObject({ severity: 'error', message: 'Keys not found: MY_KEY.' });
  if (process.platform !== 'win32') {
    at.save({ MY_KEY: SECRET });
    chmodSync(at.path, 0o644);
    await at.client.call('secrets.reload', {});
    expect(await check()).toMatchObject({ severity: 'error', message: expect.stringMatching(/secrets\.env can’t be used: .*chmod 600/) });
    chmodSync(at.path, 0o600);
  }
  await at.client.call('secrets.reload', {});
  expect(await check()).toMatchObject({ severity: 'ok' });
});

verifies(
  ['secrets/own', 'secrets/moved'],
  'an invalid reference, one to Perch’s own secrets, or one sent to another server is refused',
  async () => {
    await using at = await createGatewayWithSecrets({ MY_KEY: SECRET });
    for (const wrong of ['${PERCH_TOKEN}', '${perch_password}', '${1KEY}', '${A B}', '${}', '${A\n}'])
      await expect(at.provide(wrong), wrong).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining('providers.test.apiKey'),
      });
    await expect(at.client.call('config.patch', { patch: { channels: { x: { bearerToken: '${PERCH_TOKEN}' } } } })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
    });
    await at.provide('${MY_KEY}');
    await expect(
      at.client.call('config.patch', { patch: { providers: { test: { baseUrl: 'http://elsewhere.test/v1' } } } }),
    ).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('would send ${MY_KEY} to another server'),
    });
    // Another path of the same server is no other server.
    await at.client.call('config.patch', { patch: { providers: { test: { baseUrl: 'http://model.test/v2' } } } });
    await at.provide(null);
    await at.provide('${MY_KEY}', { baseUrl: 'http://elsewhere.test/v1' });
    expect(await at.key()).toBe(`Bearer ${SECRET}`);
  },
);

verifies('secrets/hidden', 'the value stands in no line of the log', async () => {
  await using at = await createGatewayWithSecrets({ MY_KEY: SECRET });
  await at.provide('${MY_KEY}');
  expect(await at.key()).toBe(`Bearer ${SECRET}`);
  at.gw.gateway.logError('tests', new Error(`asked with ${SECRET}`));
  const lines = async () => JSON.stringify(await at.client.call('logs.tail', {}));
  await waitFor(async () => (await lines()).includes('asked with'));
  expect(await lines()).toContain('asked with ***');
  expect(await lines()).not.toContain(SECRET);
});

verifies('secrets/file-keeps-reference', 'the configuration file has the reference, and one typed there counts', async () => {
  await using there = await createRealBridge();
  writeFileSync(join(there.home, 'secrets.env'), `MY_KEY=${SECRET}\n`, { mode: 0o600 });
  const path = join(there.home, 'config.json');
  writeFileSync(path, '{"providers": {"mine": {"baseUrl": "http://model.test/v1", "apiKey": "${MY_KEY}"}}}');
  await using gw = await createTestGateway({ useGuide: true, bridge: there.bridge });
  const { client } = await gw.client();
  await waitFor(async () => (await client.call('config.file', {})).state === 'synced');
  await client.call('chat.send', { message: 'Hi', model: 'mine/scripted' });
  await waitFor(() => gw.calls.length > 0);
  expect(gw.calls[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
  await client.call('config.set', { key: 'chat.systemPrompt', value: 'Be brief.' });
  await waitFor(() => readFileSync(path, 'utf8').includes('Be brief.'));
  expect(readFileSync(path, 'utf8')).toContain('"${MY_KEY}"');
  expect(readFileSync(path, 'utf8')).not.toContain(SECRET);
});

verifies(
  ['secrets/reload', 'http.chat/standing'],
  'over the real bridge a decision that stands ends with the value it was made with',
  async () => {
    await using upstream = await startUpstream();
    await using bridge = await startTestBridge({}, checkedFetch);
    await using gw = await createBridgedGateway({ egress: true });
    const path = join(bridge.home.dir, 'secrets.env');
    writeFileSync(path, 'UP_KEY=first-value\n', { mode: 0o600 });
    await gw.attach(bridge);
    const { client } = await gw.client();
    await client.call('config.patch', { patch: { providers: { up: { baseUrl: upstream.url, apiKey: '${UP_KEY}' } } } });
    const getSentKey = async (): Promise<string | undefined> => {
      const response = await bridge.http('/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'up/good', messages: [{ role: 'user', content: 'Hi' }] }),
      });
      expect(response.status).toBe(200);
      await response.text();
      return upstream.requests.filter(({ path: at }) => at.includes('completions')).at(-1)?.headers.authorization;
    };
    // Several requests, so that a route is cached.
    for (let times = 0; times < 4; times++) expect(await getSentKey()).toBe('Bearer first-value');
    writeFileSync(path, 'UP_KEY=second-value\n');
    await client.call('secrets.reload', {});
    for (let times = 0; times < 4; times++) expect(await getSentKey()).toBe('Bearer second-value');
    expect(bridge.lines.join('\n')).not.toContain('second-value');
  },
);
