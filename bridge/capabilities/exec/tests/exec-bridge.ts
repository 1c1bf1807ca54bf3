import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPort } from '#shared/ports/exec-port.ts';
import { FakeBridge, createCapability } from '../../../../tests/support/fake-bridge.ts';
import { createExecHandlers } from '../exec-handlers.ts';
import { ProcessKeeper } from '../../../processes/process-keeper.ts';

/** The actual handlers behind a fake bridge, with a separate home. */
export interface ExecBridge extends AsyncDisposable {
  bridge: FakeBridge;
  /** The bridge's home directory, with links resolved. */
  home: string;
  /** Writes an executable script to it. Returns its path. */
  script(name: string, text: string): Promise<string>;
  /** Resolves a command and runs it. Returns its output and how it ended. */
  run(
    command: string,
    args?: string[],
    options?: { signal?: AbortSignal; timeoutMs?: number; workingDir?: string; ontext?: (text: string) => void },
  ): Promise<{
    stdout: string;
    stderr: string;
    exitCode: number | null;
    signal: string | null;
    timedOut: boolean;
    truncated: boolean;
  }>;
}

export async function createExecBridge(env?: NodeJS.ProcessEnv): Promise<ExecBridge> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'exec-')));
  const bridge = new FakeBridge(
    createCapability(
      execPort,
      createExecHandlers({ home, keeper: new ProcessKeeper((line) => bridge.faults.push(line)), ...(env ? { env } : {}) }),
    ),
  );
  return {
    bridge,
    home,
    async script(name, text) {
      const path = join(home, name);
      await writeFile(path, text);
      await chmod(path, 0o755);
      return path;
    },
    async run(command, args = [], { signal, timeoutMs, workingDir, ontext } = {}) {
      const request = { command, args, ...(workingDir === undefined ? {} : { workingDir }) };
      const { realPath: _, ...resolved } = await bridge.call(execPort, 'exec.resolve', request);
      const output = { stdout: '', stderr: '' };
      const result = await bridge.call(
        execPort,
        'exec.run',
        { command, args, ...resolved, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
        {
          ...(signal ? { signal } : {}),
          on: {
            'exec.output': ({ stream, text }) => {
              output[stream] += text;
              ontext?.(text);
            },
          },
        },
      );
      return { ...output, ...result };
    },
    async [Symbol.asyncDispose]() {
      bridge.detach();
      await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

/** Returns the processes whose command line contains a text. */
export function findProcesses(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      } catch {
        return false;
      }
    })
    .map(Number);
}
