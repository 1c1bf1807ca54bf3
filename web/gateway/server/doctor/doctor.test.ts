import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, expect } from 'vitest';
import { execPort } from '#shared/ports/exec-port.ts';
import { desktopPort } from '#shared/ports/desktop-port.ts';
import { ggufPort } from '#shared/ports/gguf-port.ts';
import { modelDownloadsPort } from '#shared/ports/model-downloads-port.ts';
import type { ClusterReport, ServersReport } from '#shared/ports/cluster-report.ts';
import type { AttachedHost, JournalInfo } from '#shared/ports/journal-info.ts';
import { filesPort } from '#shared/ports/files-port.ts';
import { speechPort } from '#shared/ports/speech-port.ts';
import { contracts, type MethodResult } from '#shared/rpc/methods/index.ts';
import type { DoctorCheck } from '#shared/rpc/methods/status-contracts.ts';
import type { SystemDeps } from '../../../../bridge/capabilities/system/system-handlers.ts';
import { createExecHandlers } from '../../../../bridge/capabilities/exec/exec-handlers.ts';
import { ProcessKeeper } from '../../../../bridge/processes/process-keeper.ts';
import { createWorkspaceHandlers } from '../../../../bridge/capabilities/files/workspace-handlers.ts';
import { createProgram } from '../../../../bridge/cli/program.ts';
import { Home } from '../../../../bridge/home-directory.ts';
import { BrowserNotFoundError } from '../../../../bridge/headless/find-browser.ts';
import { systemClock } from '#shared/async/clock.ts';
import type { Environment } from '../../ports/environment.ts';
import { settingsSchema } from '../../config/settings-schema.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { openVault } from '../../storage/open-vault.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createSystemCapability } from '../../../../tests/support/bridge-capabilities.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { FakeBridge, createCapability } from '../../../../tests/support/fake-bridge.ts';
import { toTestServerCommand, createMcpBridge, waitForServerState } from '../../../../tests/support/mcp-fixtures.ts';
import { startOauthServer } from '../../../../tests/support/oauth-server.ts';
import { createRealBridge } from '../../../../tests/support/real-bridge.ts';
import { FakeSync } from '../../../../tests/support/fake-sync.ts';
import { type TestGateway, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

/** All that checks have found in this file: their hints are looked at in the end. */
const allChecks: DoctorCheck[] = [];

async function runDoctor(gw: TestGateway): Promise<MethodResult<'doctor.run'> & { by(id: string): DoctorCheck | undefined }> {
  const { client } = await gw.client();
  const result = await client.call('doctor.run', {});
  allChecks.push(...result.checks);
  client.close();
  return { ...result, by: (id) => result.checks.find((check) => check.id === id) };
}

/** Runs one check of the doctor on such a gateway. */
async function diagnose(
  id: string,
  options: Parameters<typeof createTestGateway>[0],
  prepare?: (gw: TestGateway) => Promise<unknown>,
): Promise<DoctorCheck | undefined> {
  await using gw = await createTestGateway(options);
  await prepare?.(gw);
  return (await runDoctor(gw)).by(id);
}

const patchConfig = (patch: Record<string, unknown>) => async (gw: TestGateway) => {
  const { client } = await gw.client();
  await client.call('config.patch', { patch });
  client.close();
};

const withEnvironment = (change: Partial<Environment>): { environment: Partial<Environment> } => ({ environment: change });
const withBridge = (change: Partial<SystemDeps> = {}): { bridge: FakeBridge } => ({
  bridge: new FakeBridge(createSystemCapability(change)),
});

const createHost = (change: Partial<AttachedHost>): AttachedHost => ({
  ...{ origin: 'a', kind: 'tab', build: 'test', name: 'Chrome 156 on Linux', since: 0, ready: true, holder: true },
  ...change,
});

function withSync(
  state: Parameters<FakeSync['setState']>[0] = {},
  journal: Partial<JournalInfo> = {},
  hosts: AttachedHost[] = [],
): { sync: FakeSync } {
  const fake = new FakeSync(state);
  const info = { id: 'j', path: '/home/journal.sqlite', bytes: 1, head: 1, schema: 4, records: 1, tombstones: 0, blobs: 0, blobBytes: 0 };
  fake.journal = { journal: { ...info, changedAt: null, notices: [], free: null, ...journal }, hosts };
  return { sync: fake };
}

async function createVaultWith(name: string, change: (vault: Vault) => Partial<Vault>): Promise<{ vault: Vault }> {
  const vault = await openVault({ name, clock: systemClock, onclosed: () => {} });
  return { vault: { ...vault, ...change(vault) } };
}

const dir = mkdtempSync(join(tmpdir(), 'perch-doctor-'));
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

verifies('doctor/checks', 'a gateway that is well, with all there is: every check is there, and nothing is wrong', async () => {
  const home = await Home.open({ dir: join(dir, 'well') });
  await home.token();
  const well = withEnvironment({ persisted: async () => true, estimate: async () => ({ usage: 1, quota: 100 }) });
  await using gw = await createTestGateway({
    ...well,
    ...withBridge({ home }),
    ...withSync({}, { free: 10 * 1024 ** 3 }, [createHost({})]),
  });
  const { checks, summary } = await runDoctor(gw);
  expect(checks.filter(({ severity }) => severity !== 'ok' && severity !== 'info')).toEqual([]);
  expect(summary).toEqual({ passed: checks.length, warnings: 0, failed: 0 });
  expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length);
  expect(checks.map(({ id }) => id)).toEqual([
    ...['storage-persistent', 'storage-room', 'vault', 'log'],
    ...['sync', 'schema', 'conflicts', 'journal', 'disk', 'host-clocks', 'builds'],
    ...['bridge', 'version', 'clock', 'file-modes', 'sandbox', 'chromium', 'python'],
    ...['provider:test', 'default-model', 'secrets', 'references', 'settings', 'names', 'rate-limit', 'channels'],
  ]);
});

verifies('doctor/programs', 'whom commands run as, and how it stands with each tool server', async () => {
  for (const [isRoot, severity] of [
    [false, 'ok'],
    [true, 'warning'],
  ] as const) {
    const execBridge = new FakeBridge(
      createSystemCapability({ isRoot }),
      createCapability(execPort, createExecHandlers({ home: dir, keeper: new ProcessKeeper(() => {}) })),
    );
    expect(await diagnose('exec', { bridge: execBridge })).toMatchObject({ severity, message: expect.stringContaining('run as') });
  }
  expect(await diagnose('exec', withBridge())).toBeUndefined();

  await using server = await startOauthServer();
  await using mcpBridge = await createMcpBridge();
  await using gw = await createTestGateway({ bridge: mcpBridge.bridge, fetch: (url, { namedBy: _own, ...init }) => fetch(url, init) });
  const { client } = await gw.client();
  const servers = {
    well: toTestServerCommand(),
    named: toTestServerCommand('names'),
    waits: toTestServerCommand('plain'),
    dies: toTestServerCommand('dies'),
    away: { ...toTestServerCommand(), enabled: false },
    far: { url: server.url },
  };
  await client.call('config.patch', { patch: { tools: { mcpServers: servers } } });
  for (const name of ['well', 'named', 'dies']) {
    const { hash = '' } = await waitForServerState(client, name, 'waiting');
    await client.call('mcp.approve', { name, hash });
    await waitForServerState(client, name, name === 'dies' ? 'failed' : 'ready');
  }
  await waitForServerState(client, 'far', 'unauthorized');
  const { by } = await runDoctor(gw);
  for (const [name, severity, message] of [
    ['well', 'ok', /with 9 tools/],
    ['named', 'info', /bad name is skipped/],
    ['waits', 'warning', /waiting for approval/],
    ['dies', 'error', /exited with code 3/],
    ['away', 'info', /Off/],
    ['far', 'warning', /needs authorization/],
  ] as const)
    expect(by(`tool-server:${name}`), name).toMatchObject({ severity, message: expect.stringMatching(message) });
});

verifies('local-models/doctor', 'reports local model runners, models that cannot run, and free space', async () => {
  const nothing = (): Promise<never> => Promise.reject(new Error('not asked for'));
  const model = (problem: string | null) => ({
    ...{ id: 'perch/tiny/tiny.gguf', backend: 'gguf' as const, sizeBytes: 1, name: null, contextWindow: null, source: null, problem },
  });
  const [missing, ready, unsupported] = [
    { state: 'missing' as const, version: null },
    { state: 'ready' as const, version: '2' },
    { state: 'unsupported' as const, version: null },
  ];
  const outdated = { state: 'outdated' as const, version: '1' };
  const cases = [
    [[], missing, 9e9, 'ok', /No runtime.* installed; no models downloaded; 8\.4 GB free/],
    [[model(null)], ready, 9e9, 'ok', /GGUF models run with runtime 2.*1 model downloaded/],
    [[model(null)], ready, 1e9, 'info', /0\.9 GB free/],
    [[model(null)], missing, 9e9, 'warning', /need runtime 2, which is not installed/],
    [[model(null)], outdated, 9e9, 'warning', /need runtime 2, but version 1 is installed/],
    [[model(null)], unsupported, 9e9, 'warning', /has no build for it/],
    [[model('it is cut short')], ready, 9e9, 'warning', /tiny\.gguf can’t run: it is cut short/],
  ] as const;
  for (const [models, gguf, freeBytes, severity, message] of cases) {
    const room = {
      freeBytes,
      gguf: { ...gguf, package: 'runtime', wanted: '2' },
      mlx: 'MLX requires a Mac',
      install: 'perch models runtime install',
    };
    const check = await diagnose('local-models', {
      bridge: new FakeBridge(
        createSystemCapability(),
        createCapability(ggufPort, { 'gguf.list': async () => ({ models: [...models] }), 'gguf.generate': nothing, 'gguf.embed': nothing }),
        createCapability(modelDownloadsPort, {
          ...{ 'downloads.start': nothing, 'downloads.list': nothing, 'downloads.watch': nothing },
          ...{ 'downloads.cancel': nothing, 'downloads.delete': nothing, 'downloads.room': async () => room },
        }),
      ),
    });
    expect(check).toMatchObject({ severity, message: expect.stringMatching(message) as string });
  }
});

verifies('mirror/gone', 'the doctor says that a mirror has stopped, and how to go on; and which files are left alone', async () => {
  await using there = await createRealBridge();
  const both = new FakeBridge(createSystemCapability(), createCapability(filesPort, createWorkspaceHandlers({ home: there.home })));
  const folder = join(there.home, 'workspaces', 'main');
  await using gw = await createTestGateway({ bridge: both });
  const { client } = await gw.client();
  const state = async () => (await client.call('workspace.mirrors', {})).mirrors.find(({ workspace }) => workspace === 'main');
  const check = async () => (await runDoctor(gw)).by('mirror');
  for (const path of ['a', 'b']) await client.call('workspace.write', { path, content: path });
  await waitFor(() => existsSync(join(folder, 'b')), 'the files are in the folder');
  await waitFor(async () => (await state())?.state === 'synced');
  expect(await check()).toMatchObject({ severity: 'ok' });
  mkdirSync(join(folder, 'large'));
  writeFileSync(join(folder, 'large', 'file'), Buffer.alloc(8 * 1024 * 1024 + 1));
  await waitFor(async () => (await state())?.skippedCount === 1, 'it is left alone');
  expect(await check()).toMatchObject({
    severity: 'warning',
    message: expect.stringContaining('main/large/file (it is larger than 8 MiB)'),
  });
  rmSync(folder, { recursive: true, maxRetries: 20, retryDelay: 50 });
  both.detach();
  both.attach();
  await waitFor(async () => (await state())?.state === 'stopped', 'the mirror stops');
  expect(await check()).toMatchObject({
    severity: 'error',
    message: expect.stringContaining(folder),
    fixHint: expect.stringContaining('workspace.resume'),
  });
  expect(await client.call('workspace.resume', { gone: 'restore' })).toMatchObject({ mirror: { state: 'synced' } });
  expect(readdirSync(folder)).toEqual(['a', 'b']);
  expect(await check()).toMatchObject({ severity: 'ok' });
});

verifies('workspace.mirrors/states', 'without a bridge there are none', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  expect(await client.call('workspace.mirrors', {})).toEqual({ mirrors: [] });
  await expect(client.call('workspace.resume', { gone: 'remove' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

verifies('desktop/none', 'the doctor says why no picture of the screen can be taken', async () => {
  const nothing = (): Promise<never> => Promise.reject(new Error('not asked for'));
  for (const [problem, severity] of [
    [null, 'ok'],
    ['No screen found', 'info'],
  ] as const) {
    const handlers = { 'desktop.screenshot': nothing, 'desktop.windows': nothing, 'desktop.check': async () => ({ problem }) };
    const check = await diagnose('desktop', { bridge: new FakeBridge(createSystemCapability(), createCapability(desktopPort, handlers)) });
    expect(check).toMatchObject({ severity, message: expect.stringContaining(problem ?? 'can capture the desktop') });
  }
});

verifies('doctor/checks', 'faults of the browser’s storage', async () => {
  const forgets = withEnvironment({ persisted: async () => false });
  expect(await diagnose('storage-persistent', forgets)).toMatchObject({ severity: 'warning' });
  // Then it is a copy.
  expect(await diagnose('storage-persistent', { ...forgets, ...withSync() })).toMatchObject({ severity: 'info' });
  expect(await diagnose('storage-persistent', {})).toMatchObject({ severity: 'info' });
  // Nobody can ask the managed Chromium for anything in a page.
  const managed = withEnvironment({ persisted: async () => false, host: () => 'headless' });
  expect(await diagnose('storage-persistent', forgets)).toHaveProperty('fixHint');
  expect(await diagnose('storage-persistent', { ...managed, ...withSync() })).not.toHaveProperty('fixHint');
  for (const [usage, severity] of [
    [89, 'ok'],
    [91, 'warning'],
    [99, 'error'],
  ] as const)
    expect(await diagnose('storage-room', withEnvironment({ estimate: async () => ({ usage, quota: 100 }) }))).toMatchObject({ severity });
  // The fixed figure that Chromium reports to every site does not prove that there is free space.
  const GIB = 1024 ** 3;
  for (const more of [10 * GIB, 3 * GIB])
    expect(await diagnose('storage-room', withEnvironment({ estimate: async () => ({ usage: 5000, quota: 5000 + more }) }))).toMatchObject({
      severity: 'info',
      message: 'The browser doesn’t report how much storage is available.',
    });
  for (const quota of [10 * GIB, 12 * GIB + 5000])
    expect(await diagnose('storage-room', withEnvironment({ estimate: async () => ({ usage: 5000, quota }) }))).toMatchObject({
      severity: 'ok',
    });
  const full = (): Promise<never> => Promise.reject(new Error('The browser has no room left'));
  const broken = await createVaultWith('doctor-full', (real) => ({ check: full, logs: { ...real.logs, append: full } }));
  await using gw = await createTestGateway(broken);
  const { by, summary } = await runDoctor(gw);
  expect(by('vault')).toMatchObject({ severity: 'critical', message: 'Saving fails: The browser has no room left' });
  expect(by('log')).toMatchObject({ severity: 'warning' });
  expect(summary).toMatchObject({ warnings: 1, failed: 1 });
});

verifies('doctor/checks', 'faults of the journal, its disk, and of what devices wrote', async () => {
  for (const [state, severity] of [
    ['away', 'warning'],
    ['failing', 'error'],
    ['outdated', 'error'],
    ['catching-up', 'info'],
    ['off', 'info'],
  ] as const)
    expect(await diagnose('sync', withSync({ state, pending: 3 })), state).toMatchObject({ severity });
  expect(await diagnose('sync', withSync({ state: 'failing', problem: 'The disk is full' }))).toMatchObject({
    message: expect.stringMatching(/^The disk is full/) as string,
  });
  expect(await diagnose('schema', withSync({}, { schema: 99 }))).toMatchObject({ severity: 'error' });
  expect(await diagnose('schema', withSync({ state: 'outdated' }))).toMatchObject({ severity: 'error' });
  const notice = { at: Date.now(), message: 'The journal was damaged and is filled again' };
  expect(await diagnose('journal', withSync({}, { notices: [notice] }))).toMatchObject({ severity: 'warning', message: notice.message });
  expect(await diagnose('journal', withSync({}, { notices: [{ ...notice, at: 1 }] }))).toMatchObject({ severity: 'ok' });
  expect(await diagnose('disk', withSync({}, { free: 60.5 * 1024 ** 3 }))).toMatchObject({ severity: 'ok', message: '60.5 GB free.' });
  expect(await diagnose('disk', withSync({}, { free: 500 * 1024 ** 2 }))).toMatchObject({ severity: 'warning' });
  expect(await diagnose('disk', withSync({}, { free: 50 * 1024 ** 2 }))).toMatchObject({
    severity: 'error',
    message: expect.stringContaining('50 MB') as string,
  });
  const copies = await createVaultWith('doctor-conflicts', (real) => ({
    conflicts: {
      ...real.conflicts,
      ids: async () => ['memories/m/000000000000001-0000-b'],
    },
  }));
  expect(await diagnose('conflicts', copies)).toMatchObject({
    severity: 'warning',
    message: expect.stringMatching(/^1 sync conflict/) as string,
  });
});

verifies('doctor/checks', 'a change that another host has dated in the future', async () => {
  const clock = new FakeClock(1_000_000_000_000);
  const vault = await openVault({ name: 'doctor-ahead', clock, onclosed: () => {} });
  await vault.memories.add({ id: 'm', text: 'x', category: 'fact', createdAt: 1 });
  expect(await diagnose('host-clocks', { vault: { ...vault, close: async () => {} }, clock })).toMatchObject({ severity: 'ok' });
  // As if this host's clock had been corrected: the vault has later times.
  clock.jump(-10 * 60_000);
  expect(await diagnose('host-clocks', { vault, clock })).toMatchObject({
    severity: 'warning',
    message: expect.stringContaining('10 minutes') as string,
  });
});

verifies('doctor/checks', 'pages, hosts and a bridge of other builds', async () => {
  expect(await diagnose('builds', withSync({}, {}, [createHost({ build: 'old-build' })]))).toMatchObject({
    ...{ severity: 'warning', message: expect.stringContaining('Chrome 156 on Linux runs old-build') as string },
  });
  const page = async (gw: TestGateway): Promise<void> => {
    const link = gw.link({ principal: 'app:local' });
    const answered = new Promise<void>((done) => link.receive({ message: (text) => text.includes('"res"') && done(), close: () => {} }));
    const params = { minProtocol: 3, maxProtocol: 3, client: { id: 'perch-app', version: 'older' } };
    link.send(JSON.stringify({ type: 'req', id: '1', method: 'connect', params }));
    await answered;
  };
  expect(await diagnose('builds', {}, page)).toMatchObject({
    severity: 'warning',
    message: expect.stringContaining('a tab runs older') as string,
  });
  expect(await diagnose('bridge', withBridge({ build: 'newer' }))).toMatchObject({
    severity: 'warning',
    message: expect.stringContaining('newer') as string,
  });
  expect(await diagnose('version', withBridge({ version: '9.9.9' }))).toMatchObject({ severity: 'warning' });
  expect(await diagnose('bridge', {})).toMatchObject({ severity: 'info' });
});

verifies('doctor/checks', 'what is wrong on the bridge’s machine', async () => {
  for (const [ahead, severity] of [
    [0, 'ok'],
    [60_000, 'warning'],
    [-3_600_000, 'error'],
  ] as const)
    expect(await diagnose('clock', withBridge({ now: () => Date.now() + ahead })), String(ahead)).toMatchObject({ severity });
  if (process.platform !== 'win32') {
    const home = await Home.open({ dir: join(dir, 'open') });
    await home.token();
    chmodSync(home.tokenFile, 0o640);
    expect(await diagnose('file-modes', withBridge({ home }))).toMatchObject({
      ...{
        severity: 'error',
        message: expect.stringContaining(`${home.tokenFile} (mode 640)`) as string,
        fixHint: `Run: chmod 600 '${home.tokenFile}'`,
      },
    });
    chmodSync(home.tokenFile, 0o600);
    for (const file of [home.accessFile, home.passwordFile]) {
      writeFileSync(file, '{}', { mode: 0o600 });
      chmodSync(file, 0o644);
      expect(await diagnose('file-modes', withBridge({ home }))).toMatchObject({ severity: 'error', fixHint: `Run: chmod 600 '${file}'` });
      chmodSync(file, 0o600);
    }
    chmodSync(home.dir, 0o755);
    expect(await diagnose('file-modes', withBridge({ home }))).toMatchObject({
      severity: 'error',
      fixHint: `Run: chmod 700 '${home.dir}'`,
    });
  }
  const keyed = await Home.open({ dir: join(dir, 'keyed') });
  expect(await diagnose('vault-key', withBridge({ home: keyed }))).toBeUndefined();
  for (const [text, severity] of [
    ['A'.repeat(43), 'info'],
    [`keyring PERCH_VAULT_KEY_${'0'.repeat(16)}`, 'ok'],
  ] as const) {
    writeFileSync(join(keyed.dir, 'vault.key'), `${text}\n`, { mode: 0o600 });
    expect(await diagnose('vault-key', withBridge({ home: keyed })), text).toMatchObject({ severity });
  }
  expect(await diagnose('sandbox', withBridge({ isRoot: true }))).toMatchObject({ severity: 'warning' });
  expect(await diagnose('sandbox', withBridge({ isRoot: true, mode: 'tab' }))).toBeUndefined();
  const none = { findBrowser: async () => null };
  const named = {
    findBrowser: () => Promise.reject(new BrowserNotFoundError('PERCH_CHROMIUM names /no, which is no program that can be run')),
  };
  expect(await diagnose('chromium', withBridge(none))).toMatchObject({ severity: 'error' });
  expect(await diagnose('chromium', withBridge({ ...none, mode: 'tab' }))).toMatchObject({ severity: 'info' });
  expect(await diagnose('chromium', withBridge(named))).toMatchObject({
    severity: 'error',
    message: expect.stringContaining('/no') as string,
  });
  expect(await diagnose('python', withBridge({ env: { PATH: '/nowhere' } }))).toMatchObject({
    severity: 'info',
    message: expect.stringContaining('Python is not installed') as string,
  });
});

verifies('doctor/checks', 'reports available voices: network, system, or none', async () => {
  const voice = (id: string) => ({ id, name: 'A', language: 'en-US', gender: 'Neutral' as const });
  const speaking = (...ids: string[]) => ({
    bridge: new FakeBridge(
      createSystemCapability(),
      createCapability(speechPort, {
        'speech.voices': async () => ({ voices: ids.map(voice) }),
        'speech.speak': () => Promise.reject(new Error('it is not asked to')),
      }),
    ),
  });
  expect(await diagnose('speech', speaking('en-US-AriaNeural', 'system:espeak-ng:en'))).toMatchObject({ severity: 'ok' });
  expect(await diagnose('speech', speaking('system:espeak-ng:en'))).toMatchObject({
    severity: 'ok',
    message: expect.stringContaining('can’t be reached') as string,
  });
  expect(await diagnose('speech', speaking())).toMatchObject({ severity: 'info', fixHint: expect.stringContaining('espeak-ng') as string });
});

verifies('doctor/checks', 'providers that want a key or cannot be reached, and models that there are not', async () => {
  const answers = (status: number) => ({ models: () => new Response('{}', { status }) });
  expect(await diagnose('provider:test', answers(401))).toMatchObject({
    severity: 'error',
    fixHint: expect.stringContaining('API key') as string,
  });
  expect(await diagnose('provider:test', answers(503))).toMatchObject({ severity: 'error' });
  expect(await diagnose('provider:test', {})).toMatchObject({ severity: 'ok' });
  expect(await diagnose('provider:test', {}, patchConfig({ providers: { test: { enabled: false } } }))).toBeUndefined();
  expect(await diagnose('default-model', {}, patchConfig({ chat: { model: 'gone/model' } }))).toMatchObject({ severity: 'error' });
  expect(await diagnose('default-model', {}, patchConfig({ chat: { model: 'test/other' } }))).toMatchObject({ severity: 'warning' });
  expect(await diagnose('default-model', {}, patchConfig({ chat: { model: null } }))).toMatchObject({ severity: 'info' });
  for (const [status, message] of [
    [503, /^The model of agent helper is test\/scripted, but .* can’t be reached\.$/],
    [401, / needs an API key\.$/],
  ] as const) {
    const away = patchConfig({ agents: { helper: { model: 'test/scripted' } } });
    expect(await diagnose('agent-model:helper', answers(status), away)).toMatchObject({
      severity: 'warning',
      message: expect.stringMatching(message) as string,
    });
    expect(await diagnose('default-model', answers(status))).toMatchObject({ severity: 'warning' });
  }
  expect(await diagnose('agent-model:helper', {}, patchConfig({ agents: { helper: { model: 'test/scripted' } } }))).toMatchObject({
    severity: 'ok',
  });
  const agent = patchConfig({ agents: { helper: { model: 'gone/model' } } });
  expect(await diagnose('agent-model:helper', {}, agent)).toMatchObject({
    severity: 'error',
    message: expect.stringContaining('helper') as string,
    fixHint: expect.stringMatching(/^Set another model in agents\.helper\.model with `config\.set`, or /) as string,
  });
  const unlisted = patchConfig({ agents: { helper: { model: 'test/other' } } });
  expect(await diagnose('agent-model:helper', {}, unlisted)).toMatchObject({
    severity: 'warning',
    fixHint: 'Set another model in agents.helper.model with `config.set`.',
  });
  expect((await diagnose('default-model', {}, patchConfig({ chat: { model: 'gone/model' } })))?.fixHint).toMatch(
    /default model in Settings/,
  );
});

verifies('doctor/checks', 'keys that cannot be read, sections that do not fit, and a rate limit that is off', async () => {
  const lost = await createVaultWith('doctor-lost', (real) => ({
    secrets: {
      ...real.secrets,
      get: (name) => (name === 'providers.mine.apiKey' ? Promise.reject(new Error('sealed with another key')) : real.secrets.get(name)),
    },
  }));
  await lost.vault.config.write({ providers: { mine: { baseUrl: 'http://mine.test/v1', apiKey: '***' } }, bindings: 'of a later build' });
  await using gw = await createTestGateway({ ...lost, useGuide: true });
  const { by } = await runDoctor(gw);
  expect(by('secrets')).toMatchObject({ severity: 'error', message: expect.stringContaining('providers.mine.apiKey') as string });
  expect(by('settings')).toMatchObject({ severity: 'error', message: expect.stringContaining('bindings') as string });
  const off = patchConfig({ gateway: { rateLimit: { perMinute: 0, burst: 1 } } });
  expect(await diagnose('rate-limit', {}, off)).toMatchObject({ severity: 'warning' });
});

verifies('doctor/checks', 'settings that nothing reads, and names that no tool has', async () => {
  const knownIds = {
    chat: { systemPrompt: 'x' },
    channels: { mine: { ofItsPlatform: 1, tools: ['web_*'] } },
    bindings: [{ pattern: '*', agentId: 'main' }],
  };
  const tools = { policies: { '*': 'ask', exec: 'auto' }, webFetch: { allow: ['nas.local'] } };
  const fits = patchConfig({ ...knownIds, tools, agents: { helper: { tools: { allow: ['memory_*', 'exec'], deny: ['*'] } } } });
  expect(await diagnose('names', {}, fits)).toMatchObject({ severity: 'ok' });
  // `config.patch` refuses such settings; the file may have them.
  await using gw = await createTestGateway();
  await gw.vault.config.write({
    chatt: { model: 'x' },
    chat: { sistemPrompt: 'y' },
    tools: { policies: { exce: 'deny' }, webFetch: { allowed: [] } },
    agents: { helper: { tools: { allow: ['exec', 'web-fetch'], deny: ['rm_*'] } } },
    channels: { mine: { tools: ['spek'] } },
  });
  expect(await diagnose('names', { vault: gw.vault, useGuide: true })).toMatchObject({
    severity: 'info',
    message:
      'Unknown settings: chat.sistemPrompt, tools.webFetch.allowed, chatt. ' +
      'Unknown tools: web-fetch (agents.helper.tools.allow), rm_* (agents.helper.tools.deny), spek (channels.mine.tools), exce (tools.policies).',
    fixHint: expect.stringContaining('`config.set`') as string,
  });
});

verifies('doctor/bounded', 'a check that throws or hangs is reported as such, and the others complete', async () => {
  const clock = new FakeClock();
  const hangs = withEnvironment({
    persisted: () => new Promise(() => {}),
    estimate: () => Promise.reject(new Error('the browser says no')),
  });
  await using gw = await createTestGateway({ ...hangs, clock });
  const before = clock.pending();
  const waits = clock.waitForTimer(12_000);
  const examined = runDoctor(gw);
  await waits;
  // All but the hanging one have ended.
  await waitFor(() => clock.pending() <= before);
  clock.advance(12_000);
  const { by } = await examined;
  expect(by('storage-persistent')).toMatchObject({ severity: 'warning', message: 'This check failed: No response within 12 s' });
  expect(by('storage-room')).toMatchObject({ severity: 'warning', message: 'This check failed: the browser says no' });
  expect(by('vault')).toMatchObject({ severity: 'ok' });
});

/** `perch …` as the command line knows them. */
const listCommands = (command: Command): string[] => [
  command.name(),
  ...command.commands.flatMap((child) => listCommands(child).map((name) => `${command.name()} ${name}`)),
];

const withCluster = (change: Partial<ClusterReport> = {}, seen: Partial<ServersReport> = {}): { sync: FakeSync } => {
  const parts = withSync();
  const follower = { name: 'n2', current: true, offline: false, lag: 0 };
  const stream = { name: 'S', replicas: 3, bytes: 1, maxBytes: null, messages: 1, leader: 'n1', followers: [follower] };
  parts.sync.clusterFacts = {
    ...{ servers: ['nats://n1'], state: 'shared', problem: null, unsent: 0 },
    seen: {
      ...{ server: 'n1', cluster: 'c', streams: [stream], wantedReplicas: 3, behind: 0, storage: { used: 1, limit: null }, skew: 0 },
      ...{ hearsAll: false, othersStreams: null, ...seen },
    },
    ...change,
  };
  return parts;
};

verifies('vault.cluster/doctor', 'checks the cluster report of the bridge, and says nothing without a cluster', async () => {
  await using alone = await createTestGateway(withSync());
  expect((await runDoctor(alone)).checks.filter(({ id }) => id.startsWith('cluster'))).toEqual([]);
  await using well = await createTestGateway(withCluster());
  const ids = (await runDoctor(well)).checks.filter(({ id }) => id.startsWith('cluster'));
  expect(ids.map(({ id, severity }) => [id, severity])).toEqual(
    ['', '-behind', '-replicas', '-storage', '-clock', '-rights'].map((rest) => [`cluster${rest}`, 'ok']),
  );
  const follower = { name: 'n2', current: true, offline: false, lag: 0 };
  const stream = { name: 'S', replicas: 3, bytes: 1, maxBytes: null, messages: 1, leader: 'n1', followers: [follower] };
  const problem = (code: NonNullable<ClusterReport['problem']>['code']): Partial<ClusterReport> => ({
    ...{ state: 'apart', seen: null },
    problem: { code, message: 'It is so' },
  });
  const cases: [id: string, severity: string, message: string, cluster: ReturnType<typeof withCluster>][] = [
    ['cluster', 'warning', 'It is so. Changes are kept', withCluster(problem('unreachable'))],
    ...(['refused', 'unfit', 'full', 'failed'] as const).map((code): (typeof cases)[number] => [
      ...(['cluster', 'error', 'It is so.'] as const),
      withCluster(problem(code)),
    ]),
    ['cluster', 'info', 'Connecting to nats://n1…', withCluster({ state: 'connecting', seen: null })],
    ['cluster-behind', 'info', '5 changes to receive, 1,000 or more changes to send', withCluster({ unsent: 1000 }, { behind: 5 })],
    [
      'cluster-replicas',
      'ok',
      'stored on one server',
      withCluster({}, { wantedReplicas: 1, streams: [{ ...stream, replicas: 1, leader: null, followers: [] }] }),
    ],
    [
      'cluster-replicas',
      'warning',
      'S has 1 of 3 replicas',
      withCluster({}, { streams: [{ ...stream, replicas: 1, leader: null, followers: [] }] }),
    ],
    ['cluster-replicas', 'error', 'No leader for S', withCluster({}, { streams: [{ ...stream, leader: null }] })],
    [
      'cluster-replicas',
      'warning',
      'n2 is offline',
      withCluster({}, { streams: [{ ...stream, followers: [{ ...follower, offline: true }] }] }),
    ],
    [
      'cluster-replicas',
      'warning',
      'Some replicas are not current: n2 is behind by 5,002. If',
      withCluster({}, { streams: [5000, 2].map((lag) => ({ ...stream, followers: [{ ...follower, current: false, lag }] })) }),
    ],
    ['cluster-storage', 'ok', 'The account uses 1 MB of 10 MB', withCluster({}, { storage: { used: 1e5, limit: 10 * 1024 ** 2 } })],
    ['cluster-storage', 'warning', 'The account uses 9 MB of 10 MB', withCluster({}, { storage: { used: 9e6, limit: 10 * 1024 ** 2 } })],
    [
      'cluster-storage',
      'error',
      'S uses 10 MB of 10 MB',
      withCluster({}, { streams: [{ ...stream, bytes: 10 * 1024 ** 2, maxBytes: 10 * 1024 ** 2 }] }),
    ],
    ['cluster-clock', 'warning', 'differ by 6 s', withCluster({}, { skew: 6000 })],
    ['cluster-clock', 'error', 'differ by 120 s', withCluster({}, { skew: 120_000 })],
    ['cluster-rights', 'info', 'listen to everything', withCluster({}, { hearsAll: true, othersStreams: 0 })],
    ['cluster-rights', 'warning', 'read 2 streams of others', withCluster({}, { othersStreams: 2 })],
  ];
  for (const [id, severity, message, cluster] of cases)
    expect(await diagnose(id, cluster), message).toMatchObject({ severity, message: expect.stringContaining(message) as string });
});

const PAGE_PATHS: Record<string, string> = { Settings: 'settings', Devices: 'devices' };

verifies('doctor/hints', 'each failing check has a hint, whose commands, pages, methods and settings exist', () => {
  const failing = allChecks.filter(({ severity }) => severity !== 'ok' && severity !== 'info');
  expect(failing.length).toBeGreaterThan(20);
  const program = createProgram();
  const knownCommands = listCommands(program);
  const routes = readdirSync(join(import.meta.dirname, '../../../routes/(app)'));
  const sections = ['Storage', 'Providers', 'Default model'];
  for (const { id, fixHint = '' } of failing) expect(fixHint, id).not.toBe('');
  for (const { fixHint = '' } of allChecks) {
    for (const [, quoted = ''] of fixHint.matchAll(/`([^`]+)`/g)) {
      // `npm` commands are for contributors.
      expect(quoted).not.toMatch(/^npm /);
      if (quoted.startsWith('perch ')) {
        const words = quoted.split(' ');
        const command = words.slice(1).reduce<Command>((at, word) => at.commands.find((child) => child.name() === word) ?? at, program);
        const values = ['tab', ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)];
        const name = words.filter((word) => !word.startsWith('--') && !values.includes(word)).join(' ');
        expect(knownCommands, quoted).toContain(name);
        for (const option of words.filter((word) => word.startsWith('--')))
          expect(
            command.options.map(({ long }) => long),
            quoted,
          ).toContain(option);
      } else if (quoted in contracts) expect(contracts).toHaveProperty([quoted]);
      else {
        const [section = '', key = ''] = quoted.split('.');
        expect(settingsSchema.parse({}), quoted).toHaveProperty(section);
        expect(settingsSchema.safeParse({ [section]: { [key]: 'no such value' } }).success, quoted).toBe(false);
      }
    }
    for (const [, page = ''] of fixHint.matchAll(/\b(Settings|Devices)\b/g)) expect(routes).toContain(PAGE_PATHS[page]);
    for (const [, section = ''] of fixHint.matchAll(/Settings → ([A-Z][a-z]+(?: model)?)/g)) expect(sections).toContain(section);
  }
});
