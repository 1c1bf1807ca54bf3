import { describe, expect, vi } from 'vitest';
import { WORKSPACE_LIMITS } from '#shared/rpc/workspace-file.ts';
import { articles } from '../guide/docs.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { type Say, type ModelScript, createTestGateway } from '../../../../tests/support/test-gateway.ts';
import { sendRawRequest } from '../../../../tests/support/raw-connection.ts';

const toBase64 = (bytes: readonly number[]): string => Buffer.from(bytes).toString('base64');
const MB = 1024 * 1024;

/** Calls these tools one by one; `results` collects their results. */
function createCallingScript(calls: readonly Say[]): { model: ModelScript; results: string[] } {
  const results: string[] = [];
  return {
    results,
    model({ body }, count) {
      const last = body.messages.at(-1);
      if (last?.role === 'tool') results.push(String(last.content));
      const next = calls[count - 1];
      return next === undefined ? ['done'] : [next];
    },
  };
}

describe('workspaces', () => {
  verifies('workspace/files', 'text as it is, the rest as base64; in their own workspace', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const { file } = await client.call('workspace.write', { path: 'notes/Ägypten.md', content: '# Grüße\r\n' });
    expect(file).toMatchObject({ workspace: 'main', path: 'notes/Ägypten.md', mimeType: 'text/markdown', size: 11 });
    expect(await client.call('workspace.read', { path: 'notes/Ägypten.md' })).toEqual({ file, content: '# Grüße\r\n', encoding: 'utf8' });
    // Text is stored as text, byte by byte, even if it was sent as base64.
    const bom = [0xef, 0xbb, 0xbf, 0x68, 0x69];
    await client.call('workspace.write', { path: 'bom', content: toBase64(bom), encoding: 'base64' });
    const text = await client.call('workspace.read', { path: 'bom' });
    expect([text.encoding, [...Buffer.from(text.content)], text.file.mimeType]).toEqual(['utf8', bom, 'text/plain']);
    for (const bytes of [[0xff, 0xfe, 1], [104, 0, 105], []]) {
      await client.call('workspace.write', {
        path: 'bytes',
        content: toBase64(bytes),
        encoding: 'base64',
        mimeType: 'application/x-thing',
      });
      const read = await client.call('workspace.read', { path: 'bytes' });
      expect([[...Buffer.from(read.content, read.encoding)], read.file.size]).toEqual([bytes, bytes.length]);
    }
    await client.call('workspace.write', { path: 'notes/Ägypten.md', content: 'other', workspace: 'else' });
    expect((await client.call('workspace.list', {})).files.map(({ path }) => path)).toEqual(['bom', 'bytes', 'notes/Ägypten.md']);
    expect(await client.call('workspace.list', { under: 'notes' })).toEqual({ files: [file], count: 1 });
    expect(await client.call('workspace.remove', { path: 'bom' })).toEqual({ removed: true });
    for (const method of ['workspace.read', 'workspace.remove'] as const)
      await expect(client.call(method, { path: 'bom' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await client.call('workspace.list', { workspace: 'else' })).count).toBe(1);
  });

  verifies('workspace/names', 'in NFC, with their case, and nothing that leads elsewhere', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('workspace.write', { path: 'A\u0308.txt', content: '1' });
    await client.call('workspace.write', { path: 'Ä.txt', content: '2' });
    await client.call('workspace.write', { path: 'ä.txt', content: '3' });
    expect((await client.call('workspace.list', {})).files.map(({ path }) => path)).toEqual(['Ä.txt', 'ä.txt']);
    expect((await client.call('workspace.read', { path: 'A\u0308.txt' })).content).toBe('2');
    for (const path of ['', '/a', 'a/', 'a//b', '..', 'a/../b', './a', 'a\\b', 'a\0b', 'a\nb', 'x'.repeat(401)])
      await expect(client.call('workspace.write', { path, content: '' }), JSON.stringify(path)).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining('path'),
      });
    for (const workspace of ['../main', 'a/b', '', 'x y'])
      await expect(client.call('workspace.list', { workspace })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await client.call('workspace.write', { path: 'x'.repeat(400), workspace: 'w'.repeat(128), content: '' });
    expect(gw.faults).toEqual([]);
  });

  verifies('workspace/limits', 'a file, a workspace’s bytes and files; what is no text, no base64', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const write = (params: Record<string, unknown>) => client.request('workspace.write', { path: 'f', ...params });
    const largeText = 'ü'.repeat(4 * MB);
    expect(await write({ content: largeText })).toMatchObject({ file: { size: WORKSPACE_LIMITS.fileBytes } });
    await expect(write({ content: `${largeText}a` })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining('8 MiB'),
    });
    for (const content of ['a', '!!!!', 'ab=c'])
      await expect(write({ content, encoding: 'base64' }), content).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: '`content` is not valid base64.',
      });
    expect(await sendRawRequest(gw, 'workspace.write', '{"path":"f","content":"\\ud800"}')).toMatchObject({
      ok: false,
      error: { code: 'INVALID_PARAMS' },
    });
    await expect(write({ content: '', mimeType: 'text/html\r\nx: y' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect((await client.call('workspace.read', { path: 'f' })).content).toHaveLength(largeText.length);
    // As if the others were there: storage tells their number and bytes.
    const put = gw.vault.files.put;
    for (const [others, expectedError] of [
      [{ files: 10_000, bytes: 0 }, '10000 files'],
      [{ files: 1, bytes: WORKSPACE_LIMITS.bytes }, '256 MiB'],
    ] as const) {
      vi.spyOn(gw.vault.files, 'put').mockImplementationOnce((file, check) => put(file, () => check(others)));
      await expect(write({ content: 'a', path: 'new' })).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining(expectedError),
      });
    }
    expect(await client.call('workspace.list', {})).toMatchObject({ count: 1 });
  });
});

describe('tools for files', () => {
  verifies(['tools/files', 'tools/loaded-late'], 'write, list, read by pages and remove, in the agent’s own workspace', async () => {
    const { model, results } = createCallingScript([
      { tool: 'file_write', args: { path: 'a/x.md', content: 'ab\u{1F426}cd' } },
      { tool: 'file_list', args: {} },
      { tool: 'file_read', args: { path: 'a/x.md', limit: 3 } },
      { tool: 'file_read', args: { path: 'a/x.md', offset: 2 } },
      { tool: 'file_read', args: { path: 'secret.md' } },
      { tool: 'file_read', args: { path: '../main/secret.md' } },
      { tool: 'file_read', args: { path: 'picture.png' } },
      { tool: 'file_write', args: { path: 'half', content: '\ud800' } },
      { tool: 'file_remove', args: { path: 'a/x.md' } },
      { tool: 'file_list', args: { under: 'a' } },
    ]);
    await using gw = await createTestGateway({ model });
    const { client } = await gw.client();
    await client.call('agents.add', { agent_id: 'writer', config: { workspace: 'writing' } });
    await client.call('config.set', { key: 'tools.policies.file_remove', value: 'auto' });
    await client.call('workspace.write', { path: 'secret.md', content: 'mine' });
    await client.call('workspace.write', {
      path: 'picture.png',
      workspace: 'writing',
      content: toBase64([...Buffer.from('GIF89a'), 1, 0, 1, 0, 0]),
      encoding: 'base64',
    });
    await client.call('chat.send', { message: 'write', agentId: 'writer' });
    const [wrote, listed, page, rest, none, outside, picture, half, removed, left] = results.map((text) => JSON.parse(text) as unknown);
    expect(wrote).toEqual({ written: 'a/x.md', size: 8, mimeType: 'text/markdown' });
    expect(listed).toMatchObject({ count: 2, files: [{ path: 'a/x.md' }, { path: 'picture.png', mimeType: 'image/gif' }] });
    expect(page).toMatchObject({ content: 'ab', nextOffset: 2, chars: 6 });
    expect(rest).toMatchObject({ content: '\u{1F426}cd', nextOffset: null });
    expect(none).toEqual({ error: 'No file "secret.md" in workspace "writing".' });
    expect(outside).toEqual({ error: expect.stringContaining('must not contain . or ..') });
    expect(picture).toEqual({ error: expect.stringContaining('is not a text file') });
    expect(half).toEqual({ error: expect.stringContaining('is not valid text') });
    expect(removed).toEqual({ removed: 'a/x.md' });
    expect(left).toEqual({ files: [], count: 0 });
    expect((await client.call('workspace.read', { path: 'secret.md' })).content).toBe('mine');
    const catalog = await client.call('tools.catalog', {});
    expect(
      catalog.tools.filter(({ name }) => /^(file_|plan_|send_file|skill_)/.test(name)).map(({ name, source }) => `${source} ${name}`),
    ).toEqual([
      'core file_list',
      'core file_read',
      'core file_remove',
      'core file_write',
      'core plan_create',
      'core plan_get',
      'core plan_update',
      'core send_file',
      'core skill_read',
    ]);
    expect((await client.call('tools.list', {})).tools).toEqual(catalog.tools.map(({ name }) => name));
    const named = articles.flatMap(
      ({ text }) => text.match(/\b(?:file|send|plan|skill)_(?!(?:id|citation|search|search_call)\b)\w+/g) ?? [],
    );
    expect(catalog.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
    expect(named.length).toBeGreaterThan(6);
  });

  verifies(
    ['tools/send-file', 'chat.attachment/bytes'],
    'arrives with the reply, can be fetched, and is named to the model alone',
    async () => {
      const { model, results } = createCallingScript([
        { tool: 'send_file', args: { path: 'out/report.csv', note: 'Your report' } },
        { tool: 'send_file', args: { path: 'big.bin' } },
        { tool: 'send_file', args: { path: 'none' } },
      ]);
      await using gw = await createTestGateway({ model });
      const { client } = await gw.client();
      const big = new Uint8Array(300_000).fill(255);
      await client.call('workspace.write', { path: 'out/report.csv', content: 'a,b\n' });
      await client.call('workspace.write', { path: 'big.bin', content: Buffer.from(big).toString('base64'), encoding: 'base64' });
      const { messageId } = await client.call('chat.send', { message: 'send it' });
      expect(results.map((text) => JSON.parse(text) as unknown)).toEqual([
        { sent: 'out/report.csv', size: 4 },
        { sent: 'big.bin', size: 300_000 },
        { error: expect.stringContaining('No file "none"') },
      ]);
      const attachments = [
        { filename: 'report.csv', mimeType: 'text/csv', size: 4 },
        { filename: 'big.bin', mimeType: 'application/octet-stream', size: 300_000 },
      ];
      const { messages } = await client.call('chat.history', { sessionId: 'main' });
      expect(messages.at(-1)).toMatchObject({
        id: messageId,
        role: 'assistant',
        content: 'done\nYour report\n\n[391 KiB left out here]',
        attachments,
      });
      // An attachment keeps the content that it had when it was sent.
      await client.call('workspace.remove', { path: 'out/report.csv' });
      const fetched = await Promise.all([0, 1].map((index) => client.call('chat.attachment', { sessionId: 'main', messageId, index })));
      expect(fetched.map(({ filename, content }) => [filename, Buffer.from(content, 'base64').length])).toEqual([
        ['report.csv', 4],
        ['big.bin', 300_000],
      ]);
      for (const where of [{ index: 2 }, { index: 0, sessionId: 'other' }, { index: 0, messageId: messages[0]?.id ?? '' }])
        await expect(client.call('chat.attachment', { sessionId: 'main', messageId, ...where })).rejects.toMatchObject({
          code: 'NOT_FOUND',
        });
      await client.call('chat.send', { message: 'thanks' });
      expect(gw.calls.at(-1)?.body.messages.find(({ content }) => String(content).startsWith('done'))?.content).toBe(
        'done\n\nYour report\n\n[You sent the file report.csv.]\n\n[You sent the file big.bin.]',
      );
    },
  );

  verifies('tools/send-file', 'small ones stand in the history; not where there is no chat', async () => {
    const { model } = createCallingScript([{ tool: 'send_file', args: { path: 'a.txt' } }]);
    await using gw = await createTestGateway({ model });
    const { client } = await gw.client();
    await client.call('workspace.write', { path: 'a.txt', content: 'hi' });
    await client.call('chat.send', { message: 'only one' });
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    expect(messages.at(-1)?.content).toEqual([
      { type: 'text', text: 'done' },
      { type: 'file', mimeType: 'text/plain', data: 'aGk=', filename: 'a.txt' },
    ]);
    const third = createCallingScript([
      { tool: 'send_file', args: { path: 'a.txt' } },
      { tool: 'plan_create', args: { goal: 'x', steps: ['y'] } },
    ]);
    await using stateless = await createTestGateway({ model: third.model, vault: gw.vault, useGuide: true });
    const body = JSON.stringify({ model: 'perch/main', messages: [{ role: 'user', content: 'hi' }] });
    const request = new Request('http://perch/v1/chat/completions', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    await (await stateless.gateway.fetch(request, { id: 'key-1', scopes: ['write'] })).text();
    expect(third.results.join()).toMatch(/Files can only be sent in a chat[\s\S]*Plans are only available in a chat/);
  });

  verifies('tools/file-versions', 'keep replaced and removed files, which one call restores', async () => {
    const { model } = createCallingScript([
      { tool: 'file_write', args: { path: 'mine.md', content: 'second' } },
      { tool: 'file_remove', args: { path: 'mine.md' } },
      { tool: 'memory_update_preference', args: { key: 'tone', value: 'friendly' } },
      { tool: 'memory_update_preference', args: { key: 'tone', value: 'dry' } },
    ]);
    await using gw = await createTestGateway({ model });
    const { client } = await gw.client();
    await client.call('config.set', { key: 'tools.policies.file_remove', value: 'auto' });
    await client.call('workspace.write', { path: 'mine.md', content: 'first' });
    await client.call('chat.send', { message: 'write' });
    const { versions } = await client.call('workspace.versions', { path: 'mine.md' });
    expect(versions).toMatchObject([
      { path: 'mine.md', size: 6, toolCallId: expect.any(String) },
      { path: 'mine.md', size: 5, toolCallId: expect.any(String) },
    ]);
    const read = async (path: string): Promise<string> => (await client.call('workspace.read', { path })).content;
    const restore = (at: number): Promise<unknown> => client.call('workspace.restore', { id: versions[at]?.id ?? '' });
    await client.call('workspace.restore', { toolCallId: versions[0]?.toolCallId ?? '' });
    expect(await read('mine.md')).toBe('second');
    await expect(client.call('workspace.restore', {})).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await restore(1);
    expect(await read('mine.md')).toBe('first');
    await expect(restore(1)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    // The content that a restored version replaced is a version too.
    const [last] = (await client.call('workspace.versions', { path: 'mine.md' })).versions;
    await client.call('workspace.restore', { id: last?.id ?? '' });
    expect(await read('mine.md')).toBe('second');
    const [memory] = (await client.call('workspace.versions', { path: 'MEMORY.md' })).versions;
    expect(await read('MEMORY.md')).toContain('tone: dry');
    await client.call('workspace.restore', { id: memory?.id ?? '' });
    expect(await read('MEMORY.md')).toContain('tone: friendly');
    expect(gw.faults).toEqual([]);
  });
});
