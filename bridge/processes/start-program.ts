import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { ProcessKeeper } from './process-keeper.ts';
import { type ManagedProcess, startManagedProcess } from './managed-process.ts';

/** A program with its arguments. `command` is the name that it is called by. */
export interface ProgramSpec {
  command: string;
  realPath: string;
  args: readonly string[];
  workingDir: string;
  env: Readonly<Record<string, string>>;
  /** Open files passed as descriptors 3 and up. */
  fds?: readonly number[];
}

/** A running program. `In`: type of its standard input, null if it has none. */
export type StartedProgram<In extends Writable | null> = ManagedProcess<ChildProcessByStdio<In, Readable, Readable>>;

/** Starts a program named by a user or a file. If it can't be started, throws an error for the user or its process emits `error`. */
export function startProgram(program: ProgramSpec, input: 'pipe', keeper: Pick<ProcessKeeper, 'keep'>): StartedProgram<Writable>;
export function startProgram(program: ProgramSpec, input: 'ignore', keeper: Pick<ProcessKeeper, 'keep'>): StartedProgram<null>;
export function startProgram(
  { command, realPath, args, workingDir, env, fds = [] }: ProgramSpec,
  input: 'pipe' | 'ignore',
  keeper: Pick<ProcessKeeper, 'keep'>,
): StartedProgram<Writable | null> {
  try {
    const options = { keeper, argv0: command, cwd: workingDir, env };
    return input === 'pipe'
      ? startManagedProcess(realPath, args, { ...options, stdio: ['pipe', 'pipe', 'pipe', ...fds] })
      : startManagedProcess(realPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe', ...fds] });
  } catch (error) {
    throw createStartError(command, error);
  }
}

export const createStartError = (command: string, error: unknown): RpcError =>
  new RpcError('INTERNAL_ERROR', `Couldn’t start ${command}: ${error instanceof Error ? error.message : String(error)}`);
