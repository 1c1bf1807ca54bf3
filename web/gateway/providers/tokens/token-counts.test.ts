import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect } from 'vitest';
import { estimateForFamily } from '#shared/tokens/estimate-for-family.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createTestGateway } from '../../../../tests/support/test-gateway.ts';

const REPLY = 'Überraschung: 12345 tokens, 字字.';

verifies('tokens/usage', 'in a run, by the model that answered', async () => {
  await using gw = await createTestGateway({
    model: ({ body: { model } }) => (model === 'broken' ? [{ status: 500, body: '{}' }] : [REPLY]),
  });
  const { client } = await gw.client();
  const sendTo = async (model: string) =>
    (await client.call('chat.send', { sessionId: model, message: 'Hi', model: `test/${model}` })).usage;
  expect(await sendTo('gpt-5')).toMatchObject({ outputTokens: countTokens(REPLY), estimated: true });
  expect(await sendTo('claude-opus')).toMatchObject({ outputTokens: estimateForFamily(REPLY, 'claude'), estimated: true });
  await client.call('config.patch', { patch: { chat: { fallbacks: ['test/gpt-5'] } } });
  expect(await sendTo('broken')).toMatchObject({ outputTokens: countTokens(REPLY), estimated: true });
});

verifies('tokens/usage', 'behind /v1, for texts that are embedded too', async () => {
  await using gw = await createTestGateway({
    fetch: async (url) =>
      url.endsWith('/embeddings')
        ? Response.json({ object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }] })
        : url.endsWith('/models')
          ? Response.json({ data: [{ id: 'gpt-5' }] })
          : new Response(
              `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: REPLY }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
              { headers: { 'content-type': 'text/event-stream' } },
            ),
  });
  const post = async (path: string, body: unknown): Promise<{ usage: Record<string, number> }> => {
    const request = new Request(`http://127.0.0.1:7333${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = await gw.gateway.fetch(request, { id: 'owner', scopes: ['admin'] });
    return (await answer.json()) as { usage: Record<string, number> };
  };
  const { usage } = await post('/v1/responses', { model: 'test/gpt-5', input: 'Hi' });
  expect(usage['output_tokens']).toBe(countTokens(REPLY));
  const embedded = await post('/v1/embeddings', { model: 'test/gpt-4o-embed', input: [REPLY, 'two words'] });
  expect(embedded.usage['prompt_tokens']).toBe(countTokens(REPLY) + 2);
});
