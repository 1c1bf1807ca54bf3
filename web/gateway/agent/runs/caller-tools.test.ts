import { describe, expect, it } from 'vitest';
import { createTestGateway, type TestGateway } from '../../../../tests/support/test-gateway.ts';

const tools = [{ type: 'function', function: { name: 'shell', parameters: { type: 'object' } } }];
const GREETING = { role: 'user', content: 'Hi' };

const complete = async (gw: TestGateway, messages: unknown[]): Promise<Record<string, unknown>> => {
  const body = JSON.stringify({ model: 'perch/main', messages, tools });
  const headers = { 'content-type': 'application/json' };
  const request = new Request('http://gateway.test/v1/chat/completions', { method: 'POST', headers, body });
  const response = await gw.gateway.fetch(request, { id: 'owner', scopes: ['read', 'write'] });
  return (await response.json()) as Record<string, unknown>;
};

describe('an agent with tools supplied by the caller', () => {
  it('runs its own, and ends with calls for the caller, whose results go on', async () => {
    await using gw = await createTestGateway({
      model: (_call, count) =>
        [[{ tool: 'current_time', args: {} }], [{ tool: 'shell', args: { c: 'ls' } }], ['Two files']][count - 1] ?? [],
    });
    const called = await complete(gw, [GREETING]);
    expect(called).toMatchObject({
      choices: [{ finish_reason: 'tool_calls', message: { tool_calls: [{ function: { name: 'shell', arguments: '{"c":"ls"}' } }] } }],
    });
    const [{ message }] = called['choices'] as [{ message: { tool_calls: { id: string }[] } }];
    const result = { role: 'tool', tool_call_id: message.tool_calls[0]?.id, content: 'a b' };
    expect(await complete(gw, [GREETING, message, result])).toMatchObject({
      choices: [{ finish_reason: 'stop', message: { content: 'Two files' } }],
    });
    expect(gw.calls[2]?.body.messages.at(-1)).toMatchObject({ role: 'tool' });
    expect(gw.faults).toEqual([]);
  });

  it('calls the caller’s alone, where it calls its own at the same time', async () => {
    const both = [
      { tool: 'current_time', args: {} },
      { tool: 'shell', args: {} },
    ];
    await using gw = await createTestGateway({ model: (_call, count) => (count === 1 ? both : [{ tool: 'shell', args: {} }]) });
    expect(await complete(gw, [GREETING])).toMatchObject({ choices: [{ message: { tool_calls: [{ function: { name: 'shell' } }] } }] });
    expect(gw.calls).toHaveLength(2);
    expect(JSON.stringify(gw.calls[1]?.body.messages)).toContain('Not run, because other tools were called at the same time');
  });
});
