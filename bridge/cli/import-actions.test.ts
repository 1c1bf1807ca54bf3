import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { createTempFolder } from '../backup/fixture.ts';
import { startCliGateway } from './tests/cli-gateway.ts';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

verifies('cli/import', 'chats once, as outside content; memories and skills wait for review', async () => {
  await using cli = await startCliGateway();
  using dir = createTempFolder();
  const run = (...args: string[]): ReturnType<typeof cli.run> => cli.run(['import', ...args, '--port', cli.port]);
  const write = (path: string, content: unknown): void => {
    mkdirSync(join(dir.path, path, '..'), { recursive: true });
    writeFileSync(join(dir.path, path), typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
  };
  const message = (role: string, content: unknown[]) => ({
    author: { role },
    create_time: 1_780_000_000,
    content: { content_type: 'multimodal_text', parts: content },
  });
  write(
    'claw/sessions/s.jsonl',
    '{"type":"session","id":"s"}\n{"type":"message","id":"q","parentId":null,"message":{"role":"user","content":"Hi"}}\n',
  );
  write('claw/workspace/MEMORY.md', '- Likes tea\n');
  write('claw/workspace/skills/tea/SKILL.md', '---\nname: tea\ndescription: Boil\n---\n');
  write('claw/workspace/skills/tea/scripts/boil.sh', 'echo boil');
  write('claw/workspace/skills/.keep', '');
  write('gpt/conversations-000.json', [
    {
      ...{ title: 'Cat', conversation_id: 'c', current_node: 'a', default_model_slug: 'gpt-5' },
      mapping: {
        q: {
          parent: null,
          message: message('user', ['Look', { content_type: 'image_asset_pointer', asset_pointer: 'sediment://file_0a' }]),
        },
        a: { parent: 'q', message: message('assistant', ['Nice']) },
      },
    },
  ]);
  write('gpt/file_0a-sanitized.png', PNG);
  expect(await run(join(dir.path, 'claw'))).toEqual({
    code: 0,
    stdout:
      'Chats: 1 new, 0 already there\nMessages: 1\nMemories: 1 new, 0 already there\nSkills: 1 new, 0 already there\nNew memories and skills wait for your review on the Approvals page.\n',
    stderr: '',
  });
  expect((await run(join(dir.path, 'gpt'))).stdout).toBe('Chats: 1 new, 0 already there\nMessages: 2\nPictures: 1\n');
  for (const part of ['claw', 'gpt']) expect((await run(join(dir.path, part))).stdout).toContain('Chats: 0 new, 1 already there');
  const { client } = await cli.gw.client();
  const { messages } = await client.call('chat.history', { sessionId: 'import-c' });
  expect(messages.map(({ model, outside }) => [model, outside])).toEqual([
    [undefined, ['import:Cat']],
    ['gpt-5', ['import:Cat']],
  ]);
  expect(messages[0]?.content).toMatchObject([
    { type: 'text', text: 'Look' },
    { type: 'image', mimeType: 'image/png', data: PNG.toString('base64') },
  ]);
  const { items } = await client.call('review.list', {});
  expect(items.map(({ kind, title, sources }) => [kind, title, sources]).sort()).toEqual([
    ['file', 'skills/tea/SKILL.md', ['import:OpenClaw']],
    ['file', 'skills/tea/scripts/boil.sh', ['import:OpenClaw']],
    ['memory', 'Likes tea', ['import:OpenClaw']],
  ]);
});

verifies('cli/import', 'memories of a list, notes of a folder; what cannot be read is named and nothing is written', async () => {
  await using cli = await startCliGateway();
  using dir = createTempFolder();
  const run = (...args: string[]): ReturnType<typeof cli.run> => cli.run(['import', ...args, '--port', cli.port]);
  const file = (name: string, content: string | Buffer): string => {
    mkdirSync(join(dir.path, name, '..'), { recursive: true });
    writeFileSync(join(dir.path, name), content);
    return join(dir.path, name);
  };
  const list = file('memories.txt', '## Preferences\n- Prefers short answers\n\n## Facts\n[2025-01-02] - Has a cat\n');
  expect((await run('--as', 'memories', list)).stdout).toContain('Memories: 2 new, 0 already there');
  expect((await run('--as', 'memories', list)).stdout).toContain('Memories: 0 new, 2 already there');
  file('notes/A.md', '# A\n[b](B%20page.md) ![[p.png]]');
  file('notes/B page.md', '# B');
  file('notes/img/p.png', PNG);
  file('notes/.obsidian/app.json', '{}');
  const notes = await run('--as', 'wiki', join(dir.path, 'notes'));
  expect(notes).toEqual({
    code: 0,
    stdout: 'Format: Obsidian\nPages: 2 new, 0 unchanged\nPictures: 1\nLeft out: .obsidian/app.json\n',
    stderr: '',
  });
  expect((await run('--as', 'wiki', join(dir.path, 'notes'))).stdout).toContain('Pages: 0 new, 2 unchanged');
  const { client } = await cli.gw.client();
  expect((await client.call('wiki.page', { path: 'B page' })).backlinks.map(({ path }) => path)).toEqual(['A.md']);
  expect((await client.call('workspace.read', { path: 'wiki/img/p.png' })).file.mimeType).toBe('image/png');
  const before = (await client.call('sessions.list', {})).total;
  for (const [name, content, reason] of [
    ['empty.json', '', 'the file is empty'],
    ['cut.json', '[{"mapping":{}', 'isn’t valid JSON'],
    ['cut.zip', Buffer.from([0x50, 0x4b, 3, 4, 0, 0]), 'the zip file is damaged or incomplete'],
    ['other.json', '{"a":1}', 'no chats found'],
  ] as const)
    expect(await run(file(name, content))).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`^perch: ${name} wasn’t imported: .*${reason}`)),
    });
  expect(await run(join(dir.path, 'none.zip'))).toMatchObject({ code: 1, stderr: expect.stringContaining('ENOENT') });
  expect((await client.call('sessions.list', {})).total).toBe(before);
});
