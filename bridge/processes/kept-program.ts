import type { Keeper } from './keep.ts';
import { startKept } from './kept-process.ts';
import { toItsEnd } from './to-its-end.ts';

export interface ProgramOptions {
  keeper: Pick<Keeper, 'keep'>;
  /** Milliseconds. */
  timeout: number;
  /** Bytes of each output. */
  maxBuffer: number;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** What it is given at its standard input; nothing by default. */
  input?: string;
}

export interface ProgramEnd {
  stdout: Buffer;
  stderr: Buffer;
  /** Null where a signal ended it. */
  code: number | null;
}

/** It took too long, or wrote too much; all of its processes were ended. */
export class ProgramCut extends Error {
  override name = 'ProgramCut';
}

/**
 * Runs a program to its end without a shell; it ends with the bridge at the latest, and all that it started with it. Rejects with `ProgramCut`, with the signal's
 * reason, and with the system's error where it cannot be started.
 */
export async function runKept(
  [program, ...args]: readonly [string, ...string[]],
  { keeper, timeout, maxBuffer, cwd, env = process.env, signal, input = '' }: ProgramOptions,
): Promise<ProgramEnd> {
  signal?.throwIfAborted();
  const place = cwd === undefined ? {} : { cwd };
  const running = startKept(program, args, { keeper, env, stdio: ['pipe', 'pipe', 'pipe'], ...place });
  const { child } = running;
  // A program that is not there, or ends early, takes no input.
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
