import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { commandLine } from '../command-line.ts';
import { misplaced } from './misplaced.ts';
import { makeProgram } from './program.ts';
import { missingCommand, unknownCommand } from './unknown-command.ts';

verifies('cli/errors', 'a free port is for a gateway that starts: one that runs is asked for at its own', async () => {
  const commands = makeProgram().commands;
  for (const name of ['open', 'doctor']) {
    expect(commands.find((command) => command.name() === name)?.helpInformation()).not.toContain('free port');
    await expect(makeProgram().parseAsync([name, '--port', '0'], { from: 'user' })).rejects.toThrow(/Must be between 1 and 65535/);
  }
});

verifies('cli/timeouts', 'how long commands wait unless told', () => {
  const gateway = makeProgram().commands.find((command) => command.name() === 'gateway');
  for (const [name, ms] of [
    ['status', 10_000],
    ['probe', 10_000],
    ['call', 30_000],
  ] as const) {
    const command = gateway?.commands.find((each) => each.name() === name);
    expect(command?.getOptionValue('timeout'), name).toBe(ms);
  }
});

verifies('cli/errors', 'options before the command that they are for', () => {
  const wrong = (line: string): string | undefined => misplaced(makeProgram(), line.split(' '));
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
  const wrong = (line: string): string | undefined => unknownCommand(makeProgram(), line.split(' '));
  const perch = (words: string): string => `\`${commandLine(words)}\``;
  expect(wrong('frobnicate')).toBe(`Unknown command "frobnicate". Run ${perch('--help')}.`);
  expect(wrong('discover --json')).toBe(`Unknown command "discover". Did you mean ${perch('gateway discover')}?`);
  expect(wrong('gateway service')).toBe(`Unknown command "gateway service". Run ${perch('gateway --help')}.`);
  expect(wrong('models runtime frobnicate')).toContain(`Run ${perch('models runtime --help')}.`);
  expect(wrong('constructor')).toContain('Unknown command');
  for (const right of ['gateway run', 'gateway --port 1', 'chat anything', 'help gateway', 'sessions export main/main', 'mcp', '--version'])
    expect(wrong(right), right).toBeUndefined();
  expect(missingCommand(['secrets', '--json'])).toBe(`Missing command. Run ${perch('secrets --help')}.`);
  expect(missingCommand([])).toBe(`Missing command. Run ${perch('--help')}.`);
});
