import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { MAX_OUTPUT_BYTES } from '#shared/ports/exec.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Keeper } from './keep.ts';
import { Output } from './output.ts';
import { endTree } from './process-tree.ts';

/** Its processes are known by this entry of their environment. It is no part of what an approval binds to: it is another one each time. */
export const MARK = 'EXEC_RUN_ID';
/** How long the outputs may stay open once all processes that are known are gone. */
const CLOSE_MS = 500;

export interface Command {
  command: string;
  realPath: string;
  args: readonly string[];
  workingDir: string;
  env: Readonly<Record<string, string>>;
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
}

/**
 * Runs a program with its arguments as they are, no shell, no input, in a process group of its own. What it leaves running is ended behind it, and all
 * of it when the signal fires or its time is over. Rejects where it cannot be started, and with the signal's reason.
 */
export async function runCommand(command: Command, { signal, keeper, send }: RunOptions): Promise<Ended> {
  signal.throwIfAborted();
  const id = randomUUID();
  const mark = `${MARK}=${id}`;
  const kept = keeper.keep(mark);
  try {
    const child = start(command, id);
    if (child.pid !== undefined) kept.began(child.pid);
    const outputs = {
      stdout: new Output(MAX_OUTPUT_BYTES, send.bind(null, 'stdout')),
      stderr: new Output(MAX_OUTPUT_BYTES, send.bind(null, 'stderr')),
    };
    child.stdout.on('data', (bytes: Buffer) => outputs.stdout.write(bytes));
    child.stderr.on('data', (bytes: Buffer) => outputs.stderr.write(bytes));
    const closed = once(child, 'close').catch(() => {});
    const over = await ending(child, command, signal);
    await endTree({ pid: child.pid, mark });
    await within(closed, CLOSE_MS);
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
    outputs.stdout.end();
    outputs.stderr.end();
    signal.throwIfAborted();
    return {
      exitCode: child.exitCode,
      signal: child.signalCode,
      timedOut: over === 'time',
      truncated: outputs.stdout.truncated || outputs.stderr.truncated,
    };
  } finally {
    kept.release();
  }
}

function start({ command, realPath, args, workingDir, env }: Command, id: string): ChildProcessByStdio<null, Readable, Readable> {
  try {
    const child = spawn(realPath, args, {
      argv0: command,
      cwd: workingDir,
      env: { ...env, [MARK]: id },
      shell: false,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    child.on('error', () => {});
    return child;
  } catch (error) {
    // Some failures are thrown, such as arguments that are too long for the system; others are events.
    throw notStarted(command, error);
  }
}

/** Resolves when the program has exited, is not wanted any more, or has had its time. */
async function ending(child: ChildProcess, { command, timeoutMs }: Command, signal: AbortSignal): Promise<'exit' | 'abort' | 'time'> {
  const done = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      once(child, 'exit', { signal: done.signal }).then(
        () => 'exit' as const,
        (error: unknown) => {
          throw notStarted(command, error);
        },
      ),
      once(signal, 'abort', { signal: done.signal }).then(() => 'abort' as const),
      new Promise<'time'>((resolve) => (timer = setTimeout(() => resolve('time'), timeoutMs))),
    ]);
  } finally {
    clearTimeout(timer);
    done.abort();
  }
}

const notStarted = (command: string, error: unknown): RpcError =>
  new RpcError('INTERNAL_ERROR', `${command} could not be started: ${error instanceof Error ? error.message : String(error)}`);

function within(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
