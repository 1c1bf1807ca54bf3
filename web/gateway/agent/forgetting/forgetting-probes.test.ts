import { join } from 'node:path';
import { expect } from 'vitest';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { GatewayClient } from '#shared/client/client.ts';
import { createTempFolder, openJournalIn, writeTestBackup } from '../../../../bridge/backup/fixture.ts';
import { readBackup } from '../../../../bridge/backup/read-backup.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { DAY, seedDreamSources, toDate } from '../../../../tests/support/dreaming-fixtures.ts';
import { getBodyText } from '../../../../tests/support/fake-provider-server.ts';
import { readDatabasesAsText } from '../../../../tests/support/read-databases.ts';
import { TestHosts, type TestHost } from '../../../../tests/support/test-hosts.ts';
import { createScriptedModel, type ModelCall, type ModelScript, waitFor } from '../../../../tests/support/test-gateway.ts';
import { DatabaseIndex } from '../../../library/database-index.ts';
import type { Fetch } from '../../ports/fetch.ts';

/** Words that stand next to the subject in every planted text, each in another place. */
const tokens: string[] = [];
/** A sentence about the subject with a word of its own. */
function plant(place: string): string {
  const token = `zq${String(tokens.length).padStart(3, '0')}${place}`;
  tokens.push(token);
  return `The quokka of Ana keeps ${token} in its burrow.`;
}

const toVector = (text: string): number[] => {
  const vector = Array.from({ length: 32 }, () => 0.01);
  for (const word of text.toLowerCase().match(/\w+/g) ?? []) {
    const index = [...word].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 32, 7);
    vector[index] = (vector[index] ?? 0) + 1;
  }
  return vector;
};

/** A model server with embeddings. `calls`: what models were asked. */
function createModels(script: ModelScript): { fetch: Fetch; calls: ModelCall[] } {
  const model = createScriptedModel(script);
  const fetch: Fetch = async (url, request) => {
    if (!url.endsWith('/embeddings')) return model.fetch(url, request);
    const { input } = JSON.parse(getBodyText(request) ?? '{}') as { input: string | string[] };
    return Response.json({ data: [input].flat().map((text, index) => ({ index, embedding: toVector(text) })), model: 'embed' });
  };
  return { fetch, calls: model.calls };
}

/** Plants texts about the subject wherever the gateway stores any. */
async function plantEverywhere(client: GatewayClient, { vault, gateway }: TestHost): Promise<void> {
  const now = Date.now();
  for (let index = 0; index < 20; index++) await client.call('memory.add', { text: plant('memory') });
  await client.call('memory.add', { text: 'The heron of Ben lives at the pond.' });
  await client.call('memory.setPreference', { key: 'pet', value: plant('preference') });
  const date = toDate(now - 3 * DAY);
  await client.call('workspace.write', {
    workspace: 'main',
    path: `memory/${date}.md`,
    content: `# ${date}\n\n${plant('note')}\n\nBen saw a heron.\n`,
  });
  await client.call('wiki.savePage', { path: 'entities/pets', content: `# Pets\n\n${plant('page')}\n\nThe heron is grey.\n` });
  await client.call('wiki.savePage', { path: 'entities/marsupials', content: `# Quokkas\n\n${plant('title')}\n` });
  const evidence = [{ source_id: 'chat', excerpt: plant('evidence') }];
  await client.call('wiki.addClaim', { path: 'entities/pets', text: plant('claim'), evidence });
  await client.call('chat.send', { message: plant('question'), sessionId: 'pets' });
  await client.call('chat.send', { message: 'What does the quokka keep?', sessionId: 'pets' });
  await client.call('sessions.rename', { path: 'main/pets.jsonl', title: plant('title') });
  await client.call('sessions.compact', { sessionId: 'pets' });
  await client.call('memory.summariseDay', { date: toDate(now) });
  await client.call('chat.send', { message: plant('trashedchat'), sessionId: 'old' });
  await client.call('sessions.delete', { path: 'main/old.jsonl' });
  const { memory } = await client.call('memory.add', { text: plant('trashed') });
  await client.call('memory.delete', { id: memory.id });
  await seedDreamSources({ vault, api: client, now }, [plant('signal'), plant('promoted')]);
  await client.call('dreaming.run', {});
  await waitFor(async () => (await client.call('dreaming.history', {})).runs[0]?.state === 'completed', 'a night');
  const [proposal] = (await client.call('dreaming.review', {})).proposals;
  if (proposal) await client.call('dreaming.accept', { contentHash: proposal.contentHash });
  await client.call('tools.run', { tool: 'memory_forget', args: { id: 'none' } }).catch(() => undefined);
  await client.call('chat.send', { message: `${plant('request')} Please forget the quokka.`, sessionId: 'request' });
  const body = JSON.stringify({ model: 'test/scripted', input: plant('response') });
  await gateway.fetch(
    new Request('http://127.0.0.1:7333/v1/responses', { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
    { id: 'owner', scopes: ['read', 'write'] },
  );
}

verifies(
  ['forgetting/probes', 'forgetting/reach', 'forgetting/report'],
  'a thousand probes after forgetting find nothing, here and on another device',
  async () => {
    tokens.length = 0;
    const hosts = new TestHosts();
    const script: ModelScript = ({ body }) => {
      const last = String(body.messages.at(-1)?.content);
      if (last.includes('Please forget')) return [{ tool: 'memory_propose_forgetting', args: { query: 'quokka' }, id: 'forget' }];
      return [last.includes('Summarise') ? `## Key context\n\n- ${plant('summary')}\n- Ben saw a heron.` : `I know. ${plant('reply')}`];
    };
    let isForgotten = false;
    const models = createModels((call, count) => (isForgotten ? ['I do not know.'] : script(call, count)));
    const createStore = (host: string) => async (workspace: string) => new DatabaseIndex(`perch-memory ${host} ${workspace}`);
    await using active = await hosts.host({ fetch: models.fetch, memoryStore: createStore('a') });
    await using other = await hosts.host({ fetch: models.fetch, memoryStore: createStore('b') });
    const { client } = await active.client();
    const { client: reader } = await other.client();
    await client.call('config.patch', {
      patch: {
        gateway: { rateLimit: { perMinute: 0, burst: 1 } },
        memory: { embeddings: { model: 'test/embed' } },
        dreaming: { promotion: 'propose', minRecallCount: 1, minUniqueQueries: 1, minScore: 0 },
      },
    });
    await plantEverywhere(client, active);
    await active.waitForSync();
    await other.waitForSync();
    // Both devices have found it, by words and by meaning, and stored their indexes.
    for (const each of [client, reader])
      await waitFor(async () => (await each.call('memory.search', { query: 'quokka burrow', limit: 50 })).results.length > 10, 'memories');
    expect(await readDatabasesAsText()).toContain(tokens[0]);

    const preview = await client.call('forgetting.preview', { query: 'quokka' });
    const kinds = new Set(preview.pieces.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual([
      'claim',
      'context',
      'dream',
      'memory',
      'message',
      'note',
      'page',
      'record',
      'summary',
      'trash',
      'version',
    ]);
    isForgotten = true;
    const { report } = await client.call('forgetting.apply', { query: 'quokka', pieceIds: preview.pieces.map(({ id }) => id) });
    expect(JSON.stringify(report)).not.toContain('quokka');
    expect(report.remaining).toEqual([]);
    await active.waitForSync();
    await other.waitForSync();
    expect((await (await active.vault.forgetting()).readForgotten()).size).toBe(1);
    await waitFor(async () => (await (await other.vault.forgetting()).readForgotten()).size === 1, 'the other device');

    let probes = 0;
    const leaks: string[] = [];
    const probe = (surface: string, found: string, words: readonly string[] = tokens): void => {
      for (const word of words) {
        probes++;
        if (found.toLowerCase().includes(word)) leaks.push(`${surface}: ${word}`);
      }
    };
    const all = [...tokens, 'quokka'];
    // Everything that is stored: both replicas, their indexes, snapshots and vectors, and what the journal has.
    probe('databases', await readDatabasesAsText(), all);
    probe('journal', JSON.stringify([...hosts.journal.rows.values()]), all);
    probe('backup', await makeBackup(hosts), all);
    for (const [name, each] of [
      ['here', client],
      ['there', reader],
    ] as const) {
      for (const word of all) {
        probe(`${name} memory.search`, JSON.stringify(await each.call('memory.search', { query: `keeps ${word}` })), [word]);
        probe(`${name} wiki.search`, JSON.stringify(await each.call('wiki.search', { query: word })), [word]);
        probe(`${name} sessions.search`, JSON.stringify(await each.call('sessions.search', { query: word })), [word]);
      }
      for (const method of [
        'memory.list',
        'memory.recalled',
        'memory.preferences',
        'wiki.pages',
        'wiki.claims',
        'dreaming.signals',
        'dreaming.review',
        'dreaming.history',
        'sessions.list',
        'trash.list',
      ] as const)
        probe(`${name} ${method}`, JSON.stringify(await each.call(method, {})), all);
    }
    for (const tool of ['memory_search', 'wiki_search', 'session_search']) {
      for (const word of all)
        probe(tool, JSON.stringify((await client.call('tools.run', { tool, args: { query: `burrow ${word}` } })).result), [word]);
    }
    const { files } = await client.call('workspace.list', { workspace: 'main' });
    for (const { path } of files) probe(path, (await client.call('workspace.read', { workspace: 'main', path })).content, all);
    // Recall before a reply, in a chat and over `/v1`.
    const before = models.calls.length;
    await client.call('chat.send', { message: 'What does the q-animal of Ana keep in its burrow?', sessionId: 'again' });
    probe('recall', JSON.stringify(models.calls.slice(before).map(({ body, context }) => [body, context])), all);
    expect(leaks).toEqual([]);
    expect(probes).toBeGreaterThanOrEqual(1000);
    // Entries about other things stay.
    const kept = JSON.stringify((await client.call('memory.search', { query: 'heron' })).results);
    expect(kept).toContain('heron of Ben');
    expect(JSON.stringify(await client.call('wiki.search', { query: 'heron' }))).toContain('grey');
    expect(
      (await client.call('provenance.check', {})).problems.filter(({ state }) => state !== 'sourceChanged' && state !== 'sourceDeleted'),
    ).toEqual([]);
    expect([...active.faults, ...other.faults]).toEqual([]);
  },
  60_000,
);

/** The records of a backup that is made of a journal with the same records. */
async function makeBackup(hosts: TestHosts): Promise<string> {
  using folder = createTempFolder();
  await using journal = await openJournalIn(folder.path);
  await journal.open({ origin: 'test', schema: SCHEMA_VERSION, position: null });
  await journal.push(
    [...hosts.journal.rows.values()].map(({ seq: _seq, pusher: _pusher, ...record }) => record),
    'test',
  );
  const path = join(folder.path, 'backup.zip');
  await writeTestBackup(journal, path);
  const records: unknown[] = [];
  await using _backup = await readBackup(path, { schema: SCHEMA_VERSION, record: (each) => void records.push(each) });
  expect(records.length).toBeGreaterThan(10);
  return JSON.stringify(records);
}
