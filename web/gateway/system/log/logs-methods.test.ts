import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import { memoryPair } from '#shared/link/link.ts';
import type { LogLine } from '#shared/rpc/methods/log-contracts.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { openVault } from '../../storage/open-vault.ts';
import { systemClock } from '#shared/async/clock.ts';
import { dumpDatabase } from '../../storage/fixture.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { LogFile } from '../../../../bridge/log-file.ts';
import { createLogsCapability } from '../../../../tests/support/bridge-capabilities.ts';
import { FakeBridge } from '../../../../tests/support/fake-bridge.ts';
import { FakeSync } from '../../../../tests/support/fake-sync.ts';
import { createScript, type TestGateway, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const tailLogs = async (client: GatewayClient, params: object = {}): Promise<LogLine[]> => {
  const { lines } = await client.call('logs.tail', { limit: 2_000, json: true, ...params });
  return lines.filter((line) => typeof line === 'object');
};

/** The vault of a test's gateway, with some of it replaced. */
async function createVaultWith(name: string, change: (vault: Vault) => Partial<Vault>): Promise<Vault> {
  const vault = await openVault({ name, clock: systemClock, onclosed: () => {} });
  return { ...vault, ...change(vault) };
}

verifies(
  ['logs/tail', 'logs/levels', 'logs/limits'],
  'lines as text and as objects, the newest of them, and those of a level',
  async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('config.set', { key: 'gateway.discover', value: false });
    const { lines, count, path, cursor } = await client.call('logs.tail', {});
    expect(count).toBe(lines.length);
    // Without a bridge there is no file.
    expect(path).toBe('');
    expect(cursor).toMatch(/\./);
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z INFO {2}gateway: Gateway started \{"version":"0.0.0","build":"test"/);
    expect(await client.call('logs.tail', { limit: 1, json: true })).toMatchObject({
      lines: [{ level: 'info', component: 'config', message: 'Settings changed', fields: { settings: ['gateway'] } }],
      count: 1,
    });
    await expect(client.call('chat.send', { message: 'x', model: 'test/none', provider: 'nobody' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    expect((await client.call('system.logs', {})).count).toBe((await tailLogs(client)).length);
    for (const [params, code] of [
      [{ limit: 2_001 }, 'limit'],
      [{ limit: 0 }, 'limit'],
      [{ cursor: 'x' }, 'cursor'],
      [{ before: '1.2.3' }, 'before'],
      [{ cursor, before: cursor }, 'can’t be combined with cursor'],
    ] as const)
      await expect(client.call('logs.tail', params)).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining(code) as string,
      });
    await expect(client.call('system.logs', { lines: 501 })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  },
);

verifies('logs/limits', 'without a limit 200 lines, and 50; with one the newest of a full ring, also of a rare level', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  await client.call('logs.tail', {});
  const level = (seq: number) => (seq % 1_000 === 0 ? ('error' as const) : ('info' as const));
  const lines = Array.from({ length: 9_000 }, (_, at) => ({
    seq: at + 10,
    at,
    level: level(at),
    component: 'test',
    message: `line ${at}`,
  }));
  await gw.vault.logs.append(lines);
  expect((await client.call('logs.tail', {})).count).toBe(200);
  expect((await client.call('system.logs', {})).count).toBe(50);
  expect((await client.call('logs.tail', { limit: 2_000 })).count).toBe(2_000);
  const { logs } = await client.call('system.logs', { level: 'error', lines: 5 });
  expect(logs.map(({ message }) => message)).toEqual([4, 5, 6, 7, 8].map((at) => `line ${at}000`));
});

verifies('logs/local-time', 'times of the configured zone, with its offset at that time', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  await client.call('config.set', { key: 'chat.timeZone', value: 'America/St_Johns' });
  await client.call('logs.tail', {});
  const [summer, winter] = [Date.UTC(2026, 6, 1, 12, 34, 56, 789), Date.UTC(2026, 11, 31, 23, 59, 59, 7)];
  await gw.vault.logs.append(
    [summer, winter].map((at, index) => ({ seq: 1_000 + index, at, level: 'info', component: 'test', message: 'x' })),
  );
  const times = async (localTime: boolean) => (await tailLogs(client, { localTime, limit: 2 })).map(({ time }) => time);
  expect(await times(true)).toEqual(['2026-07-01T10:04:56.789-02:30', '2026-12-31T20:29:59.007-03:30']);
  expect(await times(false)).toEqual(['2026-07-01T12:34:56.789Z', '2026-12-31T23:59:59.007Z']);
});

verifies('logs/level', '`gateway.logLevel` holds from when it is set', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  await client.call('config.set', { key: 'gateway.logLevel', value: 'error' });
  const before = (await tailLogs(client)).length;
  await client.call('config.set', { key: 'chat.systemPrompt', value: 'x' });
  expect(await tailLogs(client)).toHaveLength(before);
  await expect(client.call('config.set', { key: 'gateway.logLevel', value: 'loud' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
});

verifies(
  'logs/notes',
  'what happens to connections, runs, providers, settings and roles is noted, and faults with their id and stack',
  async () => {
    const sync = new FakeSync();
    let broken = false;
    const vault = await createVaultWith('noted', (real) => ({
      usage: { ...real.usage, since: (at) => (broken ? Promise.reject(new RangeError('usage is broken')) : real.usage.since(at)) },
    }));
    await using gw = await createTestGateway({
      vault,
      sync,
      model: createScript([{ status: 500, body: '{"error":{"message":"the model is on fire"}}' }]),
    });
    const { client } = await gw.client();
    await expect(client.call('chat.send', { message: 'Hello', agentId: 'main' })).rejects.toThrow();
    broken = true;
    const failure: unknown = await client.call('usage.get', {}).catch((error: unknown) => error);
    const { id } = (failure as { extra: { details: { id: string } } }).extra.details;
    sync.setState({ role: 'replica' });
    sync.setState({ state: 'failing', problem: 'the disk is full' });
    sync.setState({ state: 'synced', problem: null });
    const raw = gw.link({ socket: true });
    raw.receive({ message: () => {}, close: () => {} });
    raw.send('{"type":"req","id":"1","method":"health","params":{}}');
    await client.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 1, burst: 1 } });
    const [ours, theirs] = memoryPair<string>();
    gw.gateway.accept(theirs, { principal: 'key:program', scopes: ['read'], challenged: false, socket: true });
    const answers: string[] = [];
    ours.receive({ message: (text) => void answers.push(text), close: () => {} });
    ours.send('{"type":"req","id":"1","method":"connect","params":{"minProtocol":3,"maxProtocol":3}}');
    for (let at = 2; at < 6; at++) ours.send(`{"type":"req","id":"${at}","method":"health","params":{}}`);
    await waitFor(() => answers.length >= 6);

    const found = await tailLogs(client);
    const messages = found.map(({ level, component, message }) => `${level} ${component}: ${message}`);
    for (const expectedLine of [
      /^info gateway: Gateway started/,
      /^warn runs: Run failed: .*on fire/,
      /^info sync: Another host is the active gateway/,
      /^warn sync: the disk is full/,
      /^info sync: Journal: synced/,
      /^warn connections: Refused a connection: The first request must be "connect"./,
      /^error gateway: Something went wrong/,
      /^info config: Settings changed/,
    ])
      expect(messages, String(expectedLine)).toContainEqual(expect.stringMatching(expectedLine));
    // Held back four times, and noted once.
    expect(messages.filter((message) => message.includes('exceeded the rate limit'))).toHaveLength(1);
    expect(found.find(({ message }) => message === 'Something went wrong')?.fields).toMatchObject({
      id,
      error: { name: 'RangeError', message: 'usage is broken', stack: expect.stringContaining('logs-methods.test.ts') as string },
    });
    expect(found.find(({ message }) => message.startsWith('Run failed'))?.fields).toMatchObject({
      agentId: 'main',
      sessionId: 'main',
      code: 'INTERNAL_ERROR',
    });
  },
);

verifies('logs/notes', 'a provider that cannot be reached is noted once, and once more when it answers again', async () => {
  let isClosed = false;
  const models = (): Response => (isClosed ? new Response('', { status: 503 }) : Response.json({ data: [{ id: 'scripted' }] }));
  await using gw = await createTestGateway({ models });
  const { client } = await gw.client();
  const noted = async () => (await tailLogs(client)).filter(({ component }) => component === 'providers').map(({ level }) => level);
  for (const state of [false, true, true, false, false]) {
    isClosed = state;
    await client.call('models.providers', { refresh: true });
  }
  expect(await noted()).toEqual(['warn', 'info']);
});

const KEY = 'planted secret/with "marks" 7h3';
const TOKEN = 'pq4NdT8xWm1Rk7Lp0Sd5Yh2Nc9Bf4Gj6Aa-_uEiOoPx';

verifies('logs/path', 'names a file that has the bridge’s lines, without secrets', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perch-log-'));
  const file = join(folder, 'logs', 'perch.log');
  try {
    const { ring, capability } = createLogsCapability();
    ring.hide([TOKEN]);
    ring.write('Started before the file');
    ring.writeTo(new LogFile(file));
    ring.write(`Warning: the token is ${TOKEN}`);
    await using gw = await createTestGateway({ bridge: new FakeBridge(capability) });
    const { client } = await gw.client();
    expect((await client.call('logs.tail', {})).path).toBe(file);
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z INFO Started before the file\n\S+ WARN Warning: the token is \*\*\*\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // At 1 MiB another file begins.
    for (let at = 0; at < 150; at++) ring.write('x '.repeat(3_800));
    expect(statSync(file).size).toBeLessThan(1_000_000);
    expect(statSync(`${file}.1`).size).toBeGreaterThan(1024 * 1024);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

verifies('logs/redacted', 'no planted secret is in the log, in the database or over the wire, after a whole scenario', async () => {
  const { ring, capability } = createLogsCapability();
  const vault = await createVaultWith('secrets', (real) => ({
    usage: {
      ...real.usage,
      since: () => Promise.reject(new Error(`no usage for ${KEY}`, { cause: { apiKey: KEY, text: `Bearer ${TOKEN}` } })),
    },
  }));
  const errorBody = `{"error":{"message":"the key ${KEY.replaceAll('"', '\\"')} is not right, nor is ${encodeURIComponent(KEY)}"}}`;
  await using gw = await createTestGateway({
    vault,
    bridge: new FakeBridge(capability),
    model: createScript([{ status: 401, body: errorBody }]),
  });
  const { client } = await gw.client();
  await client.call('config.set', { key: 'gateway.logLevel', value: 'debug' });
  await client.call('config.patch', { patch: { providers: { test: { apiKey: KEY } } } });
  await expect(client.call('chat.send', { message: `my key is ${KEY}` })).rejects.toThrow();
  await expect(client.call('usage.get', {})).rejects.toThrow();
  await client.call('config.patch', { patch: { providers: { test: { apiKey: 'another key 9z' } } } });
  // The old one may still come.
  await expect(client.call('usage.get', {})).rejects.toThrow();
  const raw = gw.link({ socket: true, principal: 'key:x' });
  raw.receive({ message: () => {}, close: () => {} });
  raw.send(JSON.stringify({ type: 'req', id: '1', method: 'health', params: { auth: { token: TOKEN } } }));
  ring.write(`a host said ${KEY} and ${TOKEN}`);
  const lines = await tailLogs(client);
  expect(lines.length).toBeGreaterThan(6);
  const all = [
    JSON.stringify(lines),
    JSON.stringify(await client.call('logs.tail', { limit: 2_000 })),
    JSON.stringify(await client.call('system.logs', { lines: 500 })),
    JSON.stringify((await dumpDatabase('secrets'))['logs']),
  ];
  expect(all[3]).toContain('Run failed');
  for (const text of all) {
    for (const secret of [KEY, JSON.stringify(KEY).slice(1, -1), encodeURIComponent(KEY), TOKEN, 'another key 9z', 'marks']) {
      expect(text.includes(secret), secret).toBe(false);
      // Within JSON that was put into JSON.
      expect(text.includes(JSON.stringify(secret).slice(1, -1)), secret).toBe(false);
    }
  }
});

verifies(
  ['logs/cursor', 'logs/bridge'],
  'several write, one reads on: every line once, of gateway and bridge, in the order of each',
  async () => {
    const { ring, capability } = createLogsCapability();
    await using gw = await createTestGateway({ bridge: new FakeBridge(capability) });
    const { client } = await gw.client();
    let { cursor } = await client.call('logs.tail', {});
    const read: LogLine[] = [];
    let writing = 4;
    const write = async (who: number): Promise<void> => {
      for (let at = 0; at < 60; at++) {
        await client.call('config.set', { key: 'chat.systemPrompt', value: `${who}-${at}` });
        ring.write(`bridge ${who}-${at}`);
        if (at % 7 === 0) ring.write(`bridge again ${who}-${at}`);
      }
      writing--;
    };
    const readOn = async (limit: number): Promise<number> => {
      const answer = await client.call('logs.tail', { cursor, limit, json: true });
      ({ cursor } = answer);
      read.push(...answer.lines.filter((line) => typeof line === 'object'));
      return answer.count;
    };
    const writers = Promise.all([1, 2, 3, 4].map(write));
    for (let turn = 0; writing > 0; turn++) await readOn(1 + (turn % 5));
    await writers;
    while ((await readOn(50)) > 0);
    const bridge = read.filter(({ component }) => component === 'bridge').map(({ message }) => message);
    const stored = ring.read({ ring: ring.id, limit: 2_000, level: 'debug' }).lines.map(({ message }) => message);
    expect(bridge).toEqual(stored);
    const own = read.filter(({ component }) => component === 'config').length;
    expect(own).toBe(240);
    expect(await client.call('logs.tail', { cursor })).toMatchObject({ lines: [], cursor });
  },
  60_000,
);

verifies(
  'logs/before',
  'read back while others write: every older line once, of gateway and bridge, in the order of each, and then none',
  async () => {
    const { ring, capability } = createLogsCapability();
    await using gw = await createTestGateway({ bridge: new FakeBridge(capability) });
    const { client } = await gw.client();
    for (let at = 0; at < 40; at++) {
      await client.call('config.set', { key: 'chat.systemPrompt', value: `${at}` });
      ring.write(`bridge ${at}`);
      if (at % 7 === 0) ring.write(`bridge again ${at}`);
    }
    const allLines = await tailLogs(client);
    const newest = await client.call('logs.tail', { limit: 10, json: true });
    let { before, lines } = newest;
    const read: unknown[] = lines;
    for (let turn = 0; lines.length > 0; turn++) {
      const limit = 1 + (turn % 5);
      await client.call('config.set', { key: 'chat.systemPrompt', value: `later ${turn}` });
      ring.write(`bridge later ${turn}`);
      ({ before, lines } = await client.call('logs.tail', { before, limit, json: true }));
      read.unshift(...lines);
      if (lines.length < limit) expect((await client.call('logs.tail', { before })).lines).toEqual([]);
    }
    expect(read).toEqual(allLines);
    // Lines newer than a response are not among the older ones.
    const on = await client.call('logs.tail', { cursor: newest.cursor, json: true, limit: 5 });
    expect(on.lines).toMatchObject([{ message: 'Settings changed' }, { message: 'bridge later 0' }, {}, {}, {}]);
    expect((await client.call('logs.tail', { before: on.before, limit: 10, json: true })).lines).toEqual(allLines.slice(-10));
    // Reading forward from the first of the older lines yields the same lines again.
    const back = await client.call('logs.tail', { before: on.before, limit: 10 });
    expect((await client.call('logs.tail', { cursor: back.cursor, json: true, limit: 5 })).lines).toEqual(on.lines);
  },
);

verifies('logs/before', 'of a bridge that was started again, and of another log, nothing is older', async () => {
  const { ring, capability } = createLogsCapability();
  await using gw = await createTestGateway({ bridge: new FakeBridge(capability) });
  const { client } = await gw.client();
  ring.write('one');
  ring.write('two');
  const { before } = await client.call('logs.tail', { limit: 1 });
  const [own, at] = before.split('.');
  const older = async (place: string) =>
    (await client.call('logs.tail', { before: place, json: true })).lines.map((line) => typeof line === 'object' && line.message);
  expect(await older(before)).toContain('one');
  expect(await older(`${own}.${at}.earlier.99`)).not.toContain('one');
  expect(await older(`other.99.${ring.id}.2`)).toEqual(['one']);
});

verifies('logs/cursor', 'reading continues after a restart of the bridge or a new log', async () => {
  const first = createLogsCapability();
  const bridge = new FakeBridge(first.capability);
  await using gw = await createTestGateway({ bridge });
  const { client } = await gw.client();
  first.ring.write('one');
  const { cursor } = await client.call('logs.tail', {});
  bridge.detach();
  await client.call('config.set', { key: 'chat.systemPrompt', value: 'x' });
  const away = await client.call('logs.tail', { cursor, json: true });
  expect(away.lines).toMatchObject([{ message: 'Bridge disconnected' }, { component: 'config' }]);
  bridge.attach();
  first.ring.write('two');
  expect(await client.call('logs.tail', { cursor: away.cursor, json: true })).toMatchObject({
    lines: [{ message: 'Bridge connected' }, { message: 'two' }],
  });
  // A cursor of another browser's log, and of an earlier bridge.
  const other = await client.call('logs.tail', { cursor: 'other.7.earlier.99', json: true });
  expect(other.lines.map((line) => (typeof line === 'object' ? line.message : ''))).toEqual(
    expect.arrayContaining(['Gateway started', 'one', 'two']),
  );
});

verifies('logs/harmless', 'with a log that cannot be written a run completes, and the log is read from memory', async () => {
  const full = (): Promise<never> => Promise.reject(new DOMException('no room', 'QuotaExceededError'));
  const vault = await createVaultWith('full', (real) => ({ logs: { ...real.logs, append: full } }));
  await using gw: TestGateway = await createTestGateway({ vault });
  const { client } = await gw.client();
  const { cursor } = await client.call('logs.tail', {});
  expect(await client.call('chat.send', { message: 'Hello' })).toMatchObject({ completed: true });
  await client.call('config.set', { key: 'chat.systemPrompt', value: 'x' });
  expect((await tailLogs(client)).map(({ message }) => message)).toContain('Gateway started');
  expect(await client.call('logs.tail', { cursor, json: true })).toMatchObject({ lines: [{ component: 'config' }] });
  expect(gw.faults).toEqual([]);
});
