import { once } from 'node:events';
import { expect } from 'vitest';
import { z } from 'zod';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { startCliGateway, awaitOutput } from './tests/cli-gateway.ts';

const line = z.object({ level: z.string(), message: z.string() });
const read = (stdout: string): z.infer<typeof line>[] =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((text) => line.parse(JSON.parse(text)));

verifies('cli/logs', 'the newest lines, of a level where asked, as text and as JSON', async () => {
  await using cli = await startCliGateway();
  const { client } = await cli.gw.client();
  await client.call('config.set', { key: 'chat.model', value: 'test/other' });
  const logs = (...args: string[]): ReturnType<typeof cli.run> => cli.run(['logs', '--port', cli.port, ...args]);
  const all = await logs('--json');
  expect(all).toMatchObject({ code: 0, stderr: '' });
  expect(read(all.stdout).length).toBeGreaterThan(1);
  expect(read((await logs('--json', '-n', '1')).stdout)).toEqual(read(all.stdout).slice(-1));
  const grave = read((await logs('--json', '--level', 'error')).stdout);
  expect(grave).toEqual(read(all.stdout).filter(({ level }) => level === 'error'));
  expect((await logs('-n', '1')).stdout).toMatch(/^\d{4}-\d\d-\d\dT\S+ (debug|info|warn|error) +\w+: [^\n]+\n$/);
});

verifies('cli/logs', 'with -f those that come, each once, also when the host was away; a signal ends it well', async () => {
  await using cli = await startCliGateway();
  const child = cli.start(['logs', '-f', '--json', '-n', '1', '--port', cli.port]);
  const end = awaitOutput(child);
  let stdout = '';
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  await once(child.stdout ?? child, 'data');
  const { client } = await cli.gw.client();
  const noted = async (key: string, value: unknown): Promise<void> => {
    await client.call('config.set', { key, value });
    await waitFor(() => stdout.includes(JSON.stringify([key])), 'the line', 10_000);
  };
  await noted('chat.model', 'test/other');
  const connectionsEnd = once(child.stderr ?? child, 'data');
  cli.gw.detach();
  expect(String((await connectionsEnd)[0])).toMatch(/\. Retrying…\n$/);
  await cli.gw.attach(cli.bridge);
  await noted('chat.systemPrompt', 'Be brief');
  child.kill('SIGINT');
  expect((await end).code).toBe(0);
  for (const key of ['chat.model', 'chat.systemPrompt']) expect(stdout.split(JSON.stringify([key]))).toHaveLength(2);
});
