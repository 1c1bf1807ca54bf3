import { type ChildProcess, type ChildProcessByStdio, type SerializationType, spawn, type StdioOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { ProcessKeeper } from './process-keeper.ts';
import { endTree } from './process-tree.ts';

export interface ManagedProcess<C extends ChildProcess = ChildProcess> {
  readonly child: C;
  /** Resolves when the whole tree has ended, to how the root process ended or why it could not be started. Never rejects. */
  readonly exited: Promise<string>;
  /** Ends the whole tree. Resolves when it has ended, or after a timeout. */
  end(): Promise<void>;
}

interface ManagedProcessOptions<S extends StdioOptions = StdioOptions> {
  keeper: Pick<ProcessKeeper, 'keep'>;
  env: NodeJS.ProcessEnv;
  stdio: S;
  cwd?: string;
  /** Overrides `argv[0]`, which defaults to the program's path. */
  argv0?: string;
  serialization?: SerializationType;
}

/**
 * Starts a program without a shell, in its own process group. It and its descendants end with the bridge, however that ends. The bridge
 * starts all its programs this way. Throws, or `exited` reports, if the program can't be started.
 */
export function startManagedProcess(
  program: string,
  args: readonly string[],
  options: ManagedProcessOptions<['pipe', 'pipe', 'pipe', ...number[]]>,
): ManagedProcess<ChildProcessByStdio<Writable, Readable, Readable>>;
export function startManagedProcess(
  program: string,
  args: readonly string[],
  options: ManagedProcessOptions<['ignore', 'pipe', 'pipe', ...number[]]>,
): ManagedProcess<ChildProcessByStdio<null, Readable, Readable>>;
export function startManagedProcess(program: string, args: readonly string[], options: ManagedProcessOptions): ManagedProcess;
export function startManagedProcess(
  program: string,
  args: readonly string[],
  { keeper, env, ...options }: ManagedProcessOptions,
): ManagedProcess<ChildProcess> {
  // Marks its processes by an environment variable. The name is different each time, so that a program that runs such programs itself
  // leaves its own mark on them too.
  const name = `PROGRAM_RUN_${randomUUID().replaceAll('-', '')}`;
  const mark = `${name}=1`;
  const registration = keeper.keep(mark);
  let child: ChildProcess;
  try {
    child = spawn(program, args, { ...options, detached: true, env: { ...env, [name]: '1' }, windowsHide: true });
  } catch (error) {
    // Some failures are thrown, such as arguments that are too long for the system; others are emitted as events.
    registration.release();
    throw error;
  }
  if (child.pid !== undefined) registration.markStarted(child.pid);
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => (ending ??= endTree({ pid: child.pid, mark }));
  const exited = describeExit(child).then(async (exitReason) => {
    await end();
    registration.release();
    return exitReason;
  });
  return { child, exited, end };
}

async function describeExit(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = await once(child, 'exit');
    return String(signal ?? code);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns the environment without the bridge's own variables, which contain its token and password. */
export const omitPerchVariables = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('PERCH_')));
