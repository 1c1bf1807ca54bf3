import { type Keeper, UNKEPT } from '../../processes/keep.ts';
import { runKept } from '../../processes/kept-program.ts';

export interface Ran {
  stdout: string;
  stderr: string;
  /** Null where it could not be started, or was ended. */
  code: number | null;
}

export interface ProgramRun {
  timeout: number;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** On its standard input. */
  input?: string;
  keeper?: Pick<Keeper, 'keep'>;
}

/** Runs a program to its end without a shell; never rejects. `timeout` in milliseconds. */
export async function runProgram(program: string, args: readonly string[], { keeper = UNKEPT, ...options }: ProgramRun): Promise<Ran> {
  try {
    const { stdout, stderr, code } = await runKept([program, ...args], { ...options, keeper, maxBuffer: 1024 * 1024 });
    return { stdout: stdout.toString(), stderr: stderr.toString(), code };
  } catch {
    return { stdout: '', stderr: '', code: null };
  }
}
