import { type ChildProcess, type ChildProcessByStdio, type SerializationType, spawn, type StdioOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Keeper } from './keep.ts';
import { endTree } from './process-tree.ts';

export interface KeptProcess<C extends ChildProcess = ChildProcess> {
  readonly child: C;
  /** Resolves when the whole tree has ended, to how the root process ended or why it could not be started. Never rejects. */
  readonly over: Promise<string>;
  /** Ends the whole tree. Resolves when it has ended, or after a timeout. */
  end(): Promise<void>;
}

export interface KeptOptions<S extends StdioOptions = StdioOptions> {
  keeper: Pick<Keeper, 'keep'>;
  env: NodeJS.ProcessEnv;
  stdio: S;
  cwd?: string;
  /** Overrides `argv[0]`, which defaults to the program's path. */
  argv0?: string;
  serialization?: SerializationType;
}

/**
 * Starts a program without a shell, in its own process group. It and its descendants end with the bridge, however that ends. The bridge
 * starts all its programs this way. Throws, or `over` reports, if the program can't be started.
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
  // Marks its processes by an environment variable. The name is different each time, so that a program that runs such programs itself
  // leaves its own mark on them too.
  const name = `PROGRAM_RUN_${randomUUID().replaceAll('-', '')}`;
  const mark = `${name}=1`;
  const kept = keeper.keep(mark);
  let child: ChildProcess;
  try {
    child = spawn(program, args, { ...options, detached: true, env: { ...env, [name]: '1' }, windowsHide: true });
  } catch (error) {
    // Some failures are thrown, such as arguments that are too long for the system; others are emitted as events.
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

/** Returns the environment without the bridge's own variables, which contain its token and password. */
export const withoutOwn = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('PERCH_')));
