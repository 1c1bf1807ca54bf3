import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Keeper } from './keep.ts';
import { type KeptProcess, startKept } from './kept-process.ts';

/** A program with its arguments. `command` is the name that it is called by. */
export interface Program {
  command: string;
  realPath: string;
  args: readonly string[];
  workingDir: string;
  env: Readonly<Record<string, string>>;
  /** Open files passed as descriptors 3 and up. */
  fds?: readonly number[];
}

/** A running program. `In`: type of its standard input, null if it has none. */
export type Started<In extends Writable | null> = KeptProcess<ChildProcessByStdio<In, Readable, Readable>>;

/** Starts a program named by a user or a file. If it can't be started, throws an error for the user or its process emits `error`. */
export function startProgram(program: Program, input: 'pipe', keeper: Pick<Keeper, 'keep'>): Started<Writable>;
export function startProgram(program: Program, input: 'ignore', keeper: Pick<Keeper, 'keep'>): Started<null>;
export function startProgram(
  { command, realPath, args, workingDir, env, fds = [] }: Program,
  input: 'pipe' | 'ignore',
  keeper: Pick<Keeper, 'keep'>,
): Started<Writable | null> {
  try {
    const options = { keeper, argv0: command, cwd: workingDir, env };
    return input === 'pipe'
      ? startKept(realPath, args, { ...options, stdio: ['pipe', 'pipe', 'pipe', ...fds] })
      : startKept(realPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe', ...fds] });
  } catch (error) {
    throw notStarted(command, error);
  }
}

export const notStarted = (command: string, error: unknown): RpcError =>
  new RpcError('INTERNAL_ERROR', `Couldn’t start ${command}: ${error instanceof Error ? error.message : String(error)}`);
