import { toFile } from 'openai';
import { describe, expect } from 'vitest';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { HTTP_BASE, readError, createUpstreamHttp } from '../../../../../tests/support/test-http.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { API_FILE_LIMITS } from './api-files.ts';

const v1 = createUpstreamHttp();
const upload = async (text: string, name = 'notes.txt', principal = 'owner') =>
  v1.http.openai(principal).files.create({ file: await toFile(Buffer.from(text), name), purpose: 'user_data' });
const lastMessages = (): unknown => v1.upstream.requests.at(-1)?.body?.['messages'];
const toUrl = (text: string, type = 'text/plain'): string => `data:${type};base64,${Buffer.from(text).toString('base64')}`;

describe('/v1/files', () => {
  verifies('http.files/openai', 'uploads, lists, reads and deletes, each key its own', async () => {
    const client = v1.http.openai('key:a');
    const first = await upload('One', 'one.txt', 'key:a');
    expect(first).toMatchObject({ object: 'file', bytes: 3, filename: 'one.txt', purpose: 'user_data', status: 'processed' });
    const second = await upload('Zwei – 漢字', 'two.md', 'key:a');
    expect((await client.files.list()).data.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect((await client.files.list({ order: 'asc', limit: 1 })).data.map(({ id }) => id)).toEqual([first.id]);
    expect((await client.files.list({ after: second.id })).data.map(({ id }) => id)).toEqual([first.id]);
    expect((await client.files.list({ purpose: 'batch' })).data).toEqual([]);
    expect(await client.files.retrieve(first.id)).toEqual(first);
    const content = await client.files.content(second.id);
    expect(await content.text()).toBe('Zwei – 漢字');
    expect([content.headers.get('content-type'), content.headers.get('x-content-type-options')]).toEqual([
      'application/octet-stream',
      'nosniff',
    ]);
    const other = v1.http.openai('key:b');
    expect((await other.files.list()).data).toEqual([]);
    await expect(other.files.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
    await expect(other.files.delete(first.id)).rejects.toMatchObject({ status: 404 });
    expect(await client.files.delete(first.id)).toEqual({ id: first.id, object: 'file', deleted: true });
    await expect(client.files.content(first.id)).rejects.toMatchObject({ status: 404 });
    expect([...v1.http.apiFiles.records.keys()]).toEqual([`content/${second.id}`, second.id]);
  });

  verifies('http.files/openai', 'what is no form, or lacks a part, is refused', async () => {
    const post = async (body: BodyInit, headers: Record<string, string> = {}) => {
      const response = await v1.http.ask(new Request(`${HTTP_BASE}/v1/files`, { method: 'POST', body, headers }));
      return [response.status, (await readError(response)).param];
    };
    expect(await post('{}', { 'content-type': 'application/json' })).toEqual([400, null]);
    const form = new FormData();
    expect(await post(form)).toEqual([400, 'file']);
    form.set('file', new Blob(['x']), 'x.txt');
    expect(await post(form)).toEqual([400, 'purpose']);
    expect((await v1.http.ask(new Request(`${HTTP_BASE}/v1/files/content/file-1`))).status).toBe(404);
  });

  verifies('http.files/limits', 'a file expires, and the number of files is limited', async () => {
    const clock = new FakeClock();
    const http = v1.at(clock);
    http.clock = { ...http.clock, now: () => clock.now() };
    const file = await toFile(Buffer.from('x'), 'x.txt');
    const { id, expires_at } = await http
      .openai()
      .files.create({ file, purpose: 'user_data', expires_after: { anchor: 'created_at', seconds: 3600 } });
    expect(expires_at).toBe(Math.floor(clock.now() / 1000) + 3600);
    clock.advance(3_600_000);
    await expect(http.openai().files.retrieve(id)).rejects.toMatchObject({ status: 404 });
    const meta = http.apiFiles.records.get(id)!;
    for (let i = 0; i < API_FILE_LIMITS.count; i++)
      http.apiFiles.records.set(`file-${i}`, { ...meta, id: `file-${i}`, expiresAt: undefined } as typeof meta);
    await expect(http.openai().files.create({ file, purpose: 'user_data' })).rejects.toMatchObject({ status: 400, param: 'file' });
    expect(http.apiFiles.records.has(id)).toBe(false);
  });
});

verifies('http.files/used', 'responses and chat completions put the content in place of the id', async () => {
  const { id } = await upload('Hello');
  const { id: picture } = await upload('PNG', 'dot.png');
  await v1.http.openai().responses.create({
    model: 'up/normal',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_file', file_id: id },
          { type: 'input_image', file_id: picture, detail: 'auto' },
          { type: 'input_text', text: 'Read' },
        ],
      },
    ],
  });
  expect(JSON.stringify(lastMessages())).toContain('Hello');
  expect(JSON.stringify(lastMessages())).toContain(toUrl('PNG', 'image/png'));
  const content = [
    { type: 'file' as const, file: { file_id: id } },
    { type: 'text' as const, text: 'Read' },
  ];
  const messages = [{ role: 'user' as const, content }];
  await v1.http.openai().chat.completions.create({ model: 'up/normal', messages });
  expect(lastMessages()).toMatchObject([
    { content: [{ type: 'file', file: { filename: 'notes.txt', file_data: toUrl('Hello') } }, { text: 'Read' }] },
  ]);
  await v1.http.openai().chat.completions.create({ model: 'perch/main', messages });
  expect(v1.http.runs.at(-1)?.messages).toMatchObject([{ content: [{ type: 'file', filename: 'notes.txt' }, { type: 'text' }] }]);
  // The provider may know an id that Perch does not.
  const theirs = [{ role: 'user' as const, content: [{ type: 'file' as const, file: { file_id: 'file-theirs' } }] }];
  await v1.http.openai().chat.completions.create({ model: 'up/normal', messages: theirs });
  expect(lastMessages()).toEqual(theirs);
  const { id: others } = await upload('Secret', 'x.txt', 'key:a');
  const foreign = [{ role: 'user' as const, content: [{ type: 'input_file' as const, file_id: others }] }];
  await expect(v1.http.openai('key:b').responses.create({ model: 'perch/main', input: foreign })).rejects.toMatchObject({ status: 400 });
});
