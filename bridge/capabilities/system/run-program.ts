import { execFile } from 'node:child_process';

export interface Ran {
  stdout: string;
  stderr: string;
  /** Null where it could not be started, or was ended. */
  code: number | null;
}

/** Runs a program to its end without a shell; never rejects. `timeout` in milliseconds. */
export function runProgram(
  program: string,
  args: readonly string[],
  { timeout, cwd, env = process.env }: { timeout: number; cwd?: string; env?: NodeJS.ProcessEnv },
): Promise<Ran> {
  return new Promise((resolve) => {
    const options = {
      timeout,
      env,
      windowsHide: true,
      maxBuffer: 1024 * 1024,
      killSignal: 'SIGKILL',
      ...(cwd === undefined ? {} : { cwd }),
    } as const;
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ stdout, stderr, code });
    });
  });
}
