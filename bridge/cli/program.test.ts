import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { commandLine } from '../command-line.ts';
import { misplaced } from './misplaced.ts';
import { makeProgram } from './program.ts';
import { missingCommand, unknownCommand } from './unknown-command.ts';

verifies('cli/errors', 'a free port is for a gateway that starts: one that runs is asked for at its own', async () => {
  const commands = makeProgram().commands;
  for (const name of ['open', 'doctor']) {
    expect(commands.find((command) => command.name() === name)?.helpInformation()).not.toContain('takes a free one');
    await expect(makeProgram().parseAsync([name, '--port', '0'], { from: 'user' })).rejects.toThrow(/It must be 1 to 65535/);
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
  expect(wrong('gateway --port 1 run --port 2')).toBe('options of `run` stand behind it: gateway run --port …');
  expect(wrong('gateway --port=1 status --json')).toBe('options of `status` stand behind it: gateway status --port=1 …');
  expect(wrong('sessions --json export main/main')).toBe('options of `export` stand behind it: sessions export --json …');
  expect(wrong('--json sessions')).toBe('options of `sessions` stand behind it: sessions --json …');
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
  expect(wrong('frobnicate')).toBe(`there is no ${perch('frobnicate')}; ${perch('--help')} lists what there is`);
  expect(wrong('discover --json')).toBe(`there is no ${perch('discover')}: did you mean ${perch('gateway discover')}?`);
  expect(wrong('gateway service')).toBe(`there is no ${perch('gateway service')}; ${perch('gateway --help')} lists what there is`);
  expect(wrong('models runtime frobnicate')).toContain(`${perch('models runtime --help')} lists`);
  expect(wrong('constructor')).toContain('there is no');
  for (const right of ['gateway run', 'gateway --port 1', 'chat anything', 'help gateway', 'sessions export main/main', 'mcp', '--version'])
    expect(wrong(right), right).toBeUndefined();
  expect(missingCommand(['secrets', '--json'])).toBe(`a command is missing; ${perch('secrets --help')} lists them`);
  expect(missingCommand([])).toBe(`a command is missing; ${perch('--help')} lists them`);
});
