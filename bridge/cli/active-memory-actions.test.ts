import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { startCliGateway } from './tests/cli-gateway.ts';

verifies('cli.active-memory/row', 'on, off and status, of the main session or another one', async () => {
  await using cli = await startCliGateway();
  const memory = (...args: string[]): ReturnType<typeof cli.run> => cli.run(['active-memory', ...args, '--port', cli.port]);
  const { client } = await cli.gw.client();
  const state = (path: string) => client.call('sessions.recall', { path });
  const success = (stdout: string): unknown => ({ code: 0, stdout, stderr: '' });

  // The main session has no messages yet.
  expect(await memory('status')).toEqual(success('Active memory is on for main/main\n'));
  expect(await memory('off')).toEqual(success('Active memory is off for main/main\n'));
  expect(await state('main/main.jsonl')).toMatchObject({ enabled: false, active: false });
  expect(JSON.parse((await memory('status', '--json')).stdout)).toEqual({
    session: 'main/main',
    enabled: false,
    active: false,
    reason: 'Off for this chat',
  });
  await client.call('chat.send', { message: 'hello', sessionId: 'work' });
  expect(await memory('off', '--session', 'main/work')).toEqual(success('Active memory is off for main/work\n'));
  expect(await memory('on', '--session', 'work')).toEqual(success('Active memory is on for main/work\n'));
  expect(await state('main/work.jsonl')).toMatchObject({ enabled: true, active: true });
  expect(await state('main/main.jsonl')).toMatchObject({ enabled: false });

  await client.call('config.set', { key: 'memory.recall.enabled', value: false });
  expect(await memory('on')).toEqual(
    success('Active memory is on for main/main\nMemory isn’t searched: Off for all chats (memory.recall.enabled)\n'),
  );

  for (const args of [['on'], ['off'], ['status']])
    expect(await memory(...args, '--session', 'main/none')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'perch: NOT_FOUND: No session with path "main/none.jsonl".\n',
    });
  for (const args of [[], ['maybe'], ['on', 'main/work'], ['on', '--session']]) {
    const { code, stderr } = await memory(...args);
    expect([code, stderr], args.join(' ')).toEqual([2, expect.stringMatching(/^perch: [^\n]+\n$/)]);
  }
});
