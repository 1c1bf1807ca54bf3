import { MAX_OUTPUT_BYTES } from '#shared/ports/exec-port.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import { createStartError, type ProgramSpec, startProgram } from '../../processes/start-program.ts';
import { waitForExit } from '../../processes/wait-for-exit.ts';
import { CommandOutput } from './command-output.ts';

export interface TimedCommand extends ProgramSpec {
  timeoutMs: number;
}

export interface CommandResult {
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  truncated: boolean;
}

export interface RunCommandOptions {
  signal: AbortSignal;
  keeper: Pick<ProcessKeeper, 'keep'>;
  send(stream: 'stdout' | 'stderr', text: string): void;
  /** Called when the process has been created, with its own descriptors. */
  onStarted?(): void;
}

/**
 * Runs a program with unchanged arguments, without a shell or input, in its own process group. Ends its remaining processes after it exits,
 * and all of them when the signal is aborted or the time is over. Rejects if it can't be started, or with the signal's reason.
 */
export async function runCommand(command: TimedCommand, { signal, keeper, send, onStarted }: RunCommandOptions): Promise<CommandResult> {
  signal.throwIfAborted();
  const running = startProgram(command, 'ignore', keeper);
  onStarted?.();
  const { child } = running;
  const outputs = {
    stdout: new CommandOutput(MAX_OUTPUT_BYTES, send.bind(null, 'stdout')),
    stderr: new CommandOutput(MAX_OUTPUT_BYTES, send.bind(null, 'stderr')),
  };
  child.stdout.on('data', (bytes: Buffer) => outputs.stdout.write(bytes));
  child.stderr.on('data', (bytes: Buffer) => outputs.stderr.write(bytes));
  const exitCause = await waitForExit(running, command.timeoutMs, signal).catch((error: unknown) => {
    throw createStartError(command.command, error);
  });
  outputs.stdout.end();
  outputs.stderr.end();
  signal.throwIfAborted();
  return {
    exitCode: child.exitCode,
    signal: child.signalCode,
    timedOut: exitCause === 'time',
    truncated: outputs.stdout.truncated || outputs.stderr.truncated,
  };
}
