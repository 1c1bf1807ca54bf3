import { expect, it } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { createClaudeResponse, createVendorGateway } from '../../../../tests/support/vendors.ts';

const GREETING = [{ role: 'user' as const, content: 'Hi' }];

verifies('http.chat/translated', 'several choices are as many calls, with their total usage', async () => {
  const { gw, openai, bodies } = await createVendorGateway((_asked, count) => createClaudeResponse({ text: `answer ${count}` }));
  await using _ = gw;
  const ask = { model: 'claude/claude-opus-5-5', messages: GREETING, n: 3 };
  const whole = await openai.chat.completions.create(ask);
  expect(whole.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
  // The calls run in parallel, so the order of their answers is not fixed.
  expect(whole.choices.map(({ message }) => message.content).sort()).toEqual(['answer 1', 'answer 2', 'answer 3']);
  expect([whole.usage?.prompt_tokens, whole.usage?.completion_tokens, bodies().length]).toEqual([30, 15, 3]);
  const texts = ['', '', ''];
  const finished: number[] = [];
  for await (const { choices } of await openai.chat.completions.create({ ...ask, stream: true })) {
    for (const { index, delta, finish_reason } of choices) {
      texts[index] += delta.content ?? '';
      if (finish_reason) finished.push(index);
    }
  }
  expect([texts.sort(), finished.sort()]).toEqual([
    ['answer 4', 'answer 5', 'answer 6'],
    [0, 1, 2],
  ]);
});

it('ends all choices with the first that fails', async () => {
  const signals: AbortSignal[] = [];
  const { gw, openai } = await createVendorGateway(({ signal }, count) => {
    signals.push(signal);
    return count === 2 ? Response.json({ error: { message: 'no' } }, { status: 400 }) : new Promise(() => {});
  });
  await using _ = gw;
  await expect(openai.chat.completions.create({ model: 'claude/claude-opus-5-5', messages: GREETING, n: 2 })).rejects.toMatchObject({
    status: 400,
  });
  expect(signals[0]?.aborted).toBe(true);
});

it('a server’s refusal names the parameter that it names', async () => {
  const refusal = { error: { message: 'Invalid value', type: 'invalid_request_error', param: 'top_k', code: null } };
  const { gw, client, openai } = await createVendorGateway(() => Response.json(refusal, { status: 400 }));
  await using _ = gw;
  await client.call('config.set', { key: 'providers.up', value: { baseUrl: 'http://up.test/v1' } });
  for (const stream of [false, true])
    await expect(openai.chat.completions.create({ model: 'up/m', messages: GREETING, stream })).rejects.toMatchObject({
      status: 400,
      param: 'top_k',
    });
});

it('a server’s own word for what is wrong comes along, by which programs know it', async () => {
  const wrong = (code: string): object => ({ error: { message: `says ${code}`, type: 'invalid_request_error', param: 'messages', code } });
  const answers = [
    Response.json(wrong('context_length_exceeded'), { status: 400 }),
    Response.json(wrong('context_length_exceeded')),
    new Response(`data: ${JSON.stringify(wrong('context_length_exceeded'))}\n\n`, { headers: { 'content-type': 'text/event-stream' } }),
    Response.json({ error: { message: 'No credit', type: 'insufficient_quota', code: 'insufficient_quota' } }, { status: 429 }),
    Response.json({ error: { message: 'no', type: 'invalid_request_error', code: 400 } }, { status: 400 }),
  ];
  const { gw, client, openai } = await createVendorGateway((_asked, count) => answers[count - 1] ?? Response.error());
  await using _ = gw;
  await client.call('config.set', { key: 'providers.up', value: { baseUrl: 'http://up.test/v1' } });
  const ask = (stream: boolean): Promise<unknown> => openai.chat.completions.create({ model: 'up/m', messages: GREETING, stream });
  for (const stream of [false, false, true])
    await expect(ask(stream)).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded', param: 'messages' });
  await expect(ask(false)).rejects.toMatchObject({ status: 429, type: 'insufficient_quota', code: 'insufficient_quota' });
  await expect(ask(false)).rejects.toMatchObject({ status: 400, code: null });
});
