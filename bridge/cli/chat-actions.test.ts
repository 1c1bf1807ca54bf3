import { once } from 'node:events';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { startCliGateway, awaitOutput } from './tests/cli-gateway.ts';

verifies(
  ['cli/chat', 'cli/escape'],
  'a message of the arguments or of a pipe; the reply is printed, control characters escaped',
  async () => {
    const escape = '\u001b[1m';
    await using cli = await startCliGateway({ model: () => ['Hel', `lo ${escape}`, 'there'] });
    const chat = (args: string[], input = ''): ReturnType<typeof cli.run> => cli.run(['chat', '--port', cli.port, ...args], { input });
    const printed = { code: 0, stdout: 'Hello \\u{1b}[1mthere\n', stderr: '' };
    expect(await chat(['two', 'words', '--session', 's'])).toEqual(printed);
    expect(await chat(['--session', 's'], 'of a\npipe\n')).toEqual(printed);
    expect(await chat(['-', '--session', 's'], 'by the dash')).toEqual(printed);
    expect(await chat(['--raw', 'raw'])).toEqual({ ...printed, stdout: `Hello ${escape}there\n` });
    const { client } = await cli.gw.client();
    const { messages } = await client.call('chat.history', { sessionId: 's' });
    expect(messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []))).toEqual(['two words', 'of a\npipe', 'by the dash']);
    const { code, stdout } = await chat(['--json', '--model', 'test/scripted', 'hello']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      sessionId: 'main',
      text: `Hello ${escape}there`,
      usage: { totalTokens: expect.any(Number) },
    });
    expect(cli.gw.calls.at(-1)?.body.model).toBe('scripted');
  },
);

verifies(['cli/chat', 'cli/errors'], 'it is printed while it is made; what fails is one line and exit code 1', async () => {
  const rest = Promise.withResolvers<void>();
  await using cli = await startCliGateway({
    model: (_call, count) => (count === 1 ? ['First', { wait: rest.promise }, ' last'] : [{ status: 400, body: 'no such thing' }]),
  });
  const child = cli.start(['chat', 'hello', '--port', cli.port]);
  const end = awaitOutput(child);
  let stdout = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  await waitFor(() => stdout === 'First', 'the first piece');
  rest.resolve();
  expect(await end).toEqual({ code: 0, stdout: 'First last\n', stderr: '' });
  expect(await cli.run(['chat', 'again', '--port', cli.port])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^perch: [A-Z_]+: [^\n]+\n$/),
  });
  expect(await cli.run(['chat', 'hi', '--agent', 'nobody', '--port', cli.port])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^perch: NOT_FOUND: /),
  });
  expect(await cli.run(['chat', '--port', cli.port], { input: ' \n' })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^perch: No message[^\n]*\n$/),
  });
});

verifies('cli/chat', 'a signal aborts the reply; the partial text is printed and stored', async () => {
  await using cli = await startCliGateway({ model: () => ['Endless', { wait: new Promise(() => {}) }] });
  const child = cli.start(['chat', 'hello', '--port', cli.port]);
  const end = awaitOutput(child);
  await once(child.stdout ?? child, 'data');
  child.kill('SIGINT');
  expect(await end).toEqual({ code: 1, stdout: 'Endless\n', stderr: expect.stringMatching(/^perch: ABORTED: [^\n]+\n$/) });
  const { client } = await cli.gw.client();
  const { messages } = await client.call('chat.history', { sessionId: 'main' });
  expect(messages.at(-1)).toMatchObject({ content: 'Endless', aborted: true });
});

verifies('cli/chat', 'without a terminal a pending approval is reported, and the reply waits for it', async () => {
  await using cli = await startCliGateway({
    model: (_call, count) => (count === 1 ? [{ tool: 'memory_add', args: { text: 'Tea' } }] : ['Done']),
  });
  const { client } = await cli.gw.client();
  await client.call('config.set', { key: 'tools.policies', value: { memory_add: 'ask' } });
  const child = cli.start(['chat', 'hello', '--port', cli.port]);
  const end = awaitOutput(child);
  await once(child.stderr ?? child, 'data');
  const { approvals } = await client.call('approvals.list', {});
  await client.call('approvals.resolve', { id: approvals[0]?.id ?? '', decision: 'approve' });
  expect(await end).toEqual({ code: 0, stdout: 'Done\n', stderr: expect.stringMatching(/^Waiting for approval in the app: [^\n]+\n$/) });
});
