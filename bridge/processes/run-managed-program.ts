import type { ProcessKeeper } from './process-keeper.ts';
import { startManagedProcess } from './managed-process.ts';
import { waitForExit } from './wait-for-exit.ts';

interface ManagedProgramOptions {
  keeper: Pick<ProcessKeeper, 'keep'>;
  /** In milliseconds. */
  timeout: number;
  /** Maximum bytes of each output. */
  maxBuffer: number;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** Text for standard input. Default: none. */
  input?: string;
}

interface ProgramResult {
  stdout: Buffer;
  stderr: Buffer;
  /** Null if the program was ended by a signal. */
  code: number | null;
}

/** The program exceeded its time or output limit; all its processes were ended. */
export class ProgramLimitError extends Error {
  override name = 'ProgramLimitError';
}

/**
 * Runs a program without a shell until it exits; the bridge's end also ends its whole tree. Rejects with `ProgramLimitError`, the signal's reason,
 * or the system's error if it can't be started.
 */
export async function runManagedProgram(
  [program, ...args]: readonly [string, ...string[]],
  { keeper, timeout, maxBuffer, cwd, env = process.env, signal, input = '' }: ManagedProgramOptions,
): Promise<ProgramResult> {
  signal?.throwIfAborted();
  const cwdOption = cwd === undefined ? {} : { cwd };
  const running = startManagedProcess(program, args, { keeper, env, stdio: ['pipe', 'pipe', 'pipe'], ...cwdOption });
  const { child } = running;
  // Ignore write errors: the program is missing or exited early.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const outputLimit = new AbortController();
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBuffer) outputLimit.abort();
      else chunks.push(chunk);
    });
    return chunks;
  });
  const exitCause = await waitForExit(running, timeout, signal ? AbortSignal.any([signal, outputLimit.signal]) : outputLimit.signal);
  signal?.throwIfAborted();
  if (outputLimit.signal.aborted) throw new ProgramLimitError(`${program} wrote more than ${maxBuffer} bytes`);
  if (exitCause === 'time') throw new ProgramLimitError(`${program} didn’t finish within ${timeout / 1000} s`);
  return { stdout: Buffer.concat(stdout ?? []), stderr: Buffer.concat(stderr ?? []), code: child.exitCode };
}
