import { MAX_OUTPUT_BYTES } from '#shared/ports/exec.ts';
import type { Keeper } from '../../processes/keep.ts';
import { notStarted, type Program, startProgram } from '../../processes/start-program.ts';
import { toItsEnd } from '../../processes/to-its-end.ts';
import { Output } from './output.ts';

export interface Command extends Program {
  timeoutMs: number;
}

export interface Ended {
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  truncated: boolean;
}

export interface RunOptions {
  signal: AbortSignal;
  keeper: Pick<Keeper, 'keep'>;
  send(stream: 'stdout' | 'stderr', text: string): void;
  /** Called when the process has been created, with its own descriptors. */
  started?(): void;
}

/**
 * Runs a program with unchanged arguments, without a shell or input, in its own process group. Ends its remaining processes after it exits,
 * and all of them when the signal is aborted or the time is over. Rejects if it can't be started, or with the signal's reason.
 */
export async function runCommand(command: Command, { signal, keeper, send, started }: RunOptions): Promise<Ended> {
  signal.throwIfAborted();
  const running = startProgram(command, 'ignore', keeper);
  started?.();
  const { child } = running;
  const outputs = {
    stdout: new Output(MAX_OUTPUT_BYTES, send.bind(null, 'stdout')),
    stderr: new Output(MAX_OUTPUT_BYTES, send.bind(null, 'stderr')),
  };
  child.stdout.on('data', (bytes: Buffer) => outputs.stdout.write(bytes));
  child.stderr.on('data', (bytes: Buffer) => outputs.stderr.write(bytes));
  const over = await toItsEnd(running, command.timeoutMs, signal).catch((error: unknown) => {
    throw notStarted(command.command, error);
  });
  outputs.stdout.end();
  outputs.stderr.end();
  signal.throwIfAborted();
  return {
    exitCode: child.exitCode,
    signal: child.signalCode,
    timedOut: over === 'time',
    truncated: outputs.stdout.truncated || outputs.stderr.truncated,
  };
}
