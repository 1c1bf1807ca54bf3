import { expect } from 'vitest';
import type { McpElicitation } from '#shared/rpc/methods/mcp-contracts.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { waitFor } from '../../../../tests/support/test-gateway.ts';
import {
  connectAsProgram,
  toTestServerCommand,
  toRealServerCommand,
  createMcpGateway,
  startMcpServer,
} from '../../../../tests/support/mcp-fixtures.ts';

const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

verifies('mcp/requests', 'a form that a server asks for is shown, and filled in by a person alone', async () => {
  await using at = await createMcpGateway();
  await startMcpServer(at.client, 'hand', toTestServerCommand());
  const asks = async (): Promise<McpElicitation[]> => (await at.client.call('mcp.list', {})).asks;
  for (const [answer, expectedResult] of [
    [
      { action: 'accept', content: { name: 'Ann' } },
      { action: 'accept', content: { name: 'Ann' } },
    ],
    [{ action: 'decline' }, { action: 'decline' }],
  ] as const) {
    const used = at.callTool('mcp__hand__ask', { message: 'Who are you?', requestedSchema: FORM });
    await waitFor(async () => (await asks()).length === 1);
    const [serverRequest] = await asks();
    expect(serverRequest).toMatchObject({ server: 'hand', message: 'Who are you?', schema: FORM });
    expect(at.events.findLast(({ event }) => event === 'mcp.asked')?.payload).toEqual({ ask: serverRequest });
    const program = await connectAsProgram(at.gw);
    await expect(program.call('mcp.answer', { id: serverRequest?.id ?? '', ...answer })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await at.client.call('mcp.answer', { id: serverRequest?.id ?? '', ...answer });
    expect(JSON.parse(String((await used)['text']))).toEqual(expectedResult);
    expect(await asks()).toEqual([]);
  }
});

verifies('mcp/requests', 'a server may use the person’s model after approval; usage is booked to the server', async () => {
  await using at = await createMcpGateway();
  await startMcpServer(at.client, 'hand', toTestServerCommand());
  const question = { messages: [{ role: 'user', content: { type: 'text', text: 'What is the time?' } }], maxTokens: 10 };
  for (const decision of ['approve', 'deny'] as const) {
    const used = at.callTool('mcp__hand__model', question);
    await waitFor(async () => (await at.client.call('approvals.list', {})).count === 1);
    const [approval] = (await at.client.call('approvals.list', {})).approvals;
    expect(approval).toMatchObject({ tool: 'mcp:hand', summary: 'The MCP server hand asks your model: What is the time?' });
    await at.client.call('approvals.resolve', { id: approval?.id ?? '', decision });
    const toolResult = JSON.parse(String((await used)['text'])) as object;
    if (decision === 'deny') expect(toolResult).toMatchObject({ message: expect.stringMatching(/denied|refused/i) as string });
    else expect(toolResult).toMatchObject({ role: 'assistant', model: 'test/scripted' });
  }
  const noted = async (): Promise<number> => (await at.gw.vault.usage.since(0)).filter(({ principal }) => principal === 'mcp:hand').length;
  await expect.poll(noted).toBe(1);
});

verifies('mcp/requests', 'roots are the folder that the server works in', async () => {
  await using at = await createMcpGateway();
  await startMcpServer(at.client, 'hand', { ...toTestServerCommand(), cwd: at.lent.home });
  expect(JSON.parse(String((await at.callTool('mcp__hand__roots'))['text']))).toEqual({
    roots: [{ uri: `file://${at.lent.home}`, name: 'Workspace' }],
  });
});

verifies('mcp/requests', 'what a server has to read, and its prompts', async () => {
  await using at = await createMcpGateway();
  await startMcpServer(at.client, 'all', toRealServerCommand('everything', 'stdio'));
  const { resources } = await at.client.call('mcp.resources', {});
  const [first] = resources.filter(({ template }) => !template);
  expect(resources.some(({ template }) => template)).toBe(true);
  const { contents } = await at.client.call('mcp.read', { name: 'all', uri: first?.uri ?? '' });
  expect(contents[0]).toMatchObject({ uri: first?.uri, text: expect.any(String) as string });
  const { prompts } = await at.client.call('mcp.prompts', { name: 'all' });
  const withArguments = prompts.find(({ arguments: args }) => args.some(({ required }) => required));
  const args = Object.fromEntries((withArguments?.arguments ?? []).map(({ name }) => [name, 'Paris']));
  const { messages } = await at.client.call('mcp.prompt', { name: 'all', prompt: withArguments?.name ?? '', arguments: args });
  expect(JSON.stringify(messages)).toContain('Paris');
});
