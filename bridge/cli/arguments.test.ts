import fc from 'fast-check';
import type { Command } from 'commander';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { createTempFolder } from '../backup/fixture.ts';
import { createProgram } from './program.ts';
import { runPerch } from './tests/cli-gateway.ts';

const LONG = process.env.PERCH_LONG === '1';

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
const program = createProgram();
const WORDS = [...new Set(all(program).map((command) => command.name()))].filter((name) => name !== 'perch');
const FLAGS = [
  ...new Set(all(program).flatMap((command) => command.options.flatMap(({ long, short }) => [long ?? '', short ?? '']))),
].filter((flag) => flag !== '');
/** Options that would run until a signal or write outside the home: serving a gateway, naming a file. */
const ENDLESS = /^(-f|--follow|--output|--host|--bind)/;

const text = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      '-',
      '--',
      '0',
      '1',
      '-1',
      '65536',
      '1e9',
      'NaN',
      'main/main',
      '{}',
      '{"a":',
      '@',
      '@/',
      '[]',
      'null',
      'health',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'ws://127.0.0.1:1',
      'http://[::1]:1/#link=x',
      'wss://perch.invalid',
      'ws://a@127.0.0.1',
      'file:///',
      '__proto__',
      'constructor',
    ),
  },
  // Program arguments can't contain NUL.
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }).map((made) => made.replaceAll('\0', '')) },
);
const line = fc
  .tuple(
    fc.array(fc.constantFrom(...WORDS), { maxLength: 3 }),
    fc.array(
      fc.oneof(
        fc.constantFrom(...FLAGS),
        fc.tuple(fc.constantFrom(...FLAGS), text).map(([flag, value]) => `${flag}=${value}`),
        text,
      ),
      { maxLength: 5 },
    ),
  )
  .map(([words, rest]) => [...words, ...rest])
  .filter((args) => !args.some((arg) => ENDLESS.test(arg)));

verifies(
  ['cli/arguments', 'cli/errors'],
  'any arguments: exit 0, 1 or 2, one line with the error, no stack trace',
  async () => {
    using home = createTempFolder();
    // No browser can be started, so that a serving gateway exits.
    const env = { PERCH_HOME: home.path, PERCH_CHROMIUM: '/no/such/browser', XDG_CONFIG_HOME: home.path, CI: '1' };
    await fc.assert(
      fc.asyncProperty(line, async (args) => {
        const { code, stdout, stderr } = await runPerch(args, env);
        expect([0, 1, 2]).toContain(code);
        expect(stdout + stderr).not.toMatch(/\n\s+at /);
        const errors = stderr.split('\n').filter((each) => each.startsWith('perch: '));
        expect(errors).toHaveLength(code === 0 ? 0 : 1);
        // Warnings may come before it, one per line, but nothing after it.
        if (code !== 0) expect(stderr.trimEnd().split('\n').at(-1)).toBe(errors[0]);
      }),
      { numRuns: LONG ? 500 : 40 },
    );
  },
  LONG ? 900_000 : 120_000,
);

verifies(['cli/arguments', 'cli/errors'], 'the parser alone, with thousands of lines', async () => {
  const { CommandError } = await import('./command-error.ts');
  const { CommanderError } = await import('commander');
  await fc.assert(
    fc.asyncProperty(line, async (args) => {
      const parsed = createProgram();
      for (const command of all(parsed)) {
        command.action(() => {});
        command.configureOutput({ writeOut: () => {}, writeErr: () => {} });
      }
      try {
        await parsed.parseAsync(args, { from: 'user' });
      } catch (error) {
        if (!(error instanceof CommanderError) && !(error instanceof CommandError)) throw error;
        expect(error.message).not.toBe('');
      }
    }),
    { numRuns: LONG ? 20_000 : 1_000 },
  );
});
