import { expect } from 'vitest';
import { toEvents, createTestHttp } from '../../../../../tests/support/test-http.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { toModelName } from './response-tools.ts';

const tools = [
  { type: 'custom', name: 'patch', description: 'Patches.', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
  { type: 'namespace', name: 'mcp__notes', tools: [{ type: 'function', name: 'add', parameters: { type: 'object' } }] },
];

verifies('http.responses/custom-tools', 'offered, called and answered', async () => {
  const http = createTestHttp([]);
  http.agent = () =>
    toEvents(
      { type: 'tool_call', call: { id: 'c1', tool: 'patch', args: { input: 'x' } } },
      { type: 'tool_call', call: { id: 'c2', tool: 'mcp__notes__add', args: { text: 'hi' } } },
      { type: 'finish', reason: 'tool_calls' },
    );
  const asked = { model: 'main', input: 'Hi', tools };
  const made = (await (await http.post('/v1/responses', asked)).json()) as { id: string; output: unknown[] };
  expect(http.runs[0]?.tools).toMatchObject([
    { name: 'patch', description: expect.stringContaining('start: "x"'), schema: { required: ['input'] } },
    { name: 'mcp__notes__add', schema: { type: 'object' } },
  ]);
  expect(made.output).toMatchObject([
    { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'x' },
    { type: 'function_call', call_id: 'c2', name: 'add', namespace: 'mcp__notes', arguments: '{"text":"hi"}' },
  ]);
  const results = [
    { type: 'custom_tool_call_output', call_id: 'c1', output: 'patched' },
    { type: 'function_call_output', call_id: 'c2', output: 'added' },
  ];
  http.agent = () => toEvents({ type: 'text', text: 'Done' }, { type: 'finish', reason: 'stop' });
  // From stored items, and from items that the client sends back.
  for (const more of [
    { previous_response_id: made.id, input: results },
    { input: [{ role: 'user', content: 'Hi' }, ...made.output, ...results] },
  ]) {
    expect((await http.post('/v1/responses', { ...asked, ...more })).status).toBe(200);
    expect(http.runs.at(-1)?.messages).toMatchObject([
      { role: 'user' },
      {
        toolCalls: [
          { id: 'c1', tool: 'patch', args: { input: 'x' } },
          { id: 'c2', tool: 'mcp__notes__add', args: { text: 'hi' } },
        ],
      },
      { role: 'tool', toolCallId: 'c1', content: 'patched' },
      { role: 'tool', toolCallId: 'c2', content: 'added' },
    ]);
  }
  const long = toModelName({ namespace: 'n'.repeat(60), name: 'add' });
  expect(long).toHaveLength(64);
  expect(long).not.toBe(toModelName({ namespace: 'n'.repeat(60), name: 'get' }));
});
