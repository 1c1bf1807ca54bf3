import { closeSync, existsSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Perch, startPerch } from '../e2e/harness.ts';
import { connectOutside } from '../e2e/outside.ts';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { allReady } from './bridge.ts';
import { copyIn, differences, journalVersions } from './copies.ts';
import { Member } from './member.ts';

const GUIDE = 'guide/guide';

let perch: Perch;
let one: Member;
let two: Member;
beforeAll(async () => {
  perch = await startPerch();
  one = await Member.link('one', perch);
  two = await Member.link('two', perch);
  await allReady(perch, 3);
});
afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await two?.[Symbol.asyncDispose]();
  await perch?.[Symbol.asyncDispose]();
});

/** Waits until both browsers and the journal have the same. */
async function equal(): Promise<void> {
  await allReady(perch, 3);
  let unlike: string[] = [];
  const same = async (): Promise<boolean> => {
    const [a, b, journal] = await Promise.all([copyIn(one.page), copyIn(two.page), journalVersions(perch.home)]);
    if (!a || !b) return false;
    unlike = [...differences(a.records, b.records), ...differences(a.versions, journal), ...differences(b.versions, journal)];
    return unlike.length === 0;
  };
  await until(same, 'all copies to be equal', 20_000).catch((error: unknown) => {
    throw new Error(unlike.join('\n'), { cause: error });
  });
}

const questions = async (member: Member | Perch, sessionId: string): Promise<unknown[]> => {
  const history = async (): Promise<{ messages: { role: string; content: unknown }[] }> => {
    if (member instanceof Member) return member.call('chat.history', { sessionId });
    using outside = await connectOutside(member);
    return await outside.client.call('chat.history', { sessionId });
  };
  return (await history()).messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
};

const alone = (member: Member): Promise<void> =>
  until(async () => {
    const standing = await member.standing();
    return standing?.state === 'online' && standing.via === 'browser' && standing.host?.uplink !== 'attached';
  }, `${member.name} to go on alone`);

verifies(
  ['vault.sync/converges', 'vault.heal/bridge-stopped'],
  'the bridge stops: two browsers go on alone, and are one again when it is back',
  async () => {
    await one.call('chat.send', { sessionId: 'shared', message: 'together', model: GUIDE });
    await equal();
    await Promise.all([one.whole(), two.whole()]);
    await perch.kill('SIGKILL');
    await Promise.all([alone(one), alone(two)]);
    await one.call('chat.send', { sessionId: 'by-one', message: 'one alone', model: GUIDE });
    await two.call('chat.send', { sessionId: 'by-two', message: 'two alone', model: GUIDE });
    await one.call('sessions.rename', { path: 'main/shared.jsonl', title: 'Named by one' });
    await two.call('sessions.rename', { path: 'main/shared.jsonl', title: 'Named by two' });
    expect((await one.standing())?.host?.sync.pending).toBeGreaterThan(0);
    await perch.restart();
    await equal();
    for (const where of [one, two, perch]) {
      expect(await questions(where, 'by-one')).toEqual(['one alone']);
      expect(await questions(where, 'by-two')).toEqual(['two alone']);
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
  await two.synced();
  await equal();
  expect(await questions(two, 'by-one')).toEqual(['one alone']);
  await two.page.getByText('one alone').first().waitFor();
});

verifies('vault.sync/fills', 'a browser’s data is cleared under the worker that serves, which writes on', async () => {
  const holder = (await one.standing())?.host?.sync.role === 'holder' ? one : two;
  await holder.call('chat.send', { sessionId: 'own', message: 'written by itself', model: GUIDE });
  await holder.synced();
  const cdp = await holder.browser.context.newCDPSession(holder.page);
  await cdp.send('Storage.clearDataForOrigin', { origin: perch.url, storageTypes: 'indexeddb' });
  await holder.call('chat.send', { sessionId: 'own', message: 'and after', model: GUIDE });
  await equal();
  // Messages sent before it had read anything again are a separate branch.
  const { records } = (await copyIn(holder.page)) ?? { records: new Map<string, { content?: unknown }>() };
  const said = [...records.values()].map((record) => (record as { content?: unknown }).content);
  expect(said).toEqual(expect.arrayContaining(['written by itself', 'and after']));
  await holder.relink();
  await equal();
});

verifies('vault.sync/fills', 'the managed Chromium’s profile is deleted between two starts', async () => {
  await perch.kill('SIGTERM');
  rmSync(join(perch.home, 'profiles'), { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  await one.closeTab();
  await two.closeTab();
  await perch.restart();
  // No other host can answer.
  await allReady(perch, 1);
  expect(await questions(perch, 'by-one')).toEqual(['one alone']);
  expect(await questions(perch, 'shared')).toEqual(['together']);
  await one.openTab();
  await two.openTab();
  await equal();
});

const notices = async (): Promise<string[]> => {
  using outside = await connectOutside(perch);
  const { journal } = await outside.client.call('sync.status', {});
  return journal?.notices.map(({ message }) => message) ?? [];
};

verifies('vault.sync/journal-lost', 'the journal is deleted while everything runs', async () => {
  expect(await notices()).toEqual([]);
  const before = await journalVersions(perch.home);
  for (const end of ['', '-wal', '-shm']) rmSync(join(perch.home, `journal.sqlite${end}`), { force: true });
  await one.call('chat.send', { sessionId: 'after-loss', message: 'kept all the same', model: GUIDE });
  await until(() => existsSync(join(perch.home, 'journal.sqlite')), 'a new journal');
  await equal();
  const after = await journalVersions(perch.home);
  expect([...before.keys()].filter((key) => !after.has(key))).toEqual([]);
  expect(await notices()).toEqual([expect.stringMatching(/delet|gone|lost/i)]);
});

verifies(['vault.sync/journal-lost', 'vault.journal/damaged'], 'the journal is damaged while the bridge is stopped', async () => {
  const before = await journalVersions(perch.home);
  await perch.kill('SIGTERM');
  const file = join(perch.home, 'journal.sqlite');
  const size = statSync(file).size;
  const descriptor = openSync(file, 'r+');
  for (let at = 4096; at < size; at += 8192) writeSync(descriptor, Buffer.alloc(4096, 0x5a), 0, 4096, at);
  closeSync(descriptor);
  await perch.restart();
  await equal();
  const after = await journalVersions(perch.home);
  expect([...before.keys()].filter((key) => !after.has(key))).toEqual([]);
  expect((await notices()).at(-1)).toMatch(/damaged/i);
  expect(await questions(perch, 'after-loss')).toEqual(['kept all the same']);
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
    await until(() => next !== undefined, 'the next worker to start');
    await devtools.send('Target.closeTarget', { targetId: next ?? '' });
    await devtools.send('Target.setAutoAttach', { autoAttach: false, waitForDebuggerOnStart: false, flatten: true });
    await allReady(perch, 3);
    await one.synced();
  },
  60_000,
);
