import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { createTempFolder } from '../backup/fixture.ts';
import { startCliGateway } from './tests/cli-gateway.ts';

verifies('cli/sessions', 'a list, the newest first, of one agent where asked; as JSON', async () => {
  await using cli = await startCliGateway();
  const sessions = (...args: string[]): ReturnType<typeof cli.run> => cli.run(['sessions', ...args, '--port', cli.port]);
  expect(await sessions()).toEqual({ code: 0, stdout: 'No chats yet\n', stderr: '' });
  const { client } = await cli.gw.client();
  for (const sessionId of ['first', 'second']) await client.call('chat.send', { message: `the ${sessionId}`, sessionId });
  expect((await sessions()).stdout).toMatch(
    /^Chat +Last used +Messages +Title\nmain\/second +\d{4}-\d\d-\d\d \d\d:\d\d +2 +the second\nmain\/first .* the first\n$/,
  );
  expect((await sessions('--limit', '1')).stdout).toMatch(/\n1 more\. Use --limit to show them\.\n$/);
  expect(JSON.parse((await sessions('--json')).stdout)).toMatchObject({
    sessions: [{ sessionId: 'second' }, { sessionId: 'first' }],
    total: 2,
  });
  expect(JSON.parse((await sessions('list', '--agent', 'other', '--json')).stdout)).toEqual({ sessions: [], total: 0 });
});

verifies(['cli/sessions', 'cli/escape'], 'one is written to standard output or a new file', async () => {
  await using cli = await startCliGateway();
  using dir = createTempFolder();
  const { client } = await cli.gw.client();
  await client.call('chat.send', { message: 'hello', sessionId: 's' });
  await client.call('chat.send', { message: 'a \u202e b \u009b1m', sessionId: 'odd' });
  const write = (...args: string[]): ReturnType<typeof cli.run> => cli.run(['sessions', 'export', ...args, '--port', cli.port]);
  const lines = await write('main/s');
  expect(lines).toMatchObject({ code: 0, stderr: '' });
  expect(
    lines.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toMatchObject([{ role: 'user' }, { role: 'assistant' }]);
  expect(await write('s')).toEqual(lines);
  expect(await write('main/s.jsonl')).toEqual(lines);
  expect((await write('s', '--format', 'markdown')).stdout).toMatch(/^# hello\n/);
  const file = join(dir.path, 's.jsonl');
  expect(await write('s', '--output', file)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(readFileSync(file, 'utf8')).toBe(lines.stdout);
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await write('s', '--output', file)).toMatchObject({ code: 1, stderr: expect.stringMatching(/^perch: --output: EEXIST[^\n]*\n$/) });
  const escaped = await write('odd');
  const raw = await write('odd', '--raw');
  expect([escaped.stdout.includes('\u202e'), raw.stdout.includes('\u202e')]).toEqual([false, true]);
  const parsed = (text: string): unknown[] =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  expect(parsed(escaped.stdout)).toEqual(parsed(raw.stdout));
  expect((await write('odd', '--format', 'markdown')).stdout).toContain('a \\u{202e} b');
  expect(await write('none')).toMatchObject({ code: 1, stderr: 'perch: NOT_FOUND: No session with path "main/none.jsonl".\n' });
});
