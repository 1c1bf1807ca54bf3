import { openDB } from 'idb';
import { expect, test, vi } from 'vitest';
import type { MessageRecord } from './chat-records.ts';
import { storeAnswer, storeQuestion, TEST_VAULT_KEY, newMessage, newRun, newSession, createTestVault } from './fixture.ts';

/** A session with one long branch. */
async function createLongSession(length: number) {
  const vault = await createTestVault();
  const question = await storeQuestion(vault, 'm0');
  const messages: MessageRecord[] = [];
  for (let at = 1, parent = question; at < length; at++) messages.push((parent = newMessage(`m${at}`, parent, { timestamp: 1_000 + at })));
  await vault.runs.finish({ runId: 'run-m0', status: 'done', endedAt: 5_000, messages });
  return vault;
}

const getIds = (messages: MessageRecord[]): string[] => messages.map(({ id }) => id);

test('pages go up the branch without a gap, and say when there is no more', async () => {
  await using vault = await createLongSession(10);
  const pages: string[][] = [];
  for (let before: string | undefined, more = true; more;) {
    const page = await vault.messages.branch(TEST_VAULT_KEY, { limit: 4, ...(before ? { before } : {}) });
    pages.push(getIds(page.messages));
    ({ more } = page);
    before = page.messages[0]?.id;
  }
  expect(pages).toEqual([
    ['m6', 'm7', 'm8', 'm9'],
    ['m2', 'm3', 'm4', 'm5'],
    ['m0', 'm1'],
  ]);
  expect(await vault.messages.branch(TEST_VAULT_KEY, { limit: 10 })).toMatchObject({ messages: { length: 10 }, more: false });
  expect(await vault.messages.branch(TEST_VAULT_KEY, { limit: 9 })).toMatchObject({ messages: { length: 9 }, more: true });
  expect(await vault.messages.branch(TEST_VAULT_KEY, { limit: 5, before: 'm0' })).toEqual({
    messages: [],
    more: false,
    versions: {},
    unread: {},
  });
  expect(await vault.messages.branch(TEST_VAULT_KEY, { limit: 0 })).toEqual({ messages: [], more: false, versions: {}, unread: {} });
});

test('attachments: too large ones are skipped, and a missing one is fetched once, and stored', async () => {
  await using vault = await createTestVault();
  const [small, large] = [1_000, 100_000].map((size) => btoa('x'.repeat(size)));
  const content = [small, large].map((data = '') => ({ type: 'image' as const, mimeType: 'image/png', data }));
  await vault.sessions.add(newSession(), [newMessage('m', null, { content })]);
  const database = await openDB(vault.name);
  const rows = await database.getAll('blobs');
  await database.clear('blobs');
  database.close();
  const asked: number[] = [];
  const answers = Promise.withResolvers<void>();
  vault.sync.blobs.fetchMissing = async (hash) => {
    const { bytes } = rows.find((row) => row.hash === hash);
    asked.push(bytes.length);
    await answers.promise;
    return bytes;
  };
  const pages = [10_000, 10_000, Infinity].map((most) => vault.messages.branch(TEST_VAULT_KEY, { limit: 1, most }));
  await vi.waitFor(() => expect(asked).toEqual([1_000, 100_000]));
  answers.resolve();
  const [page, same, whole] = await Promise.all(pages);
  expect(page?.messages[0]?.content).toEqual([content[0], { ...content[1], data: '' }]);
  expect(page?.unread).toEqual({ m: large?.length });
  expect(same).toEqual(page);
  expect(whole).toMatchObject({ messages: [{ content }], unread: {} });
  expect(await vault.messages.get('m')).toMatchObject({ content });
  expect(asked).toHaveLength(2);
});

test('a page of a long session reads a page', async () => {
  await using vault = await createLongSession(2_000);
  const read: number[] = [];
  const getAll = IDBIndex.prototype.getAll;
  const spy = vi.spyOn(IDBIndex.prototype, 'getAll').mockImplementation(function (this: IDBIndex, ...args) {
    const request = getAll.apply(this, args);
    request.addEventListener('success', () => read.push(request.result.length));
    return request;
  });
  const page = await vault.messages.branch(TEST_VAULT_KEY, { limit: 200 });
  spy.mockRestore();
  expect(page.messages).toHaveLength(200);
  expect(read).toEqual([200]);
});

test('before a message of another session, or of none, is an error', async () => {
  await using vault = await createLongSession(3);
  const message = newMessage('o1', null, { sessionKey: 'main/other' });
  await vault.runs.begin({ session: newSession('main/other'), message, run: newRun('o', 'o1', { sessionKey: 'main/other' }) });
  for (const before of ['o1', 'none']) {
    await expect(vault.messages.branch(TEST_VAULT_KEY, { limit: 5, before })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  }
  expect(await vault.messages.branch('main/none', { limit: 5 })).toEqual({ messages: [], more: false, versions: {}, unread: {} });
});

test('a page above a message of a branch that was left follows that branch', async () => {
  await using vault = await createTestVault();
  const first = await storeQuestion(vault, 'm1');
  const reply = await storeAnswer(vault, first);
  const branchQuestion = await storeQuestion(vault, 'left', reply);
  await storeAnswer(vault, branchQuestion);
  await storeQuestion(vault, 'edited', reply);
  expect(getIds((await vault.messages.branch(TEST_VAULT_KEY, { limit: 9 })).messages)).toEqual(['m1', 're-m1', 'edited']);
  expect(getIds((await vault.messages.branch(TEST_VAULT_KEY, { limit: 9, before: 're-left' })).messages)).toEqual(['m1', 're-m1', 'left']);
});

test('recent messages come newest first, of every session, at most so many', async () => {
  await using vault = await createLongSession(10);
  expect(getIds(await vault.messages.recent(3))).toEqual(['m9', 'm8', 'm7']);
  expect(await vault.messages.recent(99)).toHaveLength(10);
  expect(await vault.messages.recent(0)).toEqual([]);
});

test('a forgotten memory leaves the context of every message, also in a vault of several batches', async () => {
  await using vault = await createLongSession(600);
  const quoting = getIds(await vault.messages.listAll(TEST_VAULT_KEY)).filter((_, at) => at % 50 === 0);
  for (const id of quoting)
    await vault.messages.setRunContext(id, {
      text: 'Time: noon\n- Robins sing.\n- Owls do not.\n',
      memories: { robin: '- Robins sing.', owl: '- Owls do not.' },
    });
  await vault.messages.removeMemoryLines('robin');
  const contexts = (await vault.messages.listAll(TEST_VAULT_KEY)).flatMap(({ runContext }) => runContext ?? []);
  expect(contexts).toEqual(quoting.map(() => ({ text: 'Time: noon\n- Owls do not.\n', memories: { owl: '- Owls do not.' } })));
});
