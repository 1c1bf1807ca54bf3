import fc from 'fast-check';
import { openDB } from 'idb';
import { expect, test, vi } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import { matchesText, parseQuery } from '../knowledge/search/search-query.ts';
import { toPlainText } from './session-views.ts';
import type { Vault } from './vault-interface.ts';
import type { SearchResult } from './chat-search.ts';
import type { SessionRecord } from './chat-records.ts';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import { newMessage, newSession, createTestVault } from './fixture.ts';

const SIZES = { memtable: 4, mergeFactor: 2 };
const WORDS = ['plan', 'plans', 'planning', 'memory', 'memories', 'café', 'cafes', 'größe', '東京', '京都タワー', 'a1', 'the', 'to'];
const QUERIES = [
  ...WORDS,
  'plan memory',
  'pla',
  '"memory plan"',
  'cafe to',
  '"the plan"',
  '"plan plan"',
  '"plan the plan a1"',
  '"京都タワー plan"',
  '"größe a1" "a1 to"',
  'me ca',
  '京',
  'nothing',
  'to the',
  'plan m',
];

const word = fc.constantFrom(...WORDS);
const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
const session = fc.constantFrom('one', 'two', 'three', 'four');
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      session,
      texts: fc.array(text, { minLength: 1, maxLength: 7 }),
      title: text,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('foreign' as const), session, texts: fc.array(text, { minLength: 1, maxLength: 7 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('edit' as const), which: fc.nat(50), text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), session }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), session }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('forget' as const), which: fc.nat(50) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('work' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const), after: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const) }) },
);

/** Reference search over every message: by session, the matching messages, and whether the title matches. */
async function scanMessages(vault: Vault, query: string): Promise<Map<string, { messages: string[]; titled: boolean }>> {
  const parsedQuery = parseQuery(query);
  const found = new Map<string, { messages: string[]; titled: boolean }>();
  for (const { key, title } of await vault.sessions.list()) {
    const messages = (await vault.messages.listAll(key))
      .filter(({ content }) => matchesText(parsedQuery, toPlainText(content)))
      .map(({ id }) => id);
    const titled = matchesText(parsedQuery, title);
    if (parsedQuery.words.length > 0 && (messages.length > 0 || titled)) found.set(key, { messages, titled });
  }
  return found;
}

async function compareWithScan(vault: Vault, query: string): Promise<void> {
  const expected = await scanMessages(vault, query);
  let page = await vault.search.sessions(query, { limit: 100 });
  // Messages beyond the first batch are indexed after the search.
  await waitFor(async () => (page = await vault.search.sessions(query, { limit: 100 })).complete, `all of ${query}`);
  const { results, total } = page;
  expect({ query, found: results.map(({ session: { key } }) => key).sort() }).toEqual({ query, found: [...expected.keys()].sort() });
  if (!query.includes('"')) expect(total).toBe(expected.size);
  for (const result of results) {
    const { messages } = expected.get(result.session.key) ?? { messages: [] };
    if (messages.length > 0) expect(messages).toContain(result.messageId);
    else expect(result.messageId).toBeNull();
    expectMarks(result, query);
  }
}

/** The marked text is the searched text. */
function expectMarks({ snippet, matches, titleMatches, messageId, session: { title } }: SearchResult, query: string): void {
  const { words } = parseQuery(query);
  const marked = [
    ...matches.map(([start, end]) => snippet.slice(start, end)),
    ...titleMatches.map(([start, end]) => title.slice(start, end)),
  ];
  for (const piece of marked)
    expect(
      words.some((each) => matchesText({ words: [each], phrases: [] }, piece)),
      `${query}: ${piece}`,
    ).toBe(true);
  if (messageId !== null) expect(matches.length).toBeGreaterThan(0);
}

let seq = 0;
const foreign = (key: string, value: unknown): SequencedRecord => {
  seq++;
  const record = {
    store: 'messages' as const,
    key,
    clock: `${String(2e12 + seq).padStart(15, '0')}-0000-there`,
    seal: 'none' as const,
    seq,
  };
  return {
    ...record,
    payload: value === undefined ? null : JSON.stringify(value),
    ...(value === undefined ? { deleted: true as const } : {}),
  };
};

verifies(
  'search/index',
  'finds what a look at every message finds, whatever was added, edited, removed, merged or cut short',
  async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const options = { name: `search-${++runs}`, searchSizes: SIZES };
        let opened = await createTestVault(options);
        const ids: { id: string; sessionKey: string }[] = [];
        let createdCount = 0;
        const createMessages = (sessionKey: string, texts: readonly string[]) =>
          texts.map((content, at) => {
            // Ids all over the range, so that indexing by key meets them in any order.
            const id = `${(createdCount * 7919) % 1000}-${createdCount++}`;
            ids.push({ id, sessionKey });
            return newMessage(id, null, { sessionKey, content, role: at % 2 ? 'assistant' : 'user', timestamp: opened.clock.now() });
          });
        try {
          for (const each of steps) {
            const { vault } = opened;
            if (each.kind === 'add') {
              const key = `main/${each.session}`;
              await vault.sessions.add(newSession(key, { title: each.title }), createMessages(key, each.texts));
            } else if (each.kind === 'foreign') {
              await vault.sync.apply(
                createMessages(`main/${each.session}`, each.texts).map((message) => foreign(message.id, message)),
                null,
                false,
              );
            } else if (each.kind === 'edit' || each.kind === 'forget') {
              const old = ids[each.which % Math.max(1, ids.length)];
              if (!old) continue;
              const value = each.kind === 'edit' ? newMessage(old.id, null, { sessionKey: old.sessionKey, content: each.text }) : undefined;
              await vault.sync.apply([foreign(old.id, value)], null, false);
            } else if (each.kind === 'remove') await vault.sessions.remove(`main/${each.session}`);
            else if (each.kind === 'clear') await vault.sessions.clear(`main/${each.session}`);
            else if (each.kind === 'work') await vault.maintain();
            else {
              if (each.kind === 'lose') await resetIndex(options.name);
              else await interruptIndexing(opened, each.after);
              await opened.vault.close();
              opened = await createTestVault(options);
            }
            await compareWithScan(opened.vault, QUERIES[createdCount % QUERIES.length] ?? '');
          }
          for (const query of QUERIES) await compareWithScan(opened.vault, query);
          await opened.vault.maintain();
          for (const query of QUERIES) await compareWithScan(opened.vault, query);
        } finally {
          await opened.vault.close();
        }
      }),
      { numRuns: Number(process.env['RUNS'] ?? 60) },
    );
  },
  120_000,
);

/** Empties the stores of the index, or changes their format. */
async function resetIndex(name: string): Promise<void> {
  const db = await openDB(name);
  await db.clear(seq % 2 ? 'searchPages' : 'searchSegments');
  if (seq % 3) await db.delete('local', 'search');
  db.close();
}

/** Brings the index up to date, with one failing write. */
async function interruptIndexing({ vault }: { vault: { maintain(): Promise<void> } }, after: number): Promise<void> {
  let remaining = after;
  const put = Reflect.get(IDBObjectStore.prototype, 'put') as IDBObjectStore['put'];
  const spy = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: IDBObjectStore, ...args) {
    if (this.name.startsWith('search') && remaining-- <= 0) throw new Error('cut short');
    return put.apply(this, args);
  });
  await vault.maintain();
  spy.mockRestore();
}

const keys = (results: readonly { session: SessionRecord }[]): string[] => results.map(({ session: { key } }) => key);

test('the best comes first: rare words, titles, what is new; in pages', async () => {
  await using opened = await createTestVault({ searchSizes: SIZES });
  const { vault, clock } = opened;
  const day = 86_400_000;
  const add = (name: string, content: string, title = 'A chat', age = 0) =>
    vault.sessions.add(newSession(`main/${name}`, { title }), [
      newMessage(`m-${name}`, null, { sessionKey: `main/${name}`, content, timestamp: clock.now() - age * day }),
    ]);
  await add('old', 'words about boats and trains', 'A chat', 400);
  await add('new', 'words about boats and trains');
  await add('titled', 'words about boats and trains', 'Boats');
  await add('other', 'words about planes');
  expect(keys((await vault.search.sessions('boats', { limit: 10 })).results)).toEqual(['main/titled', 'main/new', 'main/old']);
  const first = await vault.search.sessions('words', { limit: 3 });
  expect(first).toMatchObject({ total: 4, next: 3 });
  const second = await vault.search.sessions('words', { limit: 3, offset: 3 });
  expect(second.next).toBeNull();
  expect(new Set([...keys(first.results), ...keys(second.results)]).size).toBe(4);
  const { results } = await vault.search.sessions('boats', { limit: 10, accepts: ({ title }) => title === 'Boats' });
  expect(keys(results)).toEqual(['main/titled']);
  expect((await vault.search.messages('zebra planes', { limit: 5, need: 'any' })).map(({ message }) => message.id)).toEqual(['m-other']);
  expect(await vault.search.messages('zebra planes', { limit: 5, need: 'all' })).toEqual([]);
});
