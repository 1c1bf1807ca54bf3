import { expect, test } from 'vitest';
import { getApprovalOutcome } from '#features/approvals/approval-outcome.ts';
import { getCommand, formatCountdown, getPendingReply } from './approval-texts.ts';

test('a command is shown in full, with each argument separate, and nothing hidden', () => {
  const args = { command: 'rm', args: ['-r', 'my files', 'a\u202eb'], workingDir: '/home/\u200bana' };
  expect(getCommand({ requestId: 'r', args })).toEqual({ line: 'rm -r "my files" "a\\u{202e}b"', directory: '/home/\\u{200b}ana' });
  // Another tool may have arguments of these names.
  expect(getCommand({ args })).toBeNull();
  expect(getCommand({ requestId: 'r', args: { command: 'rm' } })).toBeNull();
});

test('a reply that is held is shown as it goes out, and nothing in it hides', () => {
  const args = { to: 'bob\u202e', text: 'One\nTwo\u200b', files: ['a.pdf', 7] };
  expect(getPendingReply({ tool: 'channel_reply:telegram', args })).toEqual({
    ...{ channel: 'telegram', to: 'bob\\u{202e}', text: 'One\nTwo\\u{200b}', files: ['a.pdf'] },
  });
  expect(getPendingReply({ tool: 'send_file', args })).toBeNull();
});

test('a countdown counts hours, and ends at nothing', () => {
  expect(formatCountdown(86_399_000)).toBe('23:59:59');
  expect([300_000, 245_000, 60_000, 59_001, 59_000, 1, 0, -5000].map(formatCountdown)).toEqual([
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
  expect(getApprovalOutcome({ status: 'denied' })).toEqual({ text: 'Denied', isFailure: true });
  expect(getApprovalOutcome({ status: 'denied' }, { status: 'denied' })).toEqual({ text: 'Denied', isFailure: true });
  expect(getApprovalOutcome({ status: 'approved' }, { status: 'running' }).text).toBe('Running');
  expect(getApprovalOutcome({ status: 'approved' }, { status: 'completed', exitCode: 0 })).toEqual({ text: 'Completed', isFailure: false });
  expect(getApprovalOutcome({ status: 'approved' }, { status: 'failed', exitCode: 3 })).toEqual({
    text: 'Failed with exit code 3',
    isFailure: true,
  });
  expect(getApprovalOutcome({ status: 'approved' }, { status: 'failed', exitCode: null }).text).toBe('Failed');
});
