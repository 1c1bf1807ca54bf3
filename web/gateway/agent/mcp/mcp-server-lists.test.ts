import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import type { Scope } from '#shared/rpc/scopes.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createTestGateway, type TestGateway } from '../../../../tests/support/test-gateway.ts';

// Resources, templates and prompts at /mcp, for callers with different rights.

async function connectWith(gw: TestGateway, scopes: readonly Scope[], path = '/mcp'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const fetch = async (url: URL | string, init?: RequestInit): Promise<Response> =>
    gw.gateway.fetch(new Request(url, init), { id: 'owner', scopes: [...scopes] });
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://perch.test${path}`), { fetch }));
  return client;
}

async function writeFiles(gw: TestGateway, files: Readonly<Record<string, string>>): Promise<void> {
  const { client } = await gw.client();
  for (const [path, content] of Object.entries(files)) await client.call('workspace.write', { workspace: 'main', path, content });
  client.close();
}

const listTemplateNames = async (client: Client): Promise<string[]> =>
  (await client.listResourceTemplates()).resourceTemplates.map(({ name }) => name);
const listPromptNames = async (client: Client): Promise<string[]> => (await client.listPrompts()).prompts.map(({ name }) => name);

const SKILL = '---\nname: brew\ndescription: Brews tea\n---\nBoil water.';

verifies('mcp-server/templates', 'a key gets the kinds that its scopes allow, in lists, by template and in completions', async () => {
  await using gw = await createTestGateway();
  await writeFiles(gw, { 'notes/tea.md': 'Earl Grey', 'notes/milk.md': 'Oat' });
  const { client: person } = await gw.client();
  await person.call('chat.send', { sessionId: 'work', message: 'Where were we?' });
  await person.call('wiki.savePage', { path: 'entities/Miso', content: 'A cat.' });
  const all = await connectWith(gw, ['admin']);
  expect(await listTemplateNames(all)).toEqual(['workspace-file', 'wiki-page', 'chat']);
  const chat = await all.readResource({ uri: 'perch://chats/main/work' });
  expect(chat.contents).toMatchObject([{ mimeType: 'text/markdown', text: expect.stringContaining('Where were we?') as string }]);
  const complete = async (client: Client, uri: string, name: string, value: string) =>
    (await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion.values;
  expect(await complete(all, 'perch://workspace/{+path}', 'path', 'notes/m')).toEqual(['notes/milk.md']);
  expect(await complete(all, 'perch://chats/main/{session}', 'session', 'w')).toEqual(['work']);
  expect(await complete(all, 'perch://wiki/main/{+page}', 'page', 'ent')).toEqual(['entities/Miso.md']);
  expect(await complete(all, 'perch://workspace/{+path}', 'other', '')).toEqual([]);

  const narrow = await connectWith(gw, ['mcp']);
  expect(await listTemplateNames(narrow)).toEqual(['wiki-page']);
  expect((await narrow.listResources()).resources.map(({ uri }) => uri)).toEqual([
    'perch://wiki/main/entities/Miso.md',
    'perch://wiki/main/index.md',
  ]);
  for (const uri of ['perch://chats/main/work', 'perch://workspace/notes/tea.md'])
    await expect(narrow.readResource({ uri }), uri).rejects.toThrow(/No resource/);
  expect(await complete(narrow, 'perch://workspace/{+path}', 'path', '')).toEqual([]);
  expect(await complete(narrow, 'perch://chats/main/{session}', 'session', '')).toEqual([]);
  expect(await listTemplateNames(await connectWith(gw, ['mcp', 'files', 'sessions']))).toEqual(['workspace-file', 'wiki-page', 'chat']);
  await expect(all.readResource({ uri: 'perch://chats/other/work' })).rejects.toThrow(/No resource/);
});

verifies('mcp-server/prompts', 'saved prompts need `files`, skills do not; arguments are filled in once', async () => {
  await using gw = await createTestGateway();
  await writeFiles(gw, {
    'prompts/plain.md': 'Only text',
    'prompts/fill.md': '---\ntitle: Fill\ndescription: Fills in\n---\n{{a}} and {{clipboard}} at {{time}}',
    'prompts/not a name.md': 'x',
    'skills/brew/SKILL.md': SKILL,
    'skills/broken/SKILL.md': 'no head',
  });
  const all = await connectWith(gw, ['admin']);
  expect(await listPromptNames(all)).toEqual(['fill', 'plain', 'brew']);
  expect(await listPromptNames(await connectWith(gw, ['mcp']))).toEqual(['brew']);
  const filled = await all.getPrompt({ name: 'fill', arguments: { a: '{{time}}', clipboard: 'copied' } });
  expect(filled).toMatchObject({
    description: 'Fills in',
    messages: [{ content: { text: expect.stringMatching(/^\{\{time\}\} and copied at \d\d:\d\d$/) as string } }],
  });
  await expect(all.getPrompt({ name: 'fill', arguments: { a: 'x' } })).rejects.toThrow('Missing argument: clipboard.');
  const skill = await all.getPrompt({ name: 'brew', arguments: { request: 'two cups' } });
  expect(skill.messages).toMatchObject([{ content: { text: expect.stringMatching(/Boil water\.[^]*\n\n\/brew two cups$/) as string } }]);
  for (const name of ['broken', 'none', '../x']) await expect(all.getPrompt({ name })).rejects.toThrow(/No prompt with name/);
  const narrow = await connectWith(gw, ['mcp']);
  await expect(narrow.getPrompt({ name: 'plain' })).rejects.toThrow(/No prompt with name/);
});

verifies('mcp-server/prompts', 'texts from outside that nobody has reviewed are no prompts', async () => {
  await using gw = await createTestGateway();
  await writeFiles(gw, { 'prompts/evil.md': 'Obey', 'skills/brew/SKILL.md': SKILL, 'skills/brew/more.md': 'More' });
  const labels = gw.vault.collection('contentLabels');
  for (const path of ['prompts/evil.md', 'skills/brew/more.md'])
    await labels.put({ id: `file:main/${path}`, sources: ['web:example.com'], at: 1 });
  const all = await connectWith(gw, ['admin']);
  expect(await listPromptNames(all)).toEqual([]);
  for (const name of ['evil', 'brew']) await expect(all.getPrompt({ name })).rejects.toThrow(/No prompt with name/);
});

verifies('mcp-server/outside', 'files, wiki pages and chats name the sources of what came from outside', async () => {
  await using gw = await createTestGateway();
  await writeFiles(gw, { 'notes/page.md': 'From the web', 'own.md': 'Mine' });
  const { client: person } = await gw.client();
  await person.call('wiki.savePage', { path: 'entities/Miso', content: 'A cat.' });
  const attachments = [{ filename: 'a.txt', mimeType: 'text/plain', content: btoa('Hello') }];
  await person.call('chat.send', { sessionId: 'read', message: 'Read this', attachments });
  for (const path of ['notes/page.md', 'wiki/entities/Miso.md'])
    await gw.vault.collection('contentLabels').put({ id: `file:main/${path}`, sources: ['web:example.com'], at: 1 });
  const all = await connectWith(gw, ['admin']);
  const outside = async (uri: string): Promise<unknown> => (await all.readResource({ uri })).contents[0]?._meta?.['perch/outside'];
  expect(await outside('perch://workspace/notes/page.md')).toEqual(['web:example.com']);
  expect(await outside('perch://wiki/main/entities/Miso.md')).toEqual(['web:example.com']);
  expect(await outside('perch://chats/main/read')).toEqual(['document:a.txt']);
  expect(await outside('perch://workspace/own.md')).toBeUndefined();
  const { resources } = await all.listResources();
  expect(resources.find(({ name }) => name === 'notes/page.md')?.description).toMatch(/from outside \(web:example\.com\)/);
});
