import { type ProcessKeeper, NO_KEEPER } from '../../processes/process-keeper.ts';
import { runManagedProgram } from '../../processes/run-managed-program.ts';

export interface ProgramOutput {
  stdout: string;
  stderr: string;
  /** Null if the program could not be started or was killed. */
  code: number | null;
}

export interface RunProgramOptions {
  timeout: number;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Text for standard input. */
  input?: string;
  keeper?: Pick<ProcessKeeper, 'keep'>;
}

/** Runs a program without a shell until it exits. Never rejects. `timeout` in milliseconds. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { keeper = NO_KEEPER, ...options }: RunProgramOptions,
): Promise<ProgramOutput> {
  try {
    const { stdout, stderr, code } = await runManagedProgram([program, ...args], { ...options, keeper, maxBuffer: 1024 * 1024 });
    return { stdout: stdout.toString(), stderr: stderr.toString(), code };
  } catch {
    return { stdout: '', stderr: '', code: null };
  }
}
