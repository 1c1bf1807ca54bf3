import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { folderWorkspace } from './folder-workspace.ts';
import { MemoryAwareRunner, MemoryConfig, MemoryManager, type MemoryMessage, setupMemoryForAgent } from './memory.ts';
import { SqliteIndex } from './sqlite-index.ts';
import type { IndexEntry } from '../../web/gateway/knowledge/memory/index/index-entry.ts';
import { createComplete, parseModelConfig, selectSummaryModel } from '../../web/library/model-config.ts';

let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'perch-memory-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const query = (sql: string, ...values: string[]): Record<string, unknown>[] => {
  const db = new DatabaseSync(join(dir, 'memory.db'), { readOnly: true });
  try {
    return db.prepare(sql).all(...values);
  } finally {
    db.close();
  }
};
const talk: MemoryMessage[] = [
  { role: 'user', content: 'Where is the kayak?', id: '1', name: 'Ana' },
  { role: 'assistant', content: 'In the barn.', id: '2' },
];
const signal = new AbortController().signal;

const refusal = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    await work();
    return 'done';
  } catch (error) {
    return String(error);
  }
};

verifies('memory.node/folder', 'acknowledged writes are in files, and survive a restart', async () => {
  const folder = join(dir, 'new', 'memory');
  {
    await using memory = await new MemoryManager(folder).open();
    await memory.addMemory('Ana has a cat called Miso');
    await memory.setPreference('tone', 'dry');
    await memory.persistDialog(talk, 'main');
    expect(readFileSync(join(folder, 'MEMORY.md'), 'utf8')).toMatch(
      /^- .* \[fact\] Ana has a cat called Miso\n- .* \[preference\] tone: dry\n$/,
    );
    expect(readdirSync(join(folder, 'dialog'))).toHaveLength(1);
    expect(memory.workspaceDir).toBe(folder);
  }
  if (process.platform !== 'win32')
    for (const file of ['MEMORY.md', 'memory.db']) expect(statSync(join(folder, file)).mode & 0o77, file).toBe(0);
  const { manager, tools, context } = await setupMemoryForAgent(folder);
  expect((await manager.searchMemory('barn')).map(({ text }) => text)).toContain('In the barn.');
  expect(await manager.persistDialog(talk, 'main')).toBe(0);
  expect([tools.length, context.includes('- tone: dry')]).toEqual([5, true]);
  await manager.close();
  await using runner = await new MemoryAwareRunner(folder).open();
  await runner.postprocessTurn([{ role: 'user', content: 'Third', id: '3' }], 'main');
  expect(await runner.preprocessMessages(talk)).toEqual(talk);
  expect((await runner.manager.getStats()).dialogs.messages).toBe(3);
  expect(readdirSync(folder).filter((name) => name.includes('.tmp'))).toEqual([]);
});

verifies('memory.node/folder', 'paths cannot escape the folder, other bytes are preserved, and failed writes are reported', async () => {
  const workspace = folderWorkspace(dir);
  for (const path of ['../x', 'a/../../x', '/etc/passwd', '', 'a//b', '.git/config', 'a\\..\\b', 'C:x', 'a\0b', './a', '..'])
    for (const work of [
      workspace.read,
      workspace.remove,
      workspace.stat,
      (path: string) => workspace.write(path, ''),
      (path: string) => workspace.append(path, ''),
    ])
      expect(await refusal(() => work(path)), path).toContain('Invalid workspace path');
  mkdirSync(join(dir, 'node_modules/x'), { recursive: true });
  mkdirSync(join(dir, '.obsidian'));
  for (const path of ['node_modules/x/README.md', '.obsidian/app.json', 'b.md']) writeFileSync(join(dir, path), 'x');
  await workspace.append('dialog/a.jsonl', 'é\n');
  await workspace.append('dialog/a.jsonl', 'x\n');
  expect((await workspace.list()).map(({ path, size }) => [path, size])).toEqual([['b.md', 1], ['dialog/a.jsonl', 5]]); // prettier-ignore
  expect(await workspace.list('none')).toEqual([]);
  expect([
    await workspace.remove('b.md'),
    await workspace.remove('b.md'),
    await workspace.read('b.md'),
    await workspace.stat('dialog'),
  ]).toEqual([true, false, undefined, undefined]);
  writeFileSync(join(dir, 'MEMORY.md'), Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
  await using memory = await new MemoryManager(dir).open();
  await expect(memory.addMemory('new')).rejects.toThrow('MEMORY.md is not UTF-8');
  expect([...readFileSync(join(dir, 'MEMORY.md'))]).toEqual([0x63, 0x61, 0x66, 0xe9, 0x0a]);
  mkdirSync(join(dir, 'NOTES.md'));
  await using other = await new MemoryManager(dir, { long_term: { file: 'NOTES.md' } }).open();
  await expect(other.addMemory('new')).rejects.toThrow('NOTES.md');
  expect(() => new MemoryManager(' ')).toThrow('folder must not be empty');
  expect(() => new MemoryManager(dir, { colour: 1 })).toThrow('Unknown setting `colour`');
});

verifies('memory.node/database', 'it is read by SQLite, and a start reads only what has changed', async () => {
  mkdirSync(join(dir, 'memory'));
  const note = join(dir, 'memory/2026-11-20.md');
  writeFileSync(note, 'The pump was repaired.\n');
  utimesSync(note, new Date(1000), new Date(1000));
  {
    await using memory = await new MemoryManager(dir).open();
    await memory.addMemory('Ana has a cat called Miso');
    await memory.persistDialog(talk, 'main');
    expect(await memory.getStats()).toMatchObject({ memories: 1, days: 1, passages: 4 });
  }
  const fts = 'SELECT kind, path, speaker FROM passages_fts JOIN passages ON number = passages_fts.rowid WHERE passages_fts MATCH ?';
  expect(query(fts, 'cat OR barn').map(({ kind }) => kind)).toEqual(expect.arrayContaining(['memory', 'message']));
  expect(query('PRAGMA journal_mode')[0]).toEqual({ journal_mode: 'wal' });
  expect(query('SELECT path, hash FROM files').map(({ path }) => path)).toHaveLength(3);
  // A file with the same size and time counts as read, so this change is not noticed until the time changes.
  writeFileSync(note, 'The lamp was repaired.\n');
  utimesSync(note, new Date(1000), new Date(1000));
  const texts = async (word: string): Promise<string[]> => {
    await using memory = await new MemoryManager(dir).open();
    return (await memory.searchMemory(word)).map(({ text }) => text);
  };
  expect(await texts('pump')).toEqual(['The pump was repaired.']);
  utimesSync(note, new Date(), new Date(0));
  expect([await texts('pump'), await texts('lamp')]).toEqual([[], ['The lamp was repaired.']]);
  expect(query(fts, 'pump')).toEqual([]);
  rmSync(note);
  expect(await texts('lamp')).toEqual([]);
  expect(query('SELECT count(*) AS count FROM passages')).toEqual([{ count: 3 }]);
});

verifies('memory.node/database', 'a damaged, missing, foreign or already open index loses nothing', async () => {
  const found = async (): Promise<number> => {
    await using memory = await new MemoryManager(dir).open();
    return (await memory.searchMemory('cat')).length;
  };
  await using first = await new MemoryManager(dir).open();
  await first.addMemory('Ana has a cat called Miso');
  await first.persistDialog([{ role: 'user', content: 'one', id: 'a' }], 's');
  const second = await new MemoryManager(dir).open();
  await second.persistDialog([{ role: 'user', content: 'two', id: 'b' }], 's');
  await first.persistDialog([{ role: 'user', content: 'three', id: 'c' }, { role: 'user', content: 'two', id: 'b' }], 's'); // prettier-ignore
  expect((await second.searchMemory('three')).map(({ lines }) => lines)).toContain('3');
  expect((await first.getStats()).dialogs).toMatchObject({ messages: 3, broken: 0 });
  expect(query("SELECT line FROM passages WHERE kind = 'message' ORDER BY line").map(({ line }) => line)).toEqual([1, 2, 3]);
  await second.close();
  await first.close();
  const database = join(dir, 'memory.db');
  const bytes = readFileSync(database);
  for (const damage of [
    () => writeFileSync(database, 'this is no database, but a text that is long enough to be looked at'),
    () => writeFileSync(database, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0x5a)])),
    () => rmSync(database),
    () => {
      const db = new DatabaseSync(database);
      db.exec('PRAGMA user_version = 99');
      db.close();
    },
  ]) {
    damage();
    expect(await found()).toBe(1);
    expect(query('SELECT count(*) AS count FROM passages')).toEqual([{ count: 4 }]);
  }
  // A truncated line loses only itself, regardless of what follows.
  const [dialog = ''] = readdirSync(join(dir, 'dialog'));
  appendFileSync(join(dir, 'dialog', dialog), '{"role":"us');
  await using again = await new MemoryManager(dir).open();
  await again.persistDialog([{ role: 'user', content: 'four', id: 'd' }], 's');
  expect((await again.getStats()).dialogs).toMatchObject({ messages: 4, broken: 1 });
});

verifies('memory.node/folder', 'search works without a stored index, and reports it', async () => {
  writeFileSync(join(dir, 'MEMORY.md'), '- 2026-11-20 09:30 [fact] The boat is blue\n');
  // An index can't be created, even by root.
  mkdirSync(join(dir, 'memory.db'));
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  await using memory = await new MemoryManager(dir, {}, undefined, { warn }).open();
  expect((await memory.searchMemory('boat'))[0]?.text).toBe('The boat is blue');
  await memory.addMemory('The kayak is red');
  expect((await memory.searchMemory('kayak'))[0]?.text).toBe('The kayak is red');
  expect(warnings).toEqual([expect.stringContaining('Could not save the memory index')]);
});

verifies('memory.node/database', 'passages that another process has noted and this one does not know of do not stay', async () => {
  const path = 'memory/2026-11-20.md';
  const file = { path, size: 1, modifiedAt: 1.5, hash: null, lines: 1, isCut: false, broken: 0 };
  const entry = (line: number, text: string): IndexEntry => ({
    ...{ id: `${path}#${line}`, kind: 'day', thread: path, text, category: null, path },
    ...{ line, end: line, at: 5, speaker: null, key: null },
  });
  const [one, other] = [new SqliteIndex(join(dir, 'memory.db')), new SqliteIndex(join(dir, 'memory.db'))];
  await one.put(file, [entry(1, 'pump')], { removed: [], written: [entry(1, 'pump')] });
  await other.put(file, [entry(1, 'pump'), entry(2, 'lamp')], { removed: [], written: [entry(2, 'lamp')] });
  await one.put(file, [entry(1, 'boat')], { removed: [], written: [entry(1, 'boat')] });
  expect([await other.entries(path), await other.files()]).toEqual([[entry(1, 'boat')], [file]]);
  expect(query("SELECT rowid FROM passages_fts WHERE passages_fts MATCH 'pump OR lamp'")).toEqual([]);
  one.close();
  other.close();
});

verifies('memory.node/model', 'calls a real server, and reports its errors', async () => {
  const requests: { url: string | undefined; key: string | undefined; body: unknown }[] = [];
  const answers: [status: number, body: string][] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      requests.push({ url: request.url, key: request.headers.authorization, body: JSON.parse(body) });
      const [status, text] = answers.shift() ?? [200, JSON.stringify({ choices: [{ message: { content: '## Goals\n- sail' } }] })];
      response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' }).end(text);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
  await using memory = await new MemoryManager(
    dir,
    { summary: { model: 'mine/small' } },
    { provider: 'mine', model_id: 'big', base_url: baseUrl, api_key: 'k' },
  ).open();
  expect((await memory.generateSummary(talk)).goals).toEqual(['sail']);
  expect(requests.at(-1)).toMatchObject({
    url: '/v1/chat/completions',
    key: 'Bearer k',
    body: { model: 'small', max_tokens: 2000, messages: [{ role: 'user' }] },
  });
  const complete = createComplete(parseModelConfig({ provider: 'mine', modelId: 'x', baseUrl }));
  for (const [answer, message] of [
    [[401, 'no such key'], 'mine failed (HTTP 401): no such key'],
    [[200, 'garbage'], 'mine sent an invalid response'],
    [[200, '{"choices":[]}'], 'mine sent an invalid response'],
    [[302, ''], 'Couldn’t reach mine'],
  ] as [[number, string], string][]) {
    answers.push(answer);
    await expect(complete('x', { maxTokens: 5, signal })).rejects.toThrow(message);
  }
  await new Promise((closed) => server.close(closed).closeAllConnections());
  await expect(complete('x', { maxTokens: 5, signal })).rejects.toThrow('Couldn’t reach mine at');
  await expect(complete('x', { maxTokens: 5, signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  await expect(createComplete(parseModelConfig({ provider: 'constructor', model_id: 'x' }))('x', { maxTokens: 5, signal })).rejects.toThrow(
    'Unknown provider "constructor"',
  );
  expect(() => parseModelConfig({ provider: 'mine', modelId: '' })).toThrow('modelId');
  expect(() => parseModelConfig({ provider: 'mine', modelId: 'x', baseUrl: 'file:///etc' })).toThrow('baseUrl');
  expect(selectSummaryModel({ provider: 'mine', modelId: 'x', baseUrl, apiKey: 'k' }, 'ollama/a/b')).toEqual({
    provider: 'ollama',
    modelId: 'a/b',
    baseUrl: 'http://127.0.0.1:11434/v1',
    apiKey: undefined,
  });
  expect(() => selectSummaryModel(undefined, 'big')).toThrow('<provider>/<model_id>');
});

verifies('memory.node/config', 'settings are read from a file', async () => {
  const file = join(dir, 'memory.yaml');
  writeFileSync(file, 'compaction:\n  max_tokens: 5000\n');
  const config = await MemoryConfig.fromYaml(file);
  expect([config.compaction.maxTokens, config instanceof MemoryConfig]).toEqual([5000, true]);
  expect(new MemoryManager(dir, config).config.compaction.maxTokens).toBe(5000);
  writeFileSync(file, 'compaction: [');
  await expect(MemoryConfig.fromYaml(file)).rejects.toThrow(/memory\.yaml: The settings are not valid YAML/);
  await expect(MemoryConfig.fromYaml(join(dir, 'none'))).rejects.toThrow(/Couldn’t read .*none/);
});

verifies('memory.node/folder', 'a second manager of the same folder warns, until the first is closed', async () => {
  const warnings: string[] = [];
  const made = (): MemoryManager => new MemoryManager(dir, {}, undefined, { warn: (message) => warnings.push(message) });
  const [first, second, third] = [made(), made(), made()];
  await first.open();
  expect(warnings).toEqual([]);
  await second.open();
  expect(warnings).toEqual([`Another MemoryManager is open on ${dir}. Close it, or use one for all agents.`]);
  await first.close();
  await second.close();
  await third.open();
  expect(warnings).toHaveLength(1);
  await third.close();
});
