import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import type { ArchiveEntry, ProjectChanges } from '#shared/rpc/methods/project-contracts.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createTestGateway, type ModelScript, type Say, type TestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';
import { createCollection, toFile } from '../collections/fixture.ts';
import { TestHosts } from '../../../../tests/support/test-hosts.ts';

const PATH = 'main/plan.jsonl';
const CHAT = { sessionId: 'plan' };

const getSystem = (gw: TestGateway): string => String(gw.calls.at(-1)?.body.messages[0]?.content);

/** A model that calls these tools, one per request, and then answers. */
const createCaller =
  (calls: readonly Say[]): ModelScript =>
  (_call, count) => [calls[count - 1] ?? 'done'];

/** A project with the chat `plan` in it. */
async function createProject(client: GatewayClient, changes: ProjectChanges = {}): Promise<string> {
  const { project } = await client.call('projects.create', { name: 'House', ...changes });
  await client.call('projects.addChats', { id: project.id, paths: [PATH], create: true });
  return project.id;
}

async function exportAll(client: GatewayClient, id: string): Promise<ArchiveEntry[]> {
  const entries: ArchiveEntry[] = [];
  let cursor: string | null = null;
  do {
    const part: { entries: ArchiveEntry[]; cursor: string | null } = await client.call('projects.export', {
      id,
      ...(cursor === null ? {} : { cursor }),
    });
    entries.push(...part.entries);
    ({ cursor } = part);
  } while (cursor !== null);
  return entries;
}

describe('projects', () => {
  verifies('projects/instructions', 'after the agent’s and before the chat’s, and no longer once the chat has left', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('config.patch', { patch: { agents: { main: { systemPrompt: 'Be kind.' } } } });
    const id = await createProject(client, { instructions: 'The house has three rooms.' });
    await client.call('sessions.setParameters', { path: PATH, parameters: { instructions: 'Speak of doors.' } });
    await client.call('chat.send', { message: 'hi', ...CHAT });
    expect(getSystem(gw)).toMatch(/^Be kind\.\n\nThe house has three rooms\.\n\nSpeak of doors\./);
    const first = getSystem(gw);
    await client.call('chat.send', { message: 'again', ...CHAT });
    expect(getSystem(gw)).toBe(first);
    await client.call('chat.send', { message: 'elsewhere' });
    expect(getSystem(gw)).not.toContain('three rooms');
    await client.call('projects.update', { id, instructions: '' });
    await client.call('chat.send', { message: 'again', ...CHAT });
    expect(getSystem(gw)).not.toContain('three rooms');
    await client.call('projects.update', { id, instructions: 'The house has four rooms.' });
    await client.call('projects.removeChats', { paths: [PATH] });
    await client.call('chat.send', { message: 'again', ...CHAT });
    expect(getSystem(gw)).not.toContain('four rooms');
    expect(gw.faults).toEqual([]);
  });

  verifies('projects/model', 'unless the call names another', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('config.patch', {
      patch: { providers: { other: { baseUrl: 'http://other.test/v1' } }, agents: { main: { temperature: 0.1, topP: 0.2, seed: 3 } } },
    });
    await createProject(client, { model: 'other/large', parameters: { temperature: 0.5, topP: 0.6 } });
    await client.call('sessions.setParameters', { path: PATH, parameters: { temperature: 0.9 } });
    await client.call('chat.send', { message: 'hi', ...CHAT });
    expect(gw.calls.at(-1)?.body).toMatchObject({ model: 'large', temperature: 0.9, top_p: 0.6, seed: 3 });
    await client.call('chat.send', { message: 'hi', model: 'test/scripted', ...CHAT });
    expect(gw.calls.at(-1)?.body).toMatchObject({ model: 'scripted', temperature: 0.9, top_p: 0.6, seed: 3 });
    await client.call('chat.send', { message: 'hi' });
    expect(gw.calls.at(-1)?.body).toMatchObject({ model: 'scripted', temperature: 0.1 });
  });

  verifies('projects/files', 'and not those of the agent', async () => {
    const model = createCaller([
      { tool: 'file_write', args: { path: 'plan.md', content: 'Paint the door' } },
      { tool: 'file_list', args: {} },
    ]);
    await using gw = await createTestGateway({ model });
    const { client } = await gw.client();
    const id = await createProject(client);
    const { workspace } = (await client.call('projects.get', { id })).project;
    await client.call('workspace.write', { path: 'private.md', content: 'Mine' });
    await client.call('workspace.write', { workspace, path: 'rooms.md', content: 'Three' });
    await client.call('chat.send', { message: 'Write a plan', ...CHAT });
    expect((await client.call('workspace.read', { workspace, path: 'plan.md' })).content).toBe('Paint the door');
    const listed = String(gw.calls.at(-1)?.body.messages.at(-1)?.content);
    expect(listed).toContain('rooms.md');
    expect(listed).not.toContain('private.md');
    expect((await client.call('workspace.list', {})).files.map(({ path }) => path)).toEqual(['private.md']);
    expect(gw.faults).toEqual([]);
  });

  verifies('projects/collections', 'until the chat leaves', async () => {
    await using gw = await createTestGateway({
      model: ({ body }, count) => (count === 1 ? [{ tool: 'collection_search', args: { query: 'whale' } }] : [String(body.tools?.length)]),
    });
    const { client } = await gw.client();
    const collection = await createCollection(client, [toFile('whales.md', 'The blue whale eats krill.')]);
    const id = await createProject(client, { collections: [collection.id] });
    const getTools = (): string => JSON.stringify(gw.calls.at(-1)?.body.tools);
    await client.call('chat.send', { message: 'What does it eat?', ...CHAT });
    expect(getTools()).toContain('collection_search');
    expect(String(gw.calls.at(-1)?.body.messages.at(-1)?.content)).toContain('krill');
    expect(JSON.parse((await exportAll(client, id))[0]?.content ?? '{}')).toMatchObject({
      collections: [{ id: collection.id, name: 'Library' }],
    });
    await client.call('projects.removeChats', { paths: [PATH] });
    await client.call('chat.send', { message: 'And now?', ...CHAT });
    expect(getTools()).not.toContain('collection_search');
    expect(gw.faults).toEqual([]);
  });

  verifies('projects/memory', 'by tools, recall and search', async () => {
    const model: ModelScript = ({ body }) =>
      JSON.stringify(body.messages.at(-1)?.content).includes('Remember')
        ? [{ tool: 'memory_add', args: { text: 'The kitchen is painted green' } }]
        : JSON.stringify(body.messages.at(-1)?.content).includes('Search') && body.messages.at(-1)?.role === 'user'
          ? [{ tool: 'memory_search', args: { query: 'green or blue radio' } }]
          : ['done'];
    await using gw = await createTestGateway({ model });
    const { client } = await gw.client();
    const id = await createProject(client);
    await client.call('memory.add', { text: 'The kitchen radio is blue' });
    await client.call('chat.send', { message: 'Remember the kitchen', ...CHAT });
    const list = async (projectId?: string) =>
      (await client.call('memory.list', projectId === undefined ? {} : { projectId })).memories.map(({ text }) => text);
    expect([await list(), await list(id)]).toEqual([['The kitchen radio is blue'], ['The kitchen is painted green']]);
    const ask = async (sessionId: string): Promise<string> => {
      await client.call('chat.send', { message: 'What colour is the kitchen?', sessionId });
      return gw.calls.at(-1)?.context ?? '';
    };
    expect(await ask('plan')).toContain('painted green');
    expect(await ask('plan')).not.toContain('radio');
    expect(await ask('main')).toContain('radio');
    expect(await ask('main')).not.toContain('painted green');
    await client.call('projects.update', { id, memory: 'both' });
    expect(await ask('plan')).toMatch(/painted green[^]*radio|radio[^]*painted green/);
    await client.call('chat.send', { message: 'Search', sessionId: 'plan' });
    const results = JSON.stringify(gw.calls.at(-1)?.body.messages.at(-1));
    expect(results).toContain('painted green');
    expect(results).toContain('radio is blue');
    await client.call('projects.update', { id, memory: 'shared' });
    expect(await ask('plan')).not.toContain('painted green');
    expect(gw.faults).toEqual([]);
  });

  verifies('projects/memory', 'conversations included, and a deleted memory comes back to it', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const id = await createProject(client);
    await client.call('chat.send', { message: 'The greenhouse needs new glass', ...CHAT });
    const find = async (projectId?: string) =>
      (await client.call('memory.search', { query: 'greenhouse glass', ...(projectId === undefined ? {} : { projectId }) })).results
        .length > 0;
    expect([await find(), await find(id)]).toEqual([false, true]);
    await client.call('projects.update', { id, memory: 'shared' });
    expect([await find(), await find(id)]).toEqual([true, false]);
    const { memory } = await client.call('memory.add', { text: 'Has a cat', projectId: id });
    const { trashId } = await client.call('memory.delete', { id: memory.id, projectId: id });
    expect((await client.call('memory.list', { projectId: id })).count).toBe(0);
    await client.call('trash.restore', { id: trashId });
    expect((await client.call('memory.list', { projectId: id })).memories).toEqual([memory]);
    expect((await client.call('memory.list', {})).count).toBe(0);
    await expect(client.call('memory.list', { projectId: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies('projects/chats', 'with events, and lists are filtered by project', async () => {
    await using gw = await createTestGateway();
    const { client, events } = await gw.client();
    for (const sessionId of ['a', 'b', 'c']) await client.call('chat.send', { message: sessionId, sessionId });
    await client.call('sessions.move', { path: 'main/a.jsonl', folder: 'House' });
    await client.call('sessions.move', { path: 'main/b.jsonl', folder: 'House/Garden' });
    const { project } = await client.call('projects.create', { name: 'House', folder: 'House' });
    expect(project).toMatchObject({ name: 'House', chats: 2, memory: 'own', model: null, outside: [] });
    const list = async () =>
      (await client.call('sessions.list', { projectId: project.id })).sessions.map(({ sessionId, folder }) => [sessionId, folder]).sort();
    expect(await list()).toEqual([
      ['a', null],
      ['b', null],
    ]);
    const second = (await client.call('projects.create', { name: 'Garden' })).project;
    expect(await client.call('projects.addChats', { id: second.id, paths: ['main/b.jsonl', 'main/c.jsonl'] })).toEqual({ added: 2 });
    expect(await client.call('projects.addChats', { id: second.id, paths: ['main/c.jsonl'] })).toEqual({ added: 0 });
    expect(await client.call('projects.removeChats', { paths: ['main/c.jsonl'] })).toEqual({ removed: 1 });
    const projects = (await client.call('projects.list', {})).projects.map(({ name, chats }) => [name, chats]);
    expect(projects.sort()).toEqual([
      ['Garden', 1],
      ['House', 1],
    ]);
    expect(events.some(({ event, payload }) => event === 'project.changed' && (payload as { id: string }).id === project.id)).toBe(true);
    const { session } = await client.call('sessions.fork', { path: 'main/b.jsonl' });
    expect(session.projectId).toBe(second.id);
    for (const [method, params] of [
      ['projects.addChats', { id: second.id, paths: ['main/none.jsonl'] }],
      ['projects.addChats', { id: 'none', paths: ['main/a.jsonl'] }],
      ['projects.create', { name: 'x', agentId: 'none' }],
      ['projects.update', { id: second.id, agents: ['none'] }],
    ] as const)
      await expect(client.request(method, params), method).rejects.toMatchObject({ code: 'NOT_FOUND' });
    for (const params of [
      { name: ' ' },
      { name: 'x', memory: 'none' },
      { name: 'x', parameters: { temperature: 9 } },
      { name: 'x', colour: 1 },
    ])
      await expect(client.request('projects.create', params)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });

  verifies('projects/trash', 'and its chats are kept, or restored one by one', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const id = await createProject(client, { instructions: 'Three rooms.' });
    await client.call('chat.send', { message: 'hi', ...CHAT });
    const { project } = await client.call('projects.get', { id });
    await client.call('workspace.write', { workspace: project.workspace, path: 'a.md', content: 'A' });
    const { trashIds } = await client.call('projects.delete', { id });
    expect(trashIds).toHaveLength(1);
    expect((await client.call('trash.list', {})).items).toMatchObject([{ kind: 'project', title: 'House', agentId: null }]);
    await client.call('chat.send', { message: 'still here', ...CHAT });
    expect(getSystem(gw)).not.toContain('Three rooms.');
    expect(await client.call('trash.restore', { id: trashIds[0] ?? '' })).toMatchObject({ kind: 'project', path: id });
    expect((await client.call('projects.get', { id })).project).toMatchObject({ name: 'House', chats: 1, instructions: 'Three rooms.' });
    expect((await client.call('workspace.list', { workspace: project.workspace })).count).toBe(1);

    const deleted = await client.call('projects.delete', { id, withChats: true });
    expect(deleted.trashIds).toHaveLength(2);
    expect((await client.call('sessions.list', {})).total).toBe(0);
    for (const trashId of deleted.trashIds) await client.call('trash.restore', { id: trashId });
    expect((await client.call('projects.get', { id })).project.chats).toBe(1);

    await client.call('projects.delete', { id });
    await client.call('trash.empty', {});
    expect((await client.call('workspace.list', { workspace: project.workspace })).count).toBe(0);
    await expect(client.call('projects.get', { id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.call('projects.delete', { id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(gw.faults).toEqual([]);
  });

  verifies(['projects/transfer', 'projects/outside'], 'in the same vault and in another one', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const id = await createProject(client, { instructions: 'Three rooms.', parameters: { thinking: 'low' }, model: 'test/scripted' });
    await client.call('chat.send', { message: 'What about the garden?', ...CHAT });
    await client.call('sessions.rename', { path: PATH, title: 'Garden / plan' });
    await client.call('sessions.pin', { path: PATH });
    const { workspace } = (await client.call('projects.get', { id })).project;
    await client.call('workspace.write', { workspace, path: 'plans/a.md', content: 'A' });
    await client.call('workspace.write', { workspace, path: 'b.bin', content: '/wAB', encoding: 'base64' });
    await client.call('memory.add', { text: 'The garden is small', category: 'fact', projectId: id, createdAt: 60_000 });
    const entries = await exportAll(client, id);
    expect(entries.map(({ path }) => path).sort()).toEqual([
      'chats/001 Garden _ plan.jsonl',
      'chats/001 Garden _ plan.md',
      'files/b.bin',
      'files/plans/a.md',
      'instructions.md',
      'memories.json',
      'project.json',
    ]);
    const none = { projects: 0, chats: 0, files: 0, memories: 0 };
    expect((await client.call('projects.import', { entries })).added).toEqual(none);

    await using other = await createTestGateway();
    const { client: there } = await other.client();
    // Another chat has the same id there.
    await there.call('chat.send', { message: 'something else', ...CHAT });
    const imported = await there.call('projects.import', { entries });
    expect(imported.added).toEqual({ projects: 1, chats: 1, files: 2, memories: 1 });
    expect(imported.project).toMatchObject({
      ...{ id, name: 'House', instructions: 'Three rooms.', parameters: { thinking: 'low' }, model: 'test/scripted', chats: 1 },
      outside: ['import:House'],
    });
    expect((await there.call('projects.import', { entries })).added).toEqual(none);
    const [session] = (await there.call('sessions.list', { projectId: id })).sessions;
    expect(session).toMatchObject({ title: 'Garden / plan', pinned: true, messageCount: 2 });
    const reads = async (from: GatewayClient) => [
      (await from.call('memory.list', { projectId: id })).memories.map(({ text, category, createdAt }) => [text, category, createdAt]),
      (await from.call('workspace.read', { workspace, path: 'plans/a.md' })).content,
      (await from.call('workspace.read', { workspace, path: 'b.bin' })).content,
    ];
    expect(await reads(there)).toEqual(await reads(client));

    // All of it waits for review, and a reply with the instructions counts as tainted.
    const review = (await there.call('review.list', {})).items.map(({ kind, sources }) => [kind, sources[0]]).sort();
    expect(review).toEqual([
      ['file', 'import:House'],
      ['file', 'import:House'],
      ['memory', 'import:House'],
    ]);
    await there.call('projects.addChats', { id, paths: ['main/new.jsonl'], create: true });
    const readSources = async (sessionId: string) => (await there.call('chat.history', { sessionId })).messages.at(-1)?.outside ?? [];
    await there.call('chat.send', { message: 'hi', sessionId: 'new' });
    expect(await readSources('new')).toEqual(['import:House']);
    // A person's own instructions are trusted.
    const reviewed = await there.call('projects.update', { id, instructions: 'Three rooms.' });
    expect(reviewed.project.outside).toEqual([]);
    await there.call('projects.addChats', { id, paths: ['main/newer.jsonl'], create: true });
    await there.call('chat.send', { message: 'hi', sessionId: 'newer' });
    expect(await readSources('newer')).toEqual([]);
    expect([...gw.faults, ...other.faults]).toEqual([]);
  });

  verifies('projects/transfer', 'and files that are no such project import nothing', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const entry = (path: string, content: string): ArchiveEntry => ({ path, encoding: 'utf8', content });
    const manifest = { format: 'perch-project', id: 'p1', name: 'House', model: 'gone/model', agentId: 'gone' };
    const chats = [{ path: 'chats/1.jsonl', agentId: 'main', sessionId: 's', title: 'T' }];
    for (const entries of [
      [entry('a.txt', 'x')],
      [entry('project.json', '{')],
      [entry('project.json', '{"format":"other"}')],
      [entry('project.json', JSON.stringify({ ...manifest, id: '../x' }))],
      [entry('project.json', JSON.stringify({ ...manifest, chats })), entry('chats/1.jsonl', 'not a message')],
    ])
      await expect(client.call('projects.import', { entries })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect((await client.call('projects.list', {})).count).toBe(0);
    const hostile = [entry('files/../../escape.md', 'x'), entry('files/MEMORY.md', '- x'), entry('files/ok.md', 'x')];
    const { project, added } = await client.call('projects.import', {
      entries: [entry('project.json', JSON.stringify(manifest)), ...hostile],
    });
    expect([project.model, project.agentId, added]).toEqual([null, null, { projects: 1, chats: 0, files: 1, memories: 0 }]);
  });

  verifies('projects/transfer', 'long chats in parts', async () => {
    await using gw = await createTestGateway({ model: () => ['x'.repeat(100_000)] });
    const { client } = await gw.client();
    const id = await createProject(client);
    for (let index = 0; index < 24; index++) await client.call('chat.send', { message: 'y'.repeat(100_000), ...CHAT });
    const entries = await exportAll(client, id);
    expect(entries.filter(({ path }) => path.endsWith('.jsonl')).length).toBeGreaterThan(1);
    await client.call('projects.delete', { id, withChats: true });
    await client.call('trash.empty', {});
    expect((await client.call('projects.import', { entries })).added).toMatchObject({ projects: 1, chats: 1 });
    expect((await client.call('sessions.list', { projectId: id })).sessions).toMatchObject([{ messageCount: 48 }]);
  });

  verifies('projects/people', 'and a key for chats can still put a chat into a project', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const id = await createProject(client);
    const program = await GatewayClient.connect(gw.link({ principal: 'key:k1', scopes: ['write'] }), { params: { clientName: 'program' } });
    for (const [method, params] of [
      ['projects.create', { name: 'x', instructions: 'Obey' }],
      ['projects.update', { id, instructions: 'Obey' }],
      ['projects.update', { id, model: 'other/expensive' }],
      ['projects.update', { id, memory: 'shared' }],
      ['projects.import', { entries: [{ path: 'project.json', encoding: 'utf8', content: '{}' }] }],
    ] as const)
      await expect(program.request(method, params), method).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await program.call('projects.update', { id, name: 'Home' });
    expect((await program.call('projects.get', { id })).project.name).toBe('Home');
  });

  verifies('projects/hosts', 'and say so', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host();
    await using two = await hosts.host();
    const [a, b] = [await one.client(), await two.client()];
    const { project } = await a.client.call('projects.create', { name: 'House', instructions: 'Three rooms.' });
    await waitFor(async () => (await b.client.call('projects.list', {})).count === 1);
    expect(b.events.some(({ event }) => event === 'project.changed')).toBe(true);
    expect((await b.client.call('projects.get', { id: project.id })).project).toEqual(project);
    await b.client.call('projects.delete', { id: project.id });
    await waitFor(async () => (await a.client.call('projects.list', {})).count === 0);
    expect([...one.faults, ...two.faults]).toEqual([]);
  });
});
