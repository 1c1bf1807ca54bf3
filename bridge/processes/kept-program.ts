import type { Keeper } from './keep.ts';
import { startKept } from './kept-process.ts';
import { toItsEnd } from './to-its-end.ts';

export interface ProgramOptions {
  keeper: Pick<Keeper, 'keep'>;
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

export interface ProgramEnd {
  stdout: Buffer;
  stderr: Buffer;
  /** Null if the program was ended by a signal. */
  code: number | null;
}

/** The program exceeded its time or output limit; all its processes were ended. */
export class ProgramCut extends Error {
  override name = 'ProgramCut';
}

/**
 * Runs a program without a shell until it exits; the bridge's end also ends its whole tree. Rejects with `ProgramCut`, the signal's reason,
 * or the system's error if it can't be started.
 */
export async function runKept(
  [program, ...args]: readonly [string, ...string[]],
  { keeper, timeout, maxBuffer, cwd, env = process.env, signal, input = '' }: ProgramOptions,
): Promise<ProgramEnd> {
  signal?.throwIfAborted();
  const place = cwd === undefined ? {} : { cwd };
  const running = startKept(program, args, { keeper, env, stdio: ['pipe', 'pipe', 'pipe'], ...place });
  const { child } = running;
  // Ignore write errors: the program is missing or exited early.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const full = new AbortController();
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    stream.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > maxBuffer) full.abort();
      else parts.push(part);
    });
    return parts;
  });
  const over = await toItsEnd(running, timeout, signal ? AbortSignal.any([signal, full.signal]) : full.signal);
  signal?.throwIfAborted();
  if (full.signal.aborted) throw new ProgramCut(`${program} wrote more than ${maxBuffer} bytes`);
  if (over === 'time') throw new ProgramCut(`${program} didn’t finish within ${timeout / 1000} s`);
  return { stdout: Buffer.concat(stdout ?? []), stderr: Buffer.concat(stderr ?? []), code: child.exitCode };
}
