import { describe, expect, it } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import { type ModelParameters, modelParameters, readModelParameters } from '#shared/rpc/model-parameters.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createTestGateway, type TestGateway } from '../../../../tests/support/test-gateway.ts';
import { mergeParameters, toGenerationOptions, toInstructions } from './run-parameters.ts';

const PATH = 'main/main.jsonl';

/** The fields of the last request to the model, without its messages and tools. */
function getLastBody(gw: TestGateway): Record<string, unknown> {
  const {
    model: _m,
    messages: _messages,
    stream: _s,
    stream_options: _o,
    tools: _t,
    ...fields
  } = { tools: [], ...gw.calls.at(-1)?.body } as Record<string, unknown>;
  return fields;
}
const getSystem = (gw: TestGateway): string => String(gw.calls.at(-1)?.body.messages[0]?.content);

describe('parameters of a run', () => {
  verifies('chat/parameters', 'of a chat are set before its first message only if it is to be created', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    const path = 'main/new.jsonl';
    const parameters = { thinking: 'high', temperature: 0.4 } as const;
    await expect(client.call('sessions.setParameters', { path, parameters })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.call('sessions.setRecall', { path, enabled: false })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await client.call('sessions.setRecall', { path, enabled: false, create: true });
    const { session } = await client.call('sessions.setParameters', { path, parameters, create: true });
    expect(session).toMatchObject({ parameters, recall: false });
    await client.call('chat.send', { message: 'hi', sessionId: 'new' });
    expect(getLastBody(gw)).toEqual({ temperature: 0.4, reasoning_effort: 'high' });
    expect((await client.call('sessions.list', { paths: [path] })).sessions[0]).toMatchObject({ title: 'hi', parameters, recall: false });
  });

  verifies('chat/parameters', 'the call comes before the chat, and the chat before the agent', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'hi' });
    expect(getLastBody(gw)).toEqual({});
    await client.call('config.patch', {
      patch: { agents: { main: { systemPrompt: 'Be kind.', thinking: 'low', temperature: 0.1, topP: 0.2, seed: 1, verbosity: 'low' } } },
    });
    await client.call('chat.send', { message: 'hi' });
    expect(getLastBody(gw)).toEqual({ reasoning_effort: 'low', temperature: 0.1, top_p: 0.2, seed: 1 });
    const parameters: ModelParameters = {
      thinking: 'high',
      temperature: 0.4,
      stop: ['END'],
      maxTokens: 50,
      json: true,
      instructions: 'Speak of birds.',
    };
    await client.call('sessions.setParameters', { path: PATH, parameters });
    await client.call('chat.send', { message: 'hi' });
    const own = { temperature: 0.4, top_p: 0.2, seed: 1, stop: ['END'], max_tokens: 50, response_format: { type: 'json_object' } };
    expect(getLastBody(gw)).toEqual({ ...own, reasoning_effort: 'high' });
    expect(getSystem(gw)).toMatch(/^Be kind\.\n\nSpeak of birds\.\n\nKeep your replies short.*\n\nReply with a single JSON object/);
    await client.call('chat.send', { message: 'hi', thinking: 'medium', temperature: 0.9 });
    expect(getLastBody(gw)).toEqual({ ...own, temperature: 0.9, reasoning_effort: 'medium' });
    await client.call('chat.resend', { thinking: 'low' });
    expect(getLastBody(gw)).toEqual({ ...own, reasoning_effort: 'low' });
    await client.call('chat.edit', { message: 'ho', thinking: 'max', temperature: 0.3 });
    expect(getLastBody(gw)).toEqual({ ...own, temperature: 0.3, reasoning_effort: 'high' });
    // A prompt for this run does not take the place of the chat's instructions.
    await client.call('chat.send', { message: 'hi', systemPrompt: 'Be brief.' });
    expect(getSystem(gw)).toMatch(/^Be brief\.\n\nSpeak of birds\./);
    await client.call('chat.send', { message: 'hi', sessionId: 'other' });
    expect(getLastBody(gw)).toMatchObject({ reasoning_effort: 'low', temperature: 0.1 });
  });

  verifies('chat/parameters', 'a chat stores, lists and resets them, and tells its readers', async () => {
    await using gw = await createTestGateway();
    const { client, events } = await gw.client();
    const parameters = { thinking: 'off', verbosity: 'high', instructions: 'Use tables.' } as const;
    // Before the first message, for the main session only.
    const { session } = await client.call('sessions.setParameters', { path: PATH, parameters });
    expect(session).toMatchObject({ path: PATH, parameters });
    expect(events.filter(({ event }) => event === 'sessions.changed').at(-1)?.payload).toMatchObject({ path: PATH });
    await expect(client.call('sessions.setParameters', { path: 'main/none.jsonl', parameters })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await client.call('chat.send', { message: 'hi' });
    const list = async () => (await client.call('sessions.list', {})).sessions.map((entry) => entry.parameters);
    expect(await list()).toEqual([parameters]);
    const fork = await client.call('sessions.fork', { path: PATH, sessionId: 'fork' });
    expect(fork.session.parameters).toEqual(parameters);
    await client.call('sessions.reset', { path: PATH });
    expect((await client.call('sessions.list', { paths: [PATH] })).sessions[0]?.parameters).toEqual(parameters);
    // All are replaced at once.
    await client.call('sessions.setParameters', { path: PATH, parameters: { seed: 5 } });
    expect((await client.call('sessions.list', { paths: [PATH] })).sessions[0]?.parameters).toEqual({ seed: 5 });
    const reset = await client.call('sessions.setParameters', { path: PATH, parameters: null });
    expect('parameters' in reset.session).toBe(false);
    await client.call('chat.send', { message: 'hi' });
    expect(getLastBody(gw)).toEqual({});
    expect(gw.faults).toEqual([]);
  });

  verifies('chat/parameters', 'an export has them; an import takes them, but nobody else’s instructions', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'hi' });
    const { content: before } = await client.call('sessions.export', { path: PATH });
    await client.call('sessions.setParameters', { path: PATH, parameters: { thinking: 'max', instructions: 'Obey.' } });
    const { content } = await client.call('sessions.export', { path: PATH });
    const lines = content.split('\n').filter(Boolean);
    expect(lines.map((line) => 'sessionParameters' in (JSON.parse(line) as object))).toEqual([true, false]);
    const { session } = await client.call('sessions.import', { content });
    expect([session.messageCount, session.parameters]).toEqual([2, { thinking: 'max' }]);
    expect((await client.call('sessions.import', { content: before })).session.parameters).toBeUndefined();
    const [first = '', ...rest] = content.split('\n');
    const odd = JSON.stringify({ ...(JSON.parse(first) as object), sessionParameters: { thinking: 'wild', seed: 3, other: 1 } });
    expect((await client.call('sessions.import', { content: [odd, ...rest].join('\n') })).session.parameters).toEqual({ seed: 3 });
  });

  verifies('chat/parameters', 'a wrong value is refused by its name, wherever it is set', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'hi' });
    const cases: [object, RegExp][] = [
      [{ thinking: 'wild' }, /thinking` must be/],
      [{ temperature: 2.1 }, /temperature`/],
      [{ temperature: '1' }, /temperature`/],
      [{ topP: -0.1 }, /topP`/],
      [{ maxTokens: 0 }, /maxTokens`/],
      [{ maxTokens: 1.5 }, /maxTokens`/],
      [{ seed: 0.5 }, /seed`/],
      [{ stop: ['a', 'b', 'c', 'd', 'e'] }, /stop`/],
      [{ stop: ['x'.repeat(201)] }, /stop(\.|\[)0/],
      [{ verbosity: 'none' }, /verbosity`/],
      [{ json: 'yes' }, /json`/],
      [{ instructions: 'x'.repeat(20_001) }, /instructions`/],
      [{ top_p: 1 }, /top_p`/],
    ];
    const job = { message: 'hi', cron: '0 9 * * *' };
    for (const [parameters, message] of cases) {
      const refused = expect.objectContaining({ code: 'INVALID_PARAMS', message: expect.stringMatching(message) as string }) as object;
      await expect(client.request('sessions.setParameters', { path: PATH, parameters })).rejects.toEqual(refused);
      await expect(client.request('cron.add', { ...job, parameters })).rejects.toEqual(refused);
      await expect(client.request('config.patch', { patch: { agents: { main: parameters } } })).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
      });
      await expect(client.request('config.patch', { patch: { channels: { telegram: { parameters } } } })).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
      });
    }
    await expect(client.request('chat.send', { message: 'hi', thinking: 'none' })).rejects.toMatchObject({
      ...{ code: 'INVALID_PARAMS', message: expect.stringContaining('`thinking`') as string },
    });
    // Unknown settings are answered with the nearest name.
    await expect(client.call('config.set', { key: 'agents.main.topp', value: 0.5 })).rejects.toMatchObject({
      message: 'Unknown setting "agents.main.topp". The nearest is "agents.main.topP".',
    });
    await expect(client.call('config.set', { key: 'channels.telegram.parameters.thinkin', value: 'low' })).rejects.toMatchObject({
      message: 'Unknown setting "channels.telegram.parameters.thinkin". The nearest is "channels.telegram.parameters.thinking".',
    });
  });

  verifies('chat/parameters', 'a program cannot put instructions into a chat', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'hi' });
    const program = await GatewayClient.connect(gw.link({ principal: 'key:1' }), { params: { clientName: 'program' } });
    await expect(program.call('sessions.setParameters', { path: PATH, parameters: { instructions: 'Obey.' } })).rejects.toMatchObject({
      code: 'AUTH_REQUIRED',
    });
    const { session } = await program.call('sessions.setParameters', { path: PATH, parameters: { thinking: 'low' } });
    expect(session.parameters).toEqual({ thinking: 'low' });
  });

  it('keeps what it understands of parameters that another build has stored', async () => {
    expect(readModelParameters({ thinking: 'low', temperature: 9, later: true })).toEqual({ thinking: 'low' });
    for (const value of [undefined, null, 'low', {}, { later: true }, [1]]) expect(readModelParameters(value)).toBeUndefined();
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'hi' });
    await gw.vault.sessions.update('main/main', { parameters: JSON.parse('{"temperature":"hot","seed":4,"later":1}') as object });
    expect((await client.call('sessions.list', {})).sessions[0]?.parameters).toEqual({ seed: 4 });
    await client.call('chat.send', { message: 'hi' });
    expect(getLastBody(gw)).toEqual({ seed: 4 });
  });
});

it('merges layers, the first first, and adds their instructions', () => {
  const call = { thinking: 'low', temperature: undefined } as const;
  const chat = { temperature: 0.2, json: false, instructions: 'Chat' };
  const job = { temperature: 0.7, json: true, topP: 0.1, instructions: 'Job' };
  expect(mergeParameters(call, chat, undefined, job, null)).toEqual({
    ...{ thinking: 'low', temperature: 0.2, json: false, topP: 0.1, instructions: 'Job\n\nChat' },
  });
  expect(mergeParameters({}, undefined)).toEqual({});
  expect(toInstructions({})).toBe('');
  expect(toInstructions({ json: true }, { responseFormat: { type: 'json_object' } })).toBe('');
  expect(toGenerationOptions({ thinking: 'off', stop: [], json: false, instructions: 'x' })).toEqual({ reasoningEffort: 'none' });
  expect(Object.keys(modelParameters.shape).sort()).toEqual(
    ['thinking', 'temperature', 'topP', 'maxTokens', 'seed', 'stop', 'verbosity', 'json', 'instructions'].sort(),
  );
});
