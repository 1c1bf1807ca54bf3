import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ParamsOf, ResultOf } from '#shared/rpc/contract.ts';
import { configFilePort } from '#shared/ports/config-file.ts';
import { verifies } from '../requirements.ts';
import { FakeClock } from '../support/clock.ts';
import { FakeSync } from '../support/fake-sync.ts';
import { testGateway, until } from '../support/gateway.ts';
import { realBridge } from '../support/real-bridge.ts';

type There = Awaited<ReturnType<typeof realBridge>>;
type Calls = (typeof configFilePort)['calls'];

/** The port as a host calls it. */
const read = ({ bridge }: There): Promise<ResultOf<Calls['config-file.read']>> => bridge.call(configFilePort, 'config-file.read', {});
const write = ({ bridge }: There, params: ParamsOf<Calls['config-file.write']>): Promise<ResultOf<Calls['config-file.write']>> =>
  bridge.call(configFilePort, 'config-file.write', params);

/** A host at this bridge with its own copy of the data; `prompt`: the value of `chat.systemPrompt` in it. */
async function hostAt(there: There, prompt: string, sync: FakeSync) {
  const clock = new FakeClock();
  const gw = await testGateway({ useGuide: true, clock, sync, bridge: there.bridge });
  await gw.vault.config.write({ chat: { systemPrompt: prompt } });
  const { client, events } = await gw.client();
  await client.call('secrets.reload', {});
  return { gw, clock, client, events, look: () => clock.advance(3_000), dispose: () => gw[Symbol.asyncDispose]() };
}

/** The files of the configuration by name. In this order: while what was agreed on is the former, the one before it is there. */
function filesOf({ home }: There): Map<string, string> {
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

const says = (prompt: string): Record<string, unknown> => ({ chat: { systemPrompt: prompt } });

for (const state of ['catching-up', 'outdated'] as const)
  verifies(['config-file/one', 'mirror/one'], `a host that is ${state} leaves files alone, and keeps them when it serves`, async () => {
    await using there = await realBridge();
    const text = '{\n  // mine\n  "chat": { "systemPrompt": "new" }\n}\n';
    writeFileSync(join(there.home, 'config.json'), text);
    writeFileSync(join(there.home, 'config.synced.json'), JSON.stringify(says('new')));
    const sync = new FakeSync({ state, role: 'none' });
    const host = await hostAt(there, 'old', sync);
    await host.client.call('workspace.write', { path: 'notes.md', content: 'old' });
    there.bridge.detach();
    there.bridge.attach();
    // So long that folders are looked through, too.
    host.clock.advance(30_000);
    // Behind whatever it asks of the file.
    await read(there);
    await read(there);
    expect(await host.client.call('config.file', {})).toMatchObject({ state: 'off' });
    expect(filesOf(there).get('config.json')).toBe(text);
    const notes = join(there.home, 'workspaces', 'main', 'notes.md');
    expect(existsSync(notes)).toBe(false);
    await host.client.call('config.set', { key: 'chat.systemPrompt', value: 'newer' });
    sync.set({ state: 'synced', role: 'holder' });
    const isKept = (): boolean => filesOf(there).get('config.json') === text.replace('new', 'newer');
    await until(isKept, 'the one that begins to serve does not wait');
    await until(() => existsSync(notes), 'it mirrors too');
    await host.dispose();
  });

verifies('config-file/agreed', 'reading during a write returns one version, and the sync baseline of that version', async () => {
  await using there = await realBridge();
  const told = await read(there);
  let { hash } = await write(there, { document: says('0'), base: told.state === 'read' ? told.hash : null });
  for (let n = 1; n <= 10; n++) {
    let writing = true;
    const written = write(there, { document: says(`${n}`), base: hash }).finally(() => (writing = false));
    while (writing) {
      const seen = await read(there);
      expect(seen).toMatchObject({ state: 'read' });
      if (seen.state === 'read') expect(seen.synced).toEqual(seen.document);
    }
    ({ hash } = await written);
  }
});

verifies(
  'config-file/agreed',
  'the gateway’s own write is not taken for an edit, even if it was interrupted before being recorded',
  async () => {
    await using there = await realBridge();
    const host = await hostAt(there, 'first', new FakeSync());
    const file = (): string => filesOf(there).get('config.json') ?? '';
    const noted = (): string => filesOf(there).get('config.synced.json') ?? '';
    await until(() => file().includes('first') && noted().includes('first'));
    void host.client.call('config.set', { key: 'chat.systemPrompt', value: 'second' });
    // State of the files after a bridge was killed between the two writes.
    let left = filesOf(there);
    while (!(left.get('config.json')?.includes('second') && left.get('config.synced.json')?.includes('first'))) {
      await new Promise(setImmediate);
      left = filesOf(there);
      expect(left.get('config.synced.json')).not.toContain('second');
    }
    await until(() => noted().includes('second') && !filesOf(there).has('config.writing.json'), 'the writing is over');
    there.bridge.detach();
    for (const [name, text] of left) writeFileSync(join(there.home, name), text);
    await host.client.call('config.set', { key: 'chat.systemPrompt', value: 'third' });
    there.bridge.attach();
    await until(() => file().includes('third') && noted().includes('third'), 'the file has what was acknowledged');
    expect((await host.client.call('config.get', { key: 'chat.systemPrompt' })).value).toBe('third');
    // A person's edit still counts, even one that restores the interrupted change.
    await until(() => !filesOf(there).has('config.writing.json'));
    writeFileSync(join(there.home, 'config.json'), JSON.stringify(says('second')));
    host.look();
    await until(async () => (await host.client.call('config.get', { key: 'chat.systemPrompt' })).value === 'second');
    await host.dispose();
  },
);

verifies('config-file/agreed', 'a host whose copy is behind writes the file at the same time: what was acknowledged stays', async () => {
  await using there = await realBridge();
  const serving = await hostAt(there, 'now', new FakeSync());
  const fileSays = (prompt: string): boolean => filesOf(there).get('config.json')?.includes(`"${prompt}"`) ?? false;
  await until(() => fileSays('now'));
  // This host was frozen while the other one wrote, and resumes: for a moment both count as the active host.
  const behind = await hostAt(there, 'long ago', new FakeSync());
  const changes = (): number => serving.events.filter(({ event }) => event === 'config.changed').length;
  const before = changes();
  const ROUNDS = 5;
  for (let n = 1; n <= ROUNDS; n++) {
    await serving.client.call('config.set', { key: 'chat.systemPrompt', value: `${n}` });
    await until(() => (serving.look(), fileSays(`${n}`)), 'the file says what the one that serves has');
    behind.look();
    for (let looks = 0; looks < 30; looks++) {
      serving.look();
      await read(there);
    }
    expect((await serving.client.call('config.get', { key: 'chat.systemPrompt' })).value).toBe(`${n}`);
  }
  await behind.dispose();
  await until(() => (serving.look(), fileSays(`${ROUNDS}`)), 'the file says what was acknowledged last');
  expect((await serving.client.call('config.get', { key: 'chat.systemPrompt' })).value).toBe(`${ROUNDS}`);
  expect(changes() - before).toBe(ROUNDS);
  await serving.dispose();
});
