import type { Command } from 'commander';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { toCommandLine } from '../command-line.ts';
import { findMisplacedOption } from './misplaced-option.ts';
import { createProgram } from './program.ts';
import { describeMissingCommand, describeUnknownCommand } from './unknown-command.ts';

verifies('cli/errors', 'only a starting gateway uses a free port; a running one is contacted at its own', async () => {
  const commands = createProgram().commands;
  for (const name of ['open', 'doctor']) {
    expect(commands.find((command) => command.name() === name)?.helpInformation()).not.toContain('free port');
    await expect(createProgram().parseAsync([name, '--port', '0'], { from: 'user' })).rejects.toThrow(/Must be between 1 and 65535/);
  }
});

verifies('cli/timeouts', 'how long commands wait unless told', () => {
  const gateway = createProgram().commands.find((command) => command.name() === 'gateway');
  for (const [name, ms] of [
    ['status', 10_000],
    ['probe', 10_000],
    ['call', 30_000],
  ] as const) {
    const command = gateway?.commands.find((each) => each.name() === name);
    expect(command?.getOptionValue('timeout'), name).toBe(ms);
  }
});

/** Commands that only use this computer, each with the reason why it sends no request that needs a credential. */
const LOCAL_COMMANDS = [
  ...['gateway run', 'gateway install', 'gateway uninstall', 'gateway discover'],
  ...['backup export', 'backup list', 'backup restore', 'secrets list', 'secrets keyring', 'token', 'keys scopes', 'completion'],
  ...['models runtime install', 'models runtime uninstall', 'models runtime status'],
  ...['sync nats', 'sync status', 'sync off', 'sync phrase', 'sync join', 'sync permissions', 'sync prepare'],
  ...['vault create', 'vault list', 'vault remove'],
];
/** A link to the app requires a token, since a password is enough to sign in. */
const WITHOUT_PASSWORD = ['open'];

const listLeaves = (command: Command, words: readonly string[] = []): { path: string; command: Command }[] =>
  command.commands.length === 0
    ? [{ path: words.join(' '), command }]
    : command.commands.flatMap((child) => listLeaves(child, [...words, child.name()]));

verifies('cli/gateway-options', 'every command that talks to a gateway takes --url, --token and --password', () => {
  const all = listLeaves(createProgram());
  expect(LOCAL_COMMANDS.filter((path) => !all.some((each) => each.path === path))).toEqual([]);
  for (const { path, command } of all) {
    const flags = command.options.map(({ long }) => long);
    if (LOCAL_COMMANDS.includes(path)) expect(flags, path).not.toContain('--url');
    else {
      expect(flags, path).toEqual(expect.arrayContaining(['--url', '--port', '--token', '--timeout']));
      expect(flags.includes('--password'), path).toBe(!WITHOUT_PASSWORD.includes(path));
    }
  }
});

verifies('cli/help', 'each command prints help of its own arguments and options', () => {
  for (const { path, command } of listLeaves(createProgram())) {
    const help = command.helpInformation();
    expect(help, path).toMatch(new RegExp(`^Usage: perch ${path} `));
    expect(command.description(), path).not.toBe('');
    for (const { long, hidden, description } of command.options) {
      expect(description, `${path} ${long ?? ''}`).not.toBe('');
      if (!hidden) expect(help, path).toContain(long);
    }
    expect(help, path).toContain('--help');
  }
});

verifies('cli/errors', 'options before the command that they are for', () => {
  const wrong = (line: string): string | undefined => findMisplacedOption(createProgram(), line.split(' '));
  expect(wrong('gateway --port 1 run --port 2')).toBe('Options of `run` must come after it: gateway run --port …');
  expect(wrong('gateway --port=1 status --json')).toBe('Options of `status` must come after it: gateway status --port=1 …');
  expect(wrong('sessions --json export main/main')).toBe('Options of `export` must come after it: sessions export --json …');
  expect(wrong('--json sessions')).toBe('Options of `sessions` must come after it: sessions --json …');
  for (const right of [
    'gateway run --port 2',
    'gateway --port 1',
    'gateway --host tab --port 1',
    'gateway --help status',
    'sessions --agent list',
    'chat --json status',
    'chat -- gateway',
    '--version',
    'models download owner/name --json',
  ])
    expect(wrong(right), right).toBeUndefined();
});

verifies('cli/errors', 'a command that there is not, or none', () => {
  const wrong = (line: string): string | undefined => describeUnknownCommand(createProgram(), line.split(' '));
  const perch = (words: string): string => `\`${toCommandLine(words)}\``;
  expect(wrong('frobnicate')).toBe(`Unknown command "frobnicate". Run ${perch('--help')}.`);
  expect(wrong('discover --json')).toBe(`Unknown command "discover". Did you mean ${perch('gateway discover')}?`);
  expect(wrong('gateway service')).toBe(`Unknown command "gateway service". Run ${perch('gateway --help')}.`);
  expect(wrong('models runtime frobnicate')).toContain(`Run ${perch('models runtime --help')}.`);
  expect(wrong('constructor')).toContain('Unknown command');
  for (const right of ['gateway run', 'gateway --port 1', 'chat anything', 'help gateway', 'sessions export main/main', 'mcp', '--version'])
    expect(wrong(right), right).toBeUndefined();
  expect(describeMissingCommand(['secrets', '--json'])).toBe(`Missing command. Run ${perch('secrets --help')}.`);
  expect(describeMissingCommand([])).toBe(`Missing command. Run ${perch('--help')}.`);
});
