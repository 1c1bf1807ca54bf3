import { closeSync, existsSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Perch, startPerch } from '../e2e/perch-process.ts';
import { connectOutside } from '../e2e/outside-client.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { waitForHosts } from './bridge-health.ts';
import { readPageCopy, findDifferences, readJournalVersions } from './vault-copies.ts';
import { ChaosMember } from './member.ts';

const GUIDE = 'guide/guide';

let perch: Perch;
let one: ChaosMember;
let two: ChaosMember;
beforeAll(async () => {
  perch = await startPerch();
  one = await ChaosMember.link('one', perch);
  two = await ChaosMember.link('two', perch);
  await waitForHosts(perch, 3);
});
afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await two?.[Symbol.asyncDispose]();
  await perch?.[Symbol.asyncDispose]();
});

/** Waits until both browsers and the journal have the same. */
async function waitUntilEqual(): Promise<void> {
  await waitForHosts(perch, 3);
  let unlike: string[] = [];
  const same = async (): Promise<boolean> => {
    const [a, b, journal] = await Promise.all([readPageCopy(one.page), readPageCopy(two.page), readJournalVersions(perch.home)]);
    if (!a || !b) return false;
    unlike = [...findDifferences(a.records, b.records), ...findDifferences(a.versions, journal), ...findDifferences(b.versions, journal)];
    return unlike.length === 0;
  };
  await waitFor(same, 'all copies to be equal', 20_000).catch((error: unknown) => {
    throw new Error(unlike.join('\n'), { cause: error });
  });
}

const getQuestions = async (member: ChaosMember | Perch, sessionId: string): Promise<unknown[]> => {
  const history = async (): Promise<{ messages: { role: string; content: unknown }[] }> => {
    if (member instanceof ChaosMember) return member.call('chat.history', { sessionId });
    using outside = await connectOutside(member);
    return await outside.client.call('chat.history', { sessionId });
  };
  return (await history()).messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
};

const runAlone = (member: ChaosMember): Promise<void> =>
  waitFor(async () => {
    const connectionState = await member.getConnectionState();
    return connectionState?.state === 'online' && connectionState.transport === 'browser' && connectionState.host?.uplink !== 'attached';
  }, `${member.name} to go on alone`);

verifies(
  ['vault.sync/converges', 'vault.heal/bridge-stopped'],
  'the bridge stops: two browsers go on alone, and are one again when it is back',
  async () => {
    await one.call('chat.send', { sessionId: 'shared', message: 'together', model: GUIDE });
    await waitUntilEqual();
    await Promise.all([one.isIntact(), two.isIntact()]);
    await perch.kill('SIGKILL');
    await Promise.all([runAlone(one), runAlone(two)]);
    await one.call('chat.send', { sessionId: 'by-one', message: 'one alone', model: GUIDE });
    await two.call('chat.send', { sessionId: 'by-two', message: 'two alone', model: GUIDE });
    await one.call('sessions.rename', { path: 'main/shared.jsonl', title: 'Named by one' });
    await two.call('sessions.rename', { path: 'main/shared.jsonl', title: 'Named by two' });
    expect((await one.getConnectionState())?.host?.sync.pending).toBeGreaterThan(0);
    await perch.restart();
    await waitUntilEqual();
    for (const where of [one, two, perch]) {
      expect(await getQuestions(where, 'by-one')).toEqual(['one alone']);
      expect(await getQuestions(where, 'by-two')).toEqual(['two alone']);
    }
    const { conflicts } = await one.call('sync.conflicts', {});
    expect(conflicts).toEqual([
      expect.objectContaining({
        kind: 'session',
        kept: expect.stringContaining('Named by two'),
        aside: expect.stringContaining('Named by one'),
      }),
    ]);
    const { sessions } = await two.call('sessions.list', {});
    expect(sessions.find(({ path }) => path === 'main/shared.jsonl')?.title).toBe('Named by two');
  },
);

verifies('vault.sync/fills', 'a browser’s data is cleared, and it is linked again', async () => {
  await two.wipe();
  await two.relink();
  await two.waitForSync();
  await waitUntilEqual();
  expect(await getQuestions(two, 'by-one')).toEqual(['one alone']);
  await two.page.getByText('one alone').first().waitFor();
});

verifies('vault.sync/fills', 'a browser’s data is cleared under the worker that serves, which writes on', async () => {
  const holder = (await one.getConnectionState())?.host?.sync.role === 'holder' ? one : two;
  await holder.call('chat.send', { sessionId: 'own', message: 'written by itself', model: GUIDE });
  await holder.waitForSync();
  const cdp = await holder.browser.context.newCDPSession(holder.page);
  await cdp.send('Storage.clearDataForOrigin', { origin: perch.url, storageTypes: 'indexeddb' });
  await holder.call('chat.send', { sessionId: 'own', message: 'and after', model: GUIDE });
  await waitUntilEqual();
  // Messages sent before it had read anything again are a separate branch.
  const { records } = (await readPageCopy(holder.page)) ?? { records: new Map<string, { content?: unknown }>() };
  const contents = [...records.values()].map((record) => (record as { content?: unknown }).content);
  expect(contents).toEqual(expect.arrayContaining(['written by itself', 'and after']));
  await holder.relink();
  await waitUntilEqual();
});

verifies('vault.sync/fills', 'the managed Chromium’s profile is deleted between two starts', async () => {
  await perch.kill('SIGTERM');
  rmSync(join(perch.home, 'profiles'), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  await one.closeTab();
  await two.closeTab();
  await perch.restart();
  // No other host can answer.
  await waitForHosts(perch, 1);
  expect(await getQuestions(perch, 'by-one')).toEqual(['one alone']);
  expect(await getQuestions(perch, 'shared')).toEqual(['together']);
  await one.openTab();
  await two.openTab();
  await waitUntilEqual();
});

const getNotices = async (): Promise<string[]> => {
  using outside = await connectOutside(perch);
  const { journal } = await outside.client.call('sync.status', {});
  return journal?.notices.map(({ message }) => message) ?? [];
};

verifies('vault.sync/journal-lost', 'the journal is deleted while everything runs', async () => {
  expect(await getNotices()).toEqual([]);
  const before = await readJournalVersions(perch.home);
  for (const end of ['', '-wal', '-shm']) rmSync(join(perch.home, `journal.sqlite${end}`), { force: true });
  await one.call('chat.send', { sessionId: 'after-loss', message: 'kept all the same', model: GUIDE });
  await waitFor(() => existsSync(join(perch.home, 'journal.sqlite')), 'a new journal');
  await waitUntilEqual();
  const after = await readJournalVersions(perch.home);
  expect([...before.keys()].filter((key) => !after.has(key))).toEqual([]);
  expect(await getNotices()).toEqual([expect.stringMatching(/delet|gone|lost/i)]);
});

verifies(['vault.sync/journal-lost', 'vault.journal/damaged'], 'the journal is damaged while the bridge is stopped', async () => {
  const before = await readJournalVersions(perch.home);
  await perch.kill('SIGTERM');
  const file = join(perch.home, 'journal.sqlite');
  const size = statSync(file).size;
  const descriptor = openSync(file, 'r+');
  for (let at = 4096; at < size; at += 8192) writeSync(descriptor, Buffer.alloc(4096, 0x5a), 0, 4096, at);
  closeSync(descriptor);
  await perch.restart();
  await waitUntilEqual();
  const after = await readJournalVersions(perch.home);
  expect([...before.keys()].filter((key) => !after.has(key))).toEqual([]);
  expect((await getNotices()).at(-1)).toMatch(/damaged/i);
  expect(await getQuestions(perch, 'after-loss')).toEqual(['kept all the same']);
});

verifies(
  'vault.heal/worker-killed',
  'a worker that is killed while it starts is started again by its page',
  async () => {
    const devtools = await one.browser.devtools();
    const filter = [{ type: 'shared_worker', exclude: false }];
    const { targetInfos } = await devtools.send('Target.getTargets', { filter });
    const before = new Set(targetInfos.map(({ targetId }) => targetId));
    let next: string | undefined;
    devtools.on('Target.attachedToTarget', ({ targetInfo: { targetId } }) => (next ??= before.has(targetId) ? undefined : targetId));
    // The next one stops before its first line, and so says nothing of itself.
    await devtools.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter });
    await one.browser.killSharedWorkers(perch.url);
    await waitFor(() => next !== undefined, 'the next worker to start');
    await devtools.send('Target.closeTarget', { targetId: next ?? '' });
    await devtools.send('Target.setAutoAttach', { autoAttach: false, waitForDebuggerOnStart: false, flatten: true });
    await waitForHosts(perch, 3);
    await one.waitForSync();
  },
  60_000,
);
