import type OpenAI from 'openai';
import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { claude, vendors } from '../support/vendors.ts';

type Input = OpenAI.Responses.ResponseInputItem;

const tools: OpenAI.Responses.FunctionTool[] = [{ type: 'function', name: 'add', strict: null, parameters: { type: 'object' } }];
const hi: Input = { type: 'message', role: 'user', content: 'Hi' };
const outputOf = (call_id: string, output: OpenAI.Responses.ResponseInputItem.FunctionCallOutput['output']): Input => ({
  type: 'function_call_output',
  call_id,
  output,
});

verifies('http.responses/sealed', 'and no other gateway has to remember it', async () => {
  const ask = { model: 'claude/claude-haiku-4-5', tools, reasoning: { effort: 'low' as const }, store: false };
  const include: OpenAI.Responses.ResponseIncludable[] = ['reasoning.encrypted_content'];
  for (const stream of [false, true]) {
    const one = await vendors(() => claude({ thought: 'Let me see', calls: ['toolu_1', 'toolu_2'] }));
    await using _one = one.gw;
    const asked = { ...ask, include, input: [hi] };
    const first = stream ? await one.openai.responses.stream(asked).finalResponse() : await one.openai.responses.create(asked);
    expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call', 'function_call']);
    expect(first.output[0]).toMatchObject({ content: [{ text: 'Let me see' }], encrypted_content: expect.any(String) as string });
    const two = await vendors();
    await using _two = two.gw;
    const outputs = ['toolu_1', 'toolu_2'].map((id) => outputOf(id, '2'));
    await two.openai.responses.create({ ...ask, input: [hi, ...(first.output as Input[]), ...outputs] });
    expect(two.bodies()[0]).toMatchObject({
      messages: [
        { role: 'user' },
        { content: [{ type: 'thinking', thinking: 'Let me see', signature: 'c2ln' }, { type: 'tool_use' }, { type: 'tool_use' }] },
        { role: 'user' },
      ],
    });
  }
  const plain = await vendors(() => claude({ thought: 'Let me see', calls: ['toolu_1'] }));
  await using _plain = plain.gw;
  expect((await plain.openai.responses.create({ ...ask, input: 'Hi' })).output[0]).not.toHaveProperty('encrypted_content');
});

verifies('http.responses/input', 'pictures that tools gave, in each vendor’s words', async () => {
  const { gw, openai, bodies } = await vendors();
  await using _ = gw;
  const call: Input = { type: 'function_call', call_id: 'c', name: 'add', arguments: '{}' };
  const image = { type: 'input_image' as const, detail: 'auto' as const, image_url: 'data:image/png;base64,AAAA' };
  const output = outputOf('c', [{ type: 'input_text', text: 'Seen' }, image]);
  for (const model of ['claude/claude-opus-5-5', 'gemini/gemini-3.8-flash'])
    await openai.responses.create({ model, input: [hi, call, output], tools });
  await openai.responses.create({
    model: 'claude/claude-opus-5-5',
    input: [hi, call, outputOf('c', [{ type: 'input_text', text: 'Seen' }])],
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
