#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import process from 'node:process';

// Halves the time to a serving gateway; what it keeps is Node's own matter.
enableCompileCache();

const [{ makeProgram, usageError }, { CommandError, lineOf }, { CommanderError }] = await Promise.all([
  import('./program.ts'),
  import('./errors.ts'),
  import('commander'),
]);

function fail(error: unknown): void {
  if (process.env.PERCH_DEBUG) console.error(error);
  else process.stderr.write(`perch: ${lineOf(error)}\n`);
  process.exitCode = error instanceof CommandError ? error.exitCode : 1;
}

process.on('uncaughtException', (error) => {
  fail(error);
  process.exit();
});
// Whoever reads the output may have gone.
process.stdout.on('error', () => {});

try {
  await makeProgram().parseAsync();
} catch (error) {
  const usage = usageError(error);
  if (usage) fail(usage);
  else if (!(error instanceof CommanderError)) fail(error);
}
// A pending handle would keep a command that has ended.
if (process.exitCode !== undefined) process.exit();
