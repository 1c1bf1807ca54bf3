import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { HTTP_BASE, readError, createUpstreamHttp } from '../../../../tests/support/test-http.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { UPSTREAM_TEXT } from '../../../../tests/test-upstream.ts';

const v1 = createUpstreamHttp();
const TEXT = UPSTREAM_TEXT.join('');

describe('the openai package', () => {
  verifies('http.chat/openai-client', 'talks to agents and models, streaming and not, and reads errors', async () => {
    for (const [model, expected] of [
      ['perch/main', 'Hello'],
      ['up/normal', TEXT],
    ] as const) {
      const messages = [{ role: 'user' as const, content: 'Hi' }];
      const completion = await v1.http.openai().chat.completions.create({ model, messages });
      expect(completion.choices[0]?.message.content).toBe(expected);
      expect(completion.usage?.total_tokens).toBeGreaterThan(0);
      let text = '';
      let usage = 0;
      for await (const chunk of await v1.http.openai().chat.completions.create({
        model,
        messages,
        stream: true,
        stream_options: { include_usage: true },
      })) {
        text += chunk.choices[0]?.delta.content ?? '';
        usage = chunk.usage?.total_tokens ?? usage;
      }
      expect(text).toBe(expected);
      expect(usage).toBeGreaterThan(0);
    }
    const listed = await v1.http.openai().models.list();
    expect(listed.data.map(({ id }) => id)).toEqual(['perch/main', 'perch/helper', 'guide/guide', 'up/normal', 'up/tool']);
    expect(await v1.http.openai().models.retrieve('up/normal')).toMatchObject({ id: 'up/normal', owned_by: 'up' });
    await expect(v1.http.openai().chat.completions.create({ model: 'nope', messages: [] })).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(
      v1.http.openai().chat.completions.create({ model: 'nope', messages: [{ role: 'user', content: 'Hi' }] }),
    ).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    const cut = await v1.http
      .openai()
      .chat.completions.create({ model: 'up/cut', messages: [{ role: 'user', content: 'Hi' }], stream: true });
    const readAll = async (): Promise<void> => {
      for await (const _ of cut);
    };
    await expect(readAll()).rejects.toBeInstanceOf(OpenAI.APIError);
  });

  it('assembles streamed tool calls', async () => {
    const runner = v1.http.openai().chat.completions.stream({ model: 'up/tool', messages: [{ role: 'user', content: 'Hi' }] });
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'get_weather', arguments: '{"city":"Köln"}' } }]);
  });
});

describe('GET /v1/models', () => {
  verifies('http.models/list', 'lists agents and models', async () => {
    const response = await v1.http.ask(new Request(`${HTTP_BASE}/v1/models/`));
    expect(await response.json()).toMatchObject({
      object: 'list',
      data: [
        { id: 'perch/main', object: 'model', owned_by: 'perch', created: expect.any(Number) },
        { id: 'perch/helper' },
        { id: 'guide/guide', owned_by: 'guide' },
        { id: 'up/normal', owned_by: 'up' },
        { id: 'up/tool' },
      ],
    });
  });

  it('gives one by its id, plain or encoded', async () => {
    for (const id of ['guide/guide', 'guide%2Fguide', 'perch/main'])
      expect((await v1.http.ask(new Request(`${HTTP_BASE}/v1/models/${id}`))).status).toBe(200);
    for (const id of ['nope', '%E0%A4%A', '__proto__', '..%2f..']) {
      const response = await v1.http.ask(new Request(`${HTTP_BASE}/v1/models/${id}`));
      expect([id, response.status, (await readError(response)).type]).toEqual([id, 404, 'model_not_found']);
    }
  });
});
