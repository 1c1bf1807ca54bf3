import { describe, expect } from 'vitest';
import { PROTOCOL_LIMITS } from '#shared/rpc/frames.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { modelEntry, providerEntry } from '#shared/rpc/record-schemas.ts';
import { verifies } from '../../../tests/requirements.ts';
import { createTestGateway, waitFor } from '../../../tests/support/test-gateway.ts';
import { sendRawRequest } from '../../../tests/support/raw-connection.ts';

describe('connections', () => {
  verifies('connect/protocol-2', 'the earlier shapes at 2, and only there', async () => {
    await using gw = await createTestGateway();
    const models = await sendRawRequest(gw, 'models.list', '{}', 2);
    expect(models.ok && models.payload).toEqual([
      expect.objectContaining({ id: 'guide/guide', provider: 'guide' }),
      expect.objectContaining({ id: 'test/scripted', provider: 'test' }),
    ]);
    const tools = await sendRawRequest(gw, 'tools.list', '{}', 2);
    const { client } = await gw.client();
    const { tools: catalog } = await client.call('tools.catalog', {});
    expect(tools.ok && tools.payload).toEqual(catalog.map(({ name, description }) => ({ name, description })));
    // Methods without an earlier shape respond as before, and so do errors.
    expect(await sendRawRequest(gw, 'health', '{}', 2)).toMatchObject({ ok: true, payload: { status: 'ok' } });
    expect(await sendRawRequest(gw, 'models.list', '{"extra":1}', 2)).toMatchObject({ ok: false, error: { code: 'INVALID_PARAMS' } });
    expect(await sendRawRequest(gw, 'models.list', '{}', 3)).toMatchObject({ ok: true, payload: { models: expect.any(Array) } });
    expect(await sendRawRequest(gw, 'tools.list', '{}', 3)).toMatchObject({
      ok: true,
      payload: { tools: expect.arrayContaining(['current_time']) },
    });
  });

  verifies('limits/connections', 'the thousandth gets in, the next is told why not, until one leaves', async () => {
    await using gw = await createTestGateway();
    await waitFor(async () => (await gw.client()).client.close() === undefined);
    const { client } = await gw.client();
    await waitFor(async () => (await client.call('health', {})).connections === 1, 'the earlier connections to be gone');
    const links = Array.from({ length: PROTOCOL_LIMITS.maxConnections - 1 }, () => gw.link());
    expect(PROTOCOL_LIMITS.maxConnections).toBe(1000);
    expect((await client.call('health', {})).connections).toBe(1000);
    const refused = await new Promise((resolve) =>
      gw.link().receive({ message: () => {}, close: (code, reason) => resolve([code, reason]) }),
    );
    expect(refused).toEqual([1013, expect.stringContaining('1000 connections')]);
    links[0]?.close();
    await waitFor(async () => (await client.call('health', {})).connections === 999, 'one to leave');
    expect((await gw.client()).client.hello.protocol).toBe(3);
  });

  verifies('limits/message', '500,000 characters are accepted, one more is not, by any way of writing', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'x'.repeat(500_000) });
    for (const method of ['chat.send', 'chat.edit'] as const) {
      await expect(client.call(method, { message: 'x'.repeat(500_001) })).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining('message'),
      });
    }
    expect(gw.calls).toHaveLength(1);
    expect((await client.call('sessions.list', {})).sessions[0]?.messageCount).toBe(2);
  });
});

describe('models and tools', () => {
  verifies(['models.list/entries', 'models/key'], 'every field of every entry; the key leads to the model', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const models = modelEntry
      .strict()
      .array()
      .parse((await client.call('models.list', {})).models);
    expect(models.map(({ key }) => key)).toEqual(['guide/guide', 'test/scripted']);
    for (const { key, provider, model_id } of models) expect(key).toBe(`${provider}/${model_id}`);
    expect(Object.keys(models[1] ?? {}).sort()).toEqual(Object.keys(modelEntry.shape).sort());
    await client.call('chat.send', { message: 'hi', model: 'test/vendor/of:model' });
    expect(gw.calls[0]?.body.model).toBe('vendor/of:model');
    expect((await client.call('chat.history', { sessionId: 'main' })).messages[1]?.model).toBe('test/vendor/of:model');
    await client.call('chat.send', { message: 'hi', model: 'guide/guide' });
    expect(gw.calls).toHaveLength(1);
    for (const model of ['none/scripted', 'guide/other', 'scripted-not', '/', 'constructor/x']) {
      await expect(client.call('chat.send', { message: 'hi', model }), model).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
  });

  verifies('models.providers/list', 'the guide, what is configured, and how they are', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const list = async () =>
      providerEntry
        .strict()
        .array()
        .parse((await client.call('models.providers', { refresh: true })).providers);
    expect(await list()).toEqual([
      { id: 'guide', name: expect.any(String), kind: 'guide', state: 'ready', models: 1 },
      { id: 'test', name: 'test', kind: 'openai-compatible', state: 'ready', models: 1, baseUrl: 'http://model.test/v1' },
    ]);
    await client.call('config.patch', {
      patch: { providers: { second: { name: 'Second', baseUrl: 'http://second.test/v1', apiKey: 'sk-plain' } } },
    });
    expect(await list()).toMatchObject([{ id: 'guide' }, { id: 'test' }, { id: 'second', name: 'Second' }]);
    await client.call('config.set', { key: 'providers.test.enabled', value: false });
    const left = await list();
    expect(left.map(({ id }) => id)).toEqual(['guide', 'second']);
    expect(JSON.stringify(left)).not.toContain('sk-plain');
  });

  verifies('tools/list-and-catalog', 'the same tools, by name and with a schema each', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const { tools: names, labels = {} } = await client.call('tools.list', {});
    const { tools, count } = contracts['tools.catalog'].result.parse(await client.call('tools.catalog', {}));
    expect(names).toContain('current_time');
    expect(tools.map(({ name }) => name)).toEqual(names);
    expect(new Set(names).size).toBe(count);
    expect(Object.keys(labels)).toEqual([...names, 'tool_search']);
    expect(new Set(tools.map(({ title }) => title)).size).toBe(count);
    for (const { name, title, summary, description, schema, source } of tools) {
      expect(labels[name]).toEqual({ title, summary });
      expect([name, title, summary, description, source]).toEqual([
        expect.stringMatching(/^\w+$/),
        expect.stringMatching(/^[A-Z][a-z]+ [\w ]{1,22}$/),
        expect.stringMatching(/^[A-Z][a-z]+s,? [^.]{1,70}\.$/),
        expect.stringMatching(/\w+ \w+/),
        expect.stringMatching(/^(bridge|core|memory|office)$/),
      ]);
      expect(schema).toMatchObject({ type: 'object', properties: expect.any(Object) });
    }
  });
});
