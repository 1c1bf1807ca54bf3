import { type Keeper, UNKEPT } from '../../processes/keep.ts';
import { runKept } from '../../processes/kept-program.ts';

export interface Ran {
  stdout: string;
  stderr: string;
  /** Null if the program could not be started or was killed. */
  code: number | null;
}

export interface ProgramRun {
  timeout: number;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Text for standard input. */
  input?: string;
  keeper?: Pick<Keeper, 'keep'>;
}

/** Runs a program without a shell until it exits. Never rejects. `timeout` in milliseconds. */
export async function runProgram(program: string, args: readonly string[], { keeper = UNKEPT, ...options }: ProgramRun): Promise<Ran> {
  try {
    const { stdout, stderr, code } = await runKept([program, ...args], { ...options, keeper, maxBuffer: 1024 * 1024 });
    return { stdout: stdout.toString(), stderr: stderr.toString(), code };
  } catch {
    return { stdout: '', stderr: '', code: null };
  }
}
