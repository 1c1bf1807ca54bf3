import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { createTestGateway } from '../../../../tests/support/test-gateway.ts';

const MB = 1024 * 1024;
const toBase64 = (bytes: number): string => Buffer.alloc(bytes).toString('base64');

describe('params of chat', () => {
  verifies('chat.send/route', 'model, provider, system prompt and temperature reach the model, before those of the agent', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('agents.add', { agent_id: 'helper', config: { model: 'test/own', systemPrompt: 'Be kind', temperature: 0.1 } });
    const getLastRequest = () => {
      const { model, temperature, messages } = gw.calls.at(-1)?.body ?? {};
      return { model, temperature, system: String(messages?.[0]?.content) };
    };
    const agentId = 'helper';
    await client.call('chat.send', { message: 'hi', agentId });
    expect(getLastRequest()).toEqual({ model: 'own', temperature: 0.1, system: expect.stringContaining('Be kind') as string });
    const savedParams = { model: 'other', provider: 'test', systemPrompt: 'Be brief', temperature: 0.9 };
    await client.call('chat.send', { message: 'hi', agentId, ...savedParams });
    expect(getLastRequest()).toEqual({ model: 'other', temperature: 0.9, system: expect.stringContaining('Be brief') as string });
    expect(getLastRequest().system).not.toContain('Be kind');
    await client.call('chat.resend', { agentId, model: 'test/again' });
    expect(getLastRequest().model).toBe('again');
    await client.call('chat.edit', { message: 'ho', agentId, model: 'edited', provider: 'test' });
    expect(getLastRequest().model).toBe('edited');
    await expect(client.call('chat.send', { message: 'hi', provider: 'nobody', model: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    for (const temperature of [-0.1, 2.1])
      await expect(client.call('chat.send', { message: 'hi', temperature })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  });

  verifies('chat.send/sanitize', 'what is edited is cleaned like what is sent', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'one' });
    for (const message of ['a\0b', '\u0007'])
      await expect(client.call('chat.edit', { message })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await client.call('chat.edit', { message: 'caf\u0065\u0301\u0007\tx\r\ny' });
    expect((await client.call('chat.history', { sessionId: 'main' })).messages[0]?.content).toBe('caf\u00e9\tx\ny');
  });

  verifies('chat.send/attachments', 'any type, either spelling; 16 MB each, 18 MB a message, an image 6 MB', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const send = (attachments: object[]) =>
      client.request('chat.send', { message: 'look', attachments }).then(
        () => 'taken',
        (error: { code: string; message: string }) => `${error.code} ${error.message}`,
      );
    const file = (bytes: number, mimeType = 'application/x-anything') => ({ filename: 'f', mimeType, content: toBase64(bytes) });
    expect(await send([{ fileName: 'f', mimeType: 'x/y', base64: toBase64(3), size: 3 }])).toBe('taken');
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    expect(messages[0]?.attachments).toEqual([{ filename: 'f', mimeType: 'x/y', size: 3 }]);
    expect(await send([file(16 * MB)])).toBe('taken');
    expect(await send([file(6 * MB, 'image/png')])).toBe('taken');
    for (const [attachments, why] of [
      [[file(16 * MB + 1)], '16 MB'],
      [[file(6 * MB + 1, 'image/png')], '6 MB'],
      [[file(10 * MB), file(8 * MB + 1)], '18 MB'],
    ] as const)
      expect(await send([...attachments])).toMatch(new RegExp(`^INVALID_PARAMS Invalid \`attachments\\.\\d\`: .*${why}`));
    for (const wrong of [
      { mimeType: 'x/y', content: '' },
      { filename: 'f', content: '' },
      { ...file(1), more: 1 },
    ]) {
      expect(await send([wrong])).toMatch(/^INVALID_PARAMS .*`attachments/);
    }
  });

  verifies('ids/form', 'of agents, sessions and profiles', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    for (const id of ['', 'a b', 'a.b', 'a/b', 'ä', 'x'.repeat(129), '../x', 5]) {
      for (const [method, params] of [
        ['chat.send', { message: 'hi', sessionId: id }],
        ['chat.send', { message: 'hi', agentId: id }],
        ['chat.history', { sessionId: id }],
        ['agents.add', { agent_id: id }],
        ['browser.status', { profile: id }],
        ['browser.createProfile', { name: id }],
      ] as const)
        await expect(client.request(method, params), `${method} ${id}`).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    }
    for (const sessionId of ['_', 'A-z_9', 'x'.repeat(128)]) await client.call('chat.send', { message: 'hi', sessionId });
  });
});
