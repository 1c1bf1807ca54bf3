import { formatCommandLine } from '#shared/command-line.ts';
import { expect, it } from 'vitest';
import { estimateRisk } from './risk.ts';

it.each([
  ['low', 'ls', ['-la'], '/usr/bin/ls'],
  ['low', '/bin/cat', ['x'], '/bin/cat'],
  // A well-known name, but not a file of the system.
  ['medium', 'ls', [], '/tmp/ls'],
  ['medium', 'git', ['status'], '/usr/bin/git'],
  ['medium', 'python3', ['script.py'], '/usr/bin/python3.11'],
  ['medium', 'curl', ['https://example.org'], '/usr/bin/curl'],
  ['medium', 'find', ['.', '-name', 'x'], '/usr/bin/find'],
  ['high', 'rm', ['x'], '/usr/bin/rm'],
  ['high', 'clean', [], '/usr/bin/rm'],
  ['high', 'sudo', ['ls'], '/usr/bin/sudo'],
  ['high', 'mkfs.ext4', ['/dev/x'], '/usr/sbin/mkfs.ext4'],
  ['high', 'bash', ['-lc', 'ls'], '/bin/bash'],
  ['high', 'python3.11', ['-c', 'x'], '/usr/bin/python3.11'],
  ['high', 'perl', ['-ne', 'x'], '/usr/bin/perl'],
  ['high', 'node', ['--eval=1'], '/usr/bin/node'],
  ['high', 'curl', ['-sSo', 'x', 'https://example.org'], '/usr/bin/curl'],
  ['high', 'wget', ['https://example.org'], '/usr/bin/wget'],
  ['high', 'find', ['.', '-delete'], '/usr/bin/find'],
  ['high', 'env', ['rm', 'x'], '/usr/bin/env'],
  ['high', 'npm', ['i', 'x'], '/usr/lib/node_modules/npm/bin/npm-cli.js'],
  ['high', 'C:\\Windows\\System32\\CMD.EXE', ['/c', 'x'], 'C:\\Windows\\System32\\cmd.exe'],
] as const)('%s: %s %j', (risk, command, args, realPath) => {
  expect(estimateRisk({ command, args: [...args], realPath })).toBe(risk);
});

it('shows where each argument begins and ends', () => {
  expect(formatCommandLine('echo', ['a', 'b c', '', '"', '\n', '$(x)'])).toBe('echo a "b c" "" "\\"" "\\n" "$(x)"');
  expect(formatCommandLine('rm', ['a\u202eb', '\u200b', 'é😀'])).toBe('rm "a\\u{202e}b" "\\u{200b}" "é😀"');
});
