import { expect, it } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { createStreamResponse, toUnnamedEvents } from '../../../../tests/support/fake-provider-server.ts';
import { createClaudeResponse, createVendorGateway } from '../../../../tests/support/vendors.ts';

const DONE = toUnnamedEvents({ choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }] });
const WHOLE = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, logprobs: null, finish_reason: 'stop' }],
};

/** A gateway whose `main` agent uses a model of OpenAI. `answer` returns the response to each request for a completion. */
async function createAgentGateway(model = 'gpt-5', answer = (_body: object): Response => createStreamResponse(DONE)) {
  const made = await createVendorGateway(({ url, body }) => {
    if (!url.startsWith('http://oa.test')) return createClaudeResponse();
    return body?.['stream'] === true ? answer(body) : Response.json(WHOLE);
  });
  await made.client.call('config.patch', {
    patch: {
      providers: { oa: { kind: 'openai', apiKey: 'k', baseUrl: 'http://oa.test/v1' } },
      agents: { main: { model: `oa/${model}` } },
    },
  });
  const ask = async (path: string, body: object): Promise<Response> =>
    made.gw.gateway.fetch(
      new Request(`http://perch.test${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
      { id: 'owner', scopes: ['admin'] },
    );
  return { ...made, ask };
}

const messages = [{ role: 'user', content: 'Hi' }];

verifies('providers/thinking', 'the effort of a program is that of the agent’s run, in each API', async () => {
  const { gw, ask, bodies } = await createAgentGateway();
  await using _ = gw;
  for (const [path, body, expected] of [
    ['/v1/chat/completions', { messages, reasoning_effort: 'low' }, 'low'],
    ['/v1/chat/completions', { messages, reasoning_effort: 'max' }, 'high'],
    ['/v1/chat/completions', { messages, reasoning_effort: 'medium', user: 'ada' }, 'medium'],
    ['/v1/responses', { input: 'Hi', reasoning: { effort: 'xhigh' } }, 'high'],
    ['/v1/messages', { messages, max_tokens: 99, thinking: { type: 'enabled', budget_tokens: 2000 } }, 'low'],
    ['/v1/messages', { messages, max_tokens: 99, thinking: { type: 'disabled' } }, 'minimal'],
  ] as const) {
    const response = await ask(path, { model: 'perch/main', ...body });
    expect([response.status, response.headers.get('x-perch-ignored')], JSON.stringify(body)).toEqual([200, null]);
    await response.text();
    expect(bodies().at(-1), JSON.stringify(body)).toMatchObject({ reasoning_effort: expected });
  }
  expect(gw.faults).toEqual([]);
});

verifies('providers/thinking', 'the agent’s own parameters apply to what a program leaves out', async () => {
  const { gw, ask, bodies, client } = await createAgentGateway();
  await using _ = gw;
  await client.call('config.patch', {
    patch: { agents: { main: { thinking: 'high', topP: 0.4, stop: ['END'], verbosity: 'low', json: true } } },
  });
  await (await ask('/v1/chat/completions', { model: 'perch/main', messages })).text();
  expect(bodies().at(-1)).toMatchObject({
    ...{ reasoning_effort: 'high', top_p: 0.4, stop: ['END'], verbosity: 'low', response_format: { type: 'json_object' } },
  });
  const own = { reasoning_effort: 'low', top_p: 0.9, temperature: 1, response_format: { type: 'text' } };
  await (await ask('/v1/chat/completions', { model: 'perch/main', messages, ...own })).text();
  expect(bodies().at(-1)).toMatchObject({ reasoning_effort: 'low', top_p: 0.9, temperature: 1, stop: ['END'] });
  // An inherited parameter is left out if the model lacks it, or if it conflicts with the request.
  await client.call('config.patch', {
    patch: { agents: { main: { model: 'claude/claude-haiku-4-5', seed: 4, thinking: 'low', json: null } } },
  });
  const response = await ask('/v1/chat/completions', { model: 'perch/main', messages, temperature: 0.2 });
  expect([response.status, response.headers.get('x-perch-ignored')]).toEqual([200, null]);
  await response.text();
  expect(bodies().at(-1)).toMatchObject({ temperature: 0.2, top_p: 0.4, stop_sequences: ['END'] });
  expect(['seed', 'thinking'].filter((field) => field in (bodies().at(-1) ?? {}))).toEqual([]);
});

verifies('providers/thinking', 'a refused effort is left out; the log says so, and a program learns of its own', async () => {
  const refuse = (body: object): Response =>
    'reasoning_effort' in body
      ? Response.json(
          { error: { message: "Unsupported parameter: 'reasoning_effort' is not supported with this model." } },
          { status: 400 },
        )
      : createStreamResponse(DONE);
  const { gw, ask, bodies, client } = await createAgentGateway('gpt-5', refuse);
  await using _ = gw;
  await client.call('chat.send', { message: 'Hi', thinking: 'high' });
  expect(bodies().filter((body) => body && 'messages' in body)).toHaveLength(2);
  const { lines } = await client.call('logs.tail', {});
  expect(lines.join('\n')).toContain('oa/gpt-5 does not accept reasoning_effort');
  await client.call('chat.send', { message: 'Hi', thinking: 'high' });
  expect(bodies()).toHaveLength(3);
  const response = await ask('/v1/messages', { model: 'perch/main', max_tokens: 99, messages, thinking: { type: 'adaptive' } });
  expect([response.status, response.headers.get('x-perch-ignored')]).toEqual([200, 'thinking']);
});

it('leaves requests to a model of the same format unchanged', async () => {
  const { gw, ask, bodies } = await createAgentGateway();
  await using _ = gw;
  for (const reasoning_effort of ['max', 'ultra']) {
    await ask('/v1/chat/completions', { model: 'oa/gpt-5', messages, reasoning_effort });
    expect(bodies().at(-1)).toEqual({ model: 'gpt-5', messages, reasoning_effort });
  }
});
