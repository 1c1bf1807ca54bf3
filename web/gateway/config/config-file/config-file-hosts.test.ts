import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ContractParams, ContractResult } from '#shared/rpc/contract.ts';
import { configFilePort } from '#shared/ports/config-file-port.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { FakeSync } from '../../../../tests/support/fake-sync.ts';
import { createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { createRealBridge } from '../../../../tests/support/real-bridge.ts';

type HostBridge = Awaited<ReturnType<typeof createRealBridge>>;
type ConfigFileCalls = (typeof configFilePort)['calls'];

/** The port as a host calls it. */
const readConfigFile = ({ bridge }: HostBridge): Promise<ContractResult<ConfigFileCalls['config-file.read']>> =>
  bridge.call(configFilePort, 'config-file.read', {});
const writeConfigFile = (
  { bridge }: HostBridge,
  params: ContractParams<ConfigFileCalls['config-file.write']>,
): Promise<ContractResult<ConfigFileCalls['config-file.write']>> => bridge.call(configFilePort, 'config-file.write', params);

/** A host at this bridge with its own copy of the data; `prompt`: the value of `chat.systemPrompt` in it. */
async function createHost(hostBridge: HostBridge, prompt: string, sync: FakeSync) {
  const clock = new FakeClock();
  const gw = await createTestGateway({ useGuide: true, clock, sync, bridge: hostBridge.bridge });
  await gw.vault.config.write({ chat: { systemPrompt: prompt } });
  const { client, events } = await gw.client();
  await client.call('secrets.reload', {});
  return { gw, clock, client, events, look: () => clock.advance(3_000), dispose: () => gw[Symbol.asyncDispose]() };
}

/** The files of the configuration by name. In this order: while what was agreed on is the former, the one before it is there. */
function readConfigFiles({ home }: HostBridge): Map<string, string> {
  const files = new Map<string, string>();
  for (const name of ['config.json', 'config.writing.json', 'config.synced.json']) {
    try {
      files.set(name, readFileSync(join(home, name), 'utf8'));
    } catch {
      // The file does not exist.
    }
  }
  return files;
}

const toConfig = (prompt: string): Record<string, unknown> => ({ chat: { systemPrompt: prompt } });

for (const state of ['catching-up', 'outdated'] as const)
  verifies(['config-file/one', 'mirror/one'], `a host that is ${state} leaves files alone, and keeps them when it serves`, async () => {
    await using hostBridge = await createRealBridge();
    const text = '{\n  // mine\n  "chat": { "systemPrompt": "new" }\n}\n';
    writeFileSync(join(hostBridge.home, 'config.json'), text);
    writeFileSync(join(hostBridge.home, 'config.synced.json'), JSON.stringify(toConfig('new')));
    const sync = new FakeSync({ state, role: 'none' });
    const host = await createHost(hostBridge, 'old', sync);
    await host.client.call('workspace.write', { path: 'notes.md', content: 'old' });
    hostBridge.bridge.detach();
    hostBridge.bridge.attach();
    // So long that folders are looked through, too.
    host.clock.advance(30_000);
    // Behind whatever it asks of the file.
    await readConfigFile(hostBridge);
    await readConfigFile(hostBridge);
    expect(await host.client.call('config.file', {})).toMatchObject({ state: 'off' });
    expect(readConfigFiles(hostBridge).get('config.json')).toBe(text);
    const notes = join(hostBridge.home, 'workspaces', 'main', 'notes.md');
    expect(existsSync(notes)).toBe(false);
    await host.client.call('config.set', { key: 'chat.systemPrompt', value: 'newer' });
    sync.setState({ state: 'synced', role: 'holder' });
    const isUnchanged = (): boolean => readConfigFiles(hostBridge).get('config.json') === text.replace('new', 'newer');
    await waitFor(isUnchanged, 'the one that begins to serve does not wait');
    await waitFor(() => existsSync(notes), 'it mirrors too');
    await host.dispose();
  });

verifies('config-file/agreed', 'reading during a write returns one version, and the sync baseline of that version', async () => {
  await using hostBridge = await createRealBridge();
  const fileState = await readConfigFile(hostBridge);
  let { hash } = await writeConfigFile(hostBridge, { document: toConfig('0'), base: fileState.state === 'read' ? fileState.hash : null });
  for (let n = 1; n <= 10; n++) {
    let writing = true;
    const written = writeConfigFile(hostBridge, { document: toConfig(`${n}`), base: hash }).finally(() => (writing = false));
    while (writing) {
      const laterState = await readConfigFile(hostBridge);
      expect(laterState).toMatchObject({ state: 'read' });
      if (laterState.state === 'read') expect(laterState.synced).toEqual(laterState.document);
    }
    ({ hash } = await written);
  }
});

verifies(
  'config-file/agreed',
  'the gateway’s own write is not taken for an edit, even if it was interrupted before being recorded',
  async () => {
    await using hostBridge = await createRealBridge();
    const host = await createHost(hostBridge, 'first', new FakeSync());
    const file = (): string => readConfigFiles(hostBridge).get('config.json') ?? '';
    const noted = (): string => readConfigFiles(hostBridge).get('config.synced.json') ?? '';
    await waitFor(() => file().includes('first') && noted().includes('first'));
    void host.client.call('config.set', { key: 'chat.systemPrompt', value: 'second' });
    // State of the files after a bridge was killed between the two writes.
    let filesBefore = readConfigFiles(hostBridge);
    while (!(filesBefore.get('config.json')?.includes('second') && filesBefore.get('config.synced.json')?.includes('first'))) {
      await new Promise(setImmediate);
      filesBefore = readConfigFiles(hostBridge);
      expect(filesBefore.get('config.synced.json')).not.toContain('second');
    }
    await waitFor(() => noted().includes('second') && !readConfigFiles(hostBridge).has('config.writing.json'), 'the writing is over');
    hostBridge.bridge.detach();
    for (const [name, text] of filesBefore) writeFileSync(join(hostBridge.home, name), text);
    await host.client.call('config.set', { key: 'chat.systemPrompt', value: 'third' });
    hostBridge.bridge.attach();
    await waitFor(() => file().includes('third') && noted().includes('third'), 'the file has what was acknowledged');
    expect((await host.client.call('config.get', { key: 'chat.systemPrompt' })).value).toBe('third');
    // A person's edit still counts, even one that restores the interrupted change.
    await waitFor(() => !readConfigFiles(hostBridge).has('config.writing.json'));
    writeFileSync(join(hostBridge.home, 'config.json'), JSON.stringify(toConfig('second')));
    host.look();
    await waitFor(async () => (await host.client.call('config.get', { key: 'chat.systemPrompt' })).value === 'second');
    await host.dispose();
  },
);

verifies('config-file/agreed', 'a host whose copy is behind writes the file at the same time: what was acknowledged stays', async () => {
  await using hostBridge = await createRealBridge();
  const serving = await createHost(hostBridge, 'now', new FakeSync());
  const fileContains = (prompt: string): boolean => readConfigFiles(hostBridge).get('config.json')?.includes(`"${prompt}"`) ?? false;
  await waitFor(() => fileContains('now'));
  // This host was frozen while the other one wrote, and resumes: for a moment both count as the active host.
  const behind = await createHost(hostBridge, 'long ago', new FakeSync());
  const changes = (): number => serving.events.filter(({ event }) => event === 'config.changed').length;
  const before = changes();
  const ROUNDS = 5;
  for (let n = 1; n <= ROUNDS; n++) {
    await serving.client.call('config.set', { key: 'chat.systemPrompt', value: `${n}` });
    await waitFor(() => (serving.look(), fileContains(`${n}`)), 'the file says what the one that serves has');
    behind.look();
    for (let looks = 0; looks < 30; looks++) {
      serving.look();
      await readConfigFile(hostBridge);
    }
    expect((await serving.client.call('config.get', { key: 'chat.systemPrompt' })).value).toBe(`${n}`);
  }
  await behind.dispose();
  await waitFor(() => (serving.look(), fileContains(`${ROUNDS}`)), 'the file says what was acknowledged last');
  expect((await serving.client.call('config.get', { key: 'chat.systemPrompt' })).value).toBe(`${ROUNDS}`);
  expect(changes() - before).toBe(ROUNDS);
  await serving.dispose();
});
