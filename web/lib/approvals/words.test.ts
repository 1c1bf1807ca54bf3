import { expect, test } from 'vitest';
import { outcomeOf } from './outcome.ts';
import { commandOf, countdown, getHeldReply } from './words.ts';

test('a command is shown in full, with each argument separate, and nothing hidden', () => {
  const args = { command: 'rm', args: ['-r', 'my files', 'a\u202eb'], workingDir: '/home/\u200bana' };
  expect(commandOf({ requestId: 'r', args })).toEqual({ line: 'rm -r "my files" "a\\u{202e}b"', directory: '/home/\\u{200b}ana' });
  // Another tool may have arguments of these names.
  expect(commandOf({ args })).toBeNull();
  expect(commandOf({ requestId: 'r', args: { command: 'rm' } })).toBeNull();
});

test('a reply that is held is shown as it goes out, and nothing in it hides', () => {
  const args = { to: 'bob\u202e', text: 'One\nTwo\u200b', files: ['a.pdf', 7] };
  expect(getHeldReply({ tool: 'channel_reply:telegram', args })).toEqual({
    ...{ channel: 'telegram', to: 'bob\\u{202e}', text: 'One\nTwo\\u{200b}', files: ['a.pdf'] },
  });
  expect(getHeldReply({ tool: 'send_file', args })).toBeNull();
});

test('a countdown counts hours, and ends at nothing', () => {
  expect(countdown(86_399_000)).toBe('23:59:59');
  expect([300_000, 245_000, 60_000, 59_001, 59_000, 1, 0, -5000].map(countdown)).toEqual([
    '5:00',
    '4:05',
    '1:00',
    '1:00',
    '0:59',
    '0:01',
    '0:00',
    '0:00',
  ]);
});

test('an outcome says what the person said, and of a command also how it ended', () => {
  expect(outcomeOf({ status: 'denied' })).toEqual({ words: 'Denied', bad: true });
  expect(outcomeOf({ status: 'denied' }, { status: 'denied' })).toEqual({ words: 'Denied', bad: true });
  expect(outcomeOf({ status: 'approved' }, { status: 'running' }).words).toBe('Running');
  expect(outcomeOf({ status: 'approved' }, { status: 'completed', exitCode: 0 })).toEqual({ words: 'Completed', bad: false });
  expect(outcomeOf({ status: 'approved' }, { status: 'failed', exitCode: 3 })).toEqual({ words: 'Failed with exit code 3', bad: true });
  expect(outcomeOf({ status: 'approved' }, { status: 'failed', exitCode: null }).words).toBe('Failed');
});
