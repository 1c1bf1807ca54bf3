#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import process from 'node:process';

// Halves the start-up time. Node manages the cache.
enableCompileCache();

const [
  { createProgram, toUsageError },
  { findMisplacedOption },
  { describeUnknownCommand },
  { CommandError, toErrorLine },
  { escapeToOneLine },
  { CommanderError },
] = await Promise.all([
  import('./program.ts'),
  import('./misplaced-option.ts'),
  import('./unknown-command.ts'),
  import('./command-error.ts'),
  import('./terminal-output.ts'),
  import('commander'),
]);

function fail(error: unknown): void {
  if (process.env.PERCH_DEBUG) console.error(error);
  else process.stderr.write(`perch: ${escapeToOneLine(toErrorLine(error))}\n`);
  process.exitCode = error instanceof CommandError ? error.exitCode : 1;
}

process.on('uncaughtException', (error) => {
  fail(error);
  process.exit();
});
// The reader of the output may be gone.
process.stdout.on('error', () => {});

const words = process.argv.slice(2);
try {
  const program = createProgram();
  const wrong = findMisplacedOption(program, words) ?? describeUnknownCommand(program, words);
  if (wrong !== undefined) throw new CommandError(wrong, 2);
  await program.parseAsync();
} catch (error) {
  const usage = toUsageError(error, words);
  if (usage) fail(usage);
  else if (!(error instanceof CommanderError)) fail(error);
}
// A pending handle would keep a finished command running.
if (process.exitCode !== undefined) process.exit();
