import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Command } from 'commander';
import { createProgram } from '../../bridge/cli/program.ts';
import { SHELLS } from '../../bridge/cli/completion-script.ts';
import { verifies } from '../requirements.ts';
import { missingTmux, openTerminal } from '../support/tmux.ts';
import { runPerch } from './perch-process.ts';

const missingShell = (shell: string): boolean => {
  try {
    execFileSync(shell, ['-c', ':'], { stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
};

let dir = '';
const script = (shell: string): string => join(dir, `perch.${shell}`);
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'perch-completion-'));
  for (const shell of SHELLS) writeFileSync(script(shell), (await runPerch(['completion', shell])).stdout);
  writeFileSync(join(dir, 'a file.txt'), '');
});
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** Completions that a shell offers for the last word of a line. */
const SHELL_COMPLETIONS = {
  bash: (words: readonly string[]): string[] =>
    lines(
      execFileSync(
        'bash',
        [
          '--norc',
          '-c',
          'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _perch; printf "%s\\n" "${COMPREPLY[@]}"',
          'bash',
          script('bash'),
          ...words,
        ],
        { cwd: dir, encoding: 'utf8' },
      ),
    ),
  fish: (words: readonly string[]): string[] =>
    lines(
      execFileSync('fish', ['--no-config', '-c', `source ${script('fish')}; complete -C ${JSON.stringify(words.join(' '))}`], {
        cwd: dir,
        encoding: 'utf8',
        env: { ...process.env, HOME: dir },
      }),
    ).map((line) => line.split('\t')[0] ?? ''),
};

const listAllCompletions = (command: Command, path: string[] = []): { command: Command; path: string[] }[] => [
  { command, path },
  ...command.commands.flatMap((child) => listAllCompletions(child, [...path, child.name()])),
];

for (const [shell, offers] of Object.entries(SHELL_COMPLETIONS)) {
  if (missingShell(shell)) {
    test.skip(`completion: ${shell} is not installed`, () => {});
    continue;
  }
  verifies(
    'cli/completion',
    `${shell} offers each command and each option there is`,
    () => {
      for (const { command, path } of listAllCompletions(createProgram())) {
        if (command.commands.length > 0)
          expect(offers(['perch', ...path, '']), path.join(' ')).toEqual(
            expect.arrayContaining(command.commands.map((child) => child.name())),
          );
        const options = command.options.map(({ long }) => long ?? '');
        expect(offers(['perch', ...path, '--']), path.join(' ')).toEqual(expect.arrayContaining([...options, '--help']));
      }
    },
    60_000,
  );

  verifies('cli/completion', `${shell} offers choices behind an option, files where one is wanted, and what fits alone`, () => {
    expect(offers(['perch', 'gat'])).toEqual(['gateway']);
    expect(offers(['perch', 'gateway', 'run', '--host', '']).sort()).toEqual(['auto', 'headless', 'tab']);
    expect(offers(['perch', 'logs', '--level', 'w'])).toEqual(['warn']);
    expect(offers(['perch', 'completion', 'f'])).toEqual(['fish']);
    expect(offers(['perch', 'backup', 'restore', 'a'])).toEqual([expect.stringMatching(/^a(\\)? file\.txt$/)]);
    expect(offers(['perch', 'open', '--token', ''])).toEqual([]);
    // A group's default command may be left out.
    expect(offers(['perch', 'gateway', '--ho'])).toEqual(['--host']);
    expect(offers(['perch', '--json', 'doctor', '--ti'])).toEqual(['--timeout']);
  });
}

if (missingShell('zsh') || missingTmux !== undefined) test.skip('completion: zsh or tmux is not installed', () => {});
else {
  verifies('cli/completion', 'zsh completes commands, options, choices and files at its prompt', async () => {
    const inZsh = async (line: string, shows: string | RegExp): Promise<void> => {
      await using terminal = await openTerminal({ command: ['zsh', '-f', '-i'], env: { HOME: dir, PS1: '> ', ZDOTDIR: dir } });
      await terminal.waitForText(/>\s*$/);
      await terminal.type(`cd ${dir}; autoload -Uz compinit; compinit -D -u; eval "$(cat ${script('zsh')})"; clear; echo ready`);
      await terminal.press('Enter');
      await terminal.waitForText(/^ready\n>\s*$/m);
      await terminal.type(line);
      await terminal.press('Tab');
      await terminal.waitForText(shows);
    };
    await inZsh('perch gat', /> perch gateway\s*$/);
    await inZsh('perch gateway ', /call +-- Call an RPC method[^]*run +-- Run the gateway[^]*status/);
    await inZsh('perch gateway call --par', /> perch gateway call --params\s*$/);
    await inZsh('perch gateway run --host h', /--host headless\s*$/);
    await inZsh('perch logs --', /--follow[^]*--level[^]*--lines/);
    await inZsh('perch completion f', /completion fish\s*$/);
    await inZsh('perch backup restore a', /restore a\\ file\.txt\s*$/);
  });
}
