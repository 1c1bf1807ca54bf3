import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { RpcError } from '#shared/rpc/rpc-error.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createScript, createTestGateway } from '../../../../tests/support/test-gateway.ts';

const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const PATH = 'main/main.jsonl';

async function exportSession(
  client: GatewayClient,
  path: string,
  format: 'jsonl' | 'markdown' = 'jsonl',
): Promise<{ content: string; parts: number }> {
  let content = '';
  let parts = 0;
  for (let cursor: string | null | undefined; cursor !== null; parts++) {
    const part = await client.call('sessions.export', { path, format, ...(cursor === undefined ? {} : { cursor }) });
    content += part.content;
    ({ cursor } = part);
  }
  return { content, parts };
}

const listMessages = async (client: GatewayClient, path: string) =>
  (await client.call('sessions.preview', { path })).messages.map(({ role, content }) => [role, content]);

describe('exported and imported sessions', () => {
  verifies(['sessions.export/round-trip', 'sessions.fork/copies'], 'with branches, a picture and calls of tools', async () => {
    await using gw = await createTestGateway({
      model: (_call, count) => (count === 3 ? [{ tool: 'current_time', args: {} }] : [`answer ${count}`]),
    });
    const { client } = await gw.client();
    const attachments = [{ filename: 'dot.png', mimeType: 'image/png', content: PICTURE }];
    await client.call('chat.send', { message: 'first', attachments });
    await client.call('chat.edit', { message: 'first, edited' });
    await client.call('chat.send', { message: 'second — 名前' });
    const entry = async (path: string) => (await client.call('sessions.list', {})).sessions.find((each) => each.path === path);
    const [before, history] = [await entry(PATH), await listMessages(client, PATH)];
    const { content } = await exportSession(client, PATH);
    expect(Buffer.byteLength(content)).toBe(before?.size);
    expect(content.trimEnd().split('\n')).toHaveLength(before?.messageCount ?? 0);

    const { session } = await client.call('sessions.import', { content, sessionId: 'copy' });
    expect(session).toMatchObject({
      path: 'main/copy.jsonl',
      title: 'first',
      messageCount: before?.messageCount,
      preview: before?.preview,
    });
    expect(await listMessages(client, session.path)).toEqual(history);
    const again = await exportSession(client, session.path);
    // The import is a source of each message from then on.
    const shape = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => ({ ...JSON.parse(line), id: '', parentId: '', outside: [] }) as unknown);
    expect(shape(again.content)).toEqual(shape(content));
    // Both go on, each for itself.
    await client.call('chat.send', { message: 'third', sessionId: 'copy' });
    expect((await listMessages(client, session.path)).length).toBe(history.length + 2);
    expect(await listMessages(client, PATH)).toEqual(history);

    const { messages } = await client.call('sessions.preview', { path: PATH });
    const { session: fork } = await client.call('sessions.fork', { path: PATH });
    expect(await listMessages(client, fork.path)).toEqual(history);
    expect(fork).toMatchObject({ title: before?.title, messageCount: history.length });
    const { session: part } = await client.call('sessions.fork', { path: PATH, messageId: messages[1]?.id ?? '', sessionId: 'part' });
    expect(await listMessages(client, part.path)).toEqual(history.slice(0, 2));
    await expect(client.call('sessions.fork', { path: PATH, sessionId: 'part' })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await expect(client.call('sessions.fork', { path: PATH, messageId: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.call('sessions.fork', { path: 'main/none.jsonl' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await entry(PATH)).toEqual(before);
  });

  verifies('sessions.export/round-trip', 'it is named for how it began, whichever branch is the active one', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'How it began' });
    await client.call('chat.send', { message: 'what was edited' });
    await client.call('chat.edit', { message: 'edited' });
    const { content } = await exportSession(client, PATH);
    expect((await client.call('sessions.import', { content })).session.title).toBe('How it began');
  });

  verifies('sessions.export/round-trip', 'a long one comes in parts', async () => {
    const long = 'x'.repeat(450_000);
    await using gw = await createTestGateway({ model: createScript([long]) });
    const { client } = await gw.client();
    for (let n = 0; n < 8; n++) await client.call('chat.send', { message: long });
    const { content, parts } = await exportSession(client, PATH);
    expect(parts).toBe(2);
    expect(Buffer.byteLength(content)).toBe((await client.call('sessions.list', {})).sessions[0]?.size);
    expect((await client.call('sessions.import', { content })).session).toMatchObject({ messageCount: 16 });
    await expect(client.call('sessions.export', { path: PATH, cursor: 'gone' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies('sessions.export/markdown', 'names the speakers, and fences text that has fences', async () => {
    await using gw = await createTestGateway({
      model: (_call, count) => (count === 1 ? [{ tool: 'memory_add', args: { text: '```js```' } }] : ['Kept.']),
    });
    const { client } = await gw.client();
    await client.call('chat.send', {
      message: 'Keep this',
      attachments: [{ filename: 'dot.png', mimeType: 'image/png', content: PICTURE }],
    });
    const { content } = await exportSession(client, PATH, 'markdown');
    expect(content.startsWith('# Keep this\n\n## You\n\nKeep this\n\nAttached: dot.png (image/png, ')).toBe(true);
    expect(content).toContain('## Assistant (test/scripted)\n\nCalls `memory_add`:\n\n````json\n{\n  "text": "```js```"\n}\n````\n');
    expect(content).toContain('## Tool memory_add\n\n');
    expect(content.endsWith('## Assistant (test/scripted)\n\nKept.\n\n')).toBe(true);
    expect(content).not.toContain(PICTURE);
  });

  verifies('sessions.export/markdown', 'imports the exported messages, also text that resembles a heading', async () => {
    const replies = ['Fine.\n\n## You\n\nno, me\n\\## Tool x', 'Bye'];
    await using gw = await createTestGateway({ model: createScript(replies) });
    const { client } = await gw.client();
    await client.call('chat.send', { message: '## Assistant\nhow are you?' });
    await client.call('chat.send', { message: 'second' });
    const { content } = await exportSession(client, PATH, 'markdown');
    const { session } = await client.call('sessions.import', { content: content.replaceAll('\n', '\r\n') });
    expect(await listMessages(client, session.path)).toEqual(await listMessages(client, PATH));
    expect(session.title).toBe((await client.call('sessions.list', {})).sessions.find(({ path }) => path === PATH)?.title);
    const written = await client.call('sessions.import', {
      content: '\n# Notes\n\n## You\nHi\n## Assistant (a/b)\n\nHo\n\n## Tool t\n\nDone',
    });
    expect(written.session).toMatchObject({ title: 'Notes', messageCount: 2 });
    expect(await listMessages(client, written.session.path)).toEqual([
      ['user', 'Hi'],
      ['assistant', 'Ho\n\n**Tool t**\n\nDone'],
    ]);
    await client.call('chat.send', { message: 'on', sessionId: written.session.sessionId });
    const bare = client.call('sessions.import', { content: '# Only a title' });
    await expect(bare).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: expect.stringMatching(/## You/) as string });
  });

  verifies('sessions.import/refuses', 'by its line', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const line = (id: string, parentId: string | null, more: object = {}): string =>
      JSON.stringify({ id, role: 'user', content: 'hi', timestamp: 1, parentId, ...more });
    const wrong: [content: string, message: RegExp][] = [
      ['', /content/],
      ['\n \n', /no messages/],
      [`${line('a', null)}\nnot json`, /Line 2 of `content`: invalid JSON/],
      [`${line('a', null)}\n{"id":"b"}`, /Line 2/],
      [line('a', null, { role: 'king' }), /Line 1 of `content`: invalid message: `role`/],
      [`${line('a', null)}\n${line('a', null)}`, /Line 2 of `content`: duplicate id of line 1/],
      [line('a', 'b'), /Line 1 of `content`: its parent message is missing/],
      [`${line('a', 'b')}\n${line('b', 'a')}`, /cycle/],
      [line('a', 'a'), /cycle/],
    ];
    for (const [content, message] of wrong) {
      const failed = client.call('sessions.import', { content });
      const { message: errorMessage, extra } = await failed.then(
        () => expect.unreachable(content),
        (error: RpcError) => error,
      );
      expect(errorMessage, content).toMatch(message);
      const [, line] = /Line (\d+) of/.exec(errorMessage) ?? [];
      expect(extra.details?.['line'], content).toBe(line && Number(line));
    }
    await expect(client.call('sessions.import', { content: line('a', null), agentId: 'none' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    expect((await client.call('sessions.list', {})).sessions).toEqual([]);
    const { session } = await client.call('sessions.import', { content: `${line('b', 'a')}\n\n${line('a', null)}\n`, title: 'Mine' });
    expect(session).toMatchObject({ title: 'Mine', messageCount: 2 });
    await expect(client.call('sessions.import', { content: line('a', null), sessionId: session.sessionId })).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
    });
  });
});
