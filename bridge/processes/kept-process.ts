import { type ChildProcess, type ChildProcessByStdio, type SerializationType, spawn, type StdioOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Keeper } from './keep.ts';
import { endTree } from './process-tree.ts';

export interface KeptProcess<C extends ChildProcess = ChildProcess> {
  readonly child: C;
  /** Resolves with how the first process ended, or why it could not be started, when nothing of its tree is left; never rejects. */
  readonly over: Promise<string>;
  /** Ends all of the tree; resolves when nothing of it is left, or that was tried for long enough. */
  end(): Promise<void>;
}

export interface KeptOptions<S extends StdioOptions = StdioOptions> {
  keeper: Pick<Keeper, 'keep'>;
  env: NodeJS.ProcessEnv;
  stdio: S;
  cwd?: string;
  /** What it is called by, where that is not its path. */
  argv0?: string;
  serialization?: SerializationType;
}

/**
 * Starts a program in a process group of its own, without a shell; it and all that it starts end with the bridge, by whatever death. This is how everything is
 * started that the bridge runs. Throws, or `over` tells, where it cannot be started.
 */
export function startKept(
  program: string,
  args: readonly string[],
  options: KeptOptions<['pipe', 'pipe', 'pipe', ...number[]]>,
): KeptProcess<ChildProcessByStdio<Writable, Readable, Readable>>;
export function startKept(
  program: string,
  args: readonly string[],
  options: KeptOptions<['ignore', 'pipe', 'pipe', ...number[]]>,
): KeptProcess<ChildProcessByStdio<null, Readable, Readable>>;
export function startKept(program: string, args: readonly string[], options: KeptOptions): KeptProcess;
export function startKept(program: string, args: readonly string[], { keeper, env, ...options }: KeptOptions): KeptProcess<ChildProcess> {
  // Its processes are known by this entry of their environment. Its name is another one each time, so that a program that runs such programs itself
  // leaves its own mark on them too.
  const name = `PROGRAM_RUN_${randomUUID().replaceAll('-', '')}`;
  const mark = `${name}=1`;
  const kept = keeper.keep(mark);
  let child: ChildProcess;
  try {
    child = spawn(program, args, { ...options, detached: true, env: { ...env, [name]: '1' }, windowsHide: true });
  } catch (error) {
    // Some failures are thrown, such as arguments that are too long for the system; others are events.
    kept.release();
    throw error;
  }
  if (child.pid !== undefined) kept.began(child.pid);
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => (ending ??= endTree({ pid: child.pid, mark }));
  const over = howItEnded(child).then(async (how) => {
    await end();
    kept.release();
    return how;
  });
  return { child, over, end };
}

async function howItEnded(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = await once(child, 'exit');
    return String(signal ?? code);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The environment without what is the bridge's own: its token and password. */
export const withoutOwn = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('PERCH_')));
