import type OpenAI from 'openai';
import { expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { createClaudeResponse, createVendorGateway } from '../../../../../tests/support/vendors.ts';

type InputItem = OpenAI.Responses.ResponseInputItem;

const tools: OpenAI.Responses.FunctionTool[] = [{ type: 'function', name: 'add', strict: null, parameters: { type: 'object' } }];
const GREETING: InputItem = { type: 'message', role: 'user', content: 'Hi' };
const toCallOutput = (call_id: string, output: OpenAI.Responses.ResponseInputItem.FunctionCallOutput['output']): InputItem => ({
  type: 'function_call_output',
  call_id,
  output,
});

verifies('http.responses/sealed', 'and no other gateway has to remember it', async () => {
  const baseParams = { model: 'claude/claude-haiku-4-5', tools, reasoning: { effort: 'low' as const }, store: false };
  const include: OpenAI.Responses.ResponseIncludable[] = ['reasoning.encrypted_content'];
  for (const stream of [false, true]) {
    const one = await createVendorGateway(() => createClaudeResponse({ thought: 'Let me see', calls: ['toolu_1', 'toolu_2'] }));
    await using _one = one.gw;
    const firstParams = { ...baseParams, include, input: [GREETING] };
    const first = stream ? await one.openai.responses.stream(firstParams).finalResponse() : await one.openai.responses.create(firstParams);
    expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call', 'function_call']);
    expect(first.output[0]).toMatchObject({ content: [{ text: 'Let me see' }], encrypted_content: expect.any(String) as string });
    const two = await createVendorGateway();
    await using _two = two.gw;
    const outputs = ['toolu_1', 'toolu_2'].map((id) => toCallOutput(id, '2'));
    await two.openai.responses.create({ ...baseParams, input: [GREETING, ...(first.output as InputItem[]), ...outputs] });
    expect(two.bodies()[0]).toMatchObject({
      messages: [
        { role: 'user' },
        { content: [{ type: 'thinking', thinking: 'Let me see', signature: 'c2ln' }, { type: 'tool_use' }, { type: 'tool_use' }] },
        { role: 'user' },
      ],
    });
  }
  const plain = await createVendorGateway(() => createClaudeResponse({ thought: 'Let me see', calls: ['toolu_1'] }));
  await using _plain = plain.gw;
  expect((await plain.openai.responses.create({ ...baseParams, input: 'Hi' })).output[0]).not.toHaveProperty('encrypted_content');
});

verifies('http.responses/input', 'pictures that tools gave, in each vendor’s words', async () => {
  const { gw, openai, bodies } = await createVendorGateway();
  await using _ = gw;
  const call: InputItem = { type: 'function_call', call_id: 'c', name: 'add', arguments: '{}' };
  const image = { type: 'input_image' as const, detail: 'auto' as const, image_url: 'data:image/png;base64,AAAA' };
  const output = toCallOutput('c', [{ type: 'input_text', text: 'Seen' }, image]);
  for (const model of ['claude/claude-opus-5-5', 'gemini/gemini-3.8-flash'])
    await openai.responses.create({ model, input: [GREETING, call, output], tools });
  await openai.responses.create({
    model: 'claude/claude-opus-5-5',
    input: [GREETING, call, toCallOutput('c', [{ type: 'input_text', text: 'Seen' }])],
  });
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
  const result = { type: 'tool_result', tool_use_id: 'c' };
  const [anthropic, google, text] = bodies();
  expect(anthropic?.['messages']).toMatchObject([
    {},
    {},
    {
      role: 'user',
      content: [
        {
          ...result,
          content: [
            { type: 'text', text: 'Seen' },
            { type: 'image', source },
          ],
        },
      ],
    },
  ]);
  expect(google?.['contents']).toMatchObject([
    {},
    {},
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'add', response: { result: 'Seen' } } }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
    },
  ]);
  expect(text?.['messages']).toMatchObject([{}, {}, { content: [{ ...result, content: 'Seen' }] }]);
});
