import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPort } from '#shared/ports/exec.ts';
import { FakeBridge, lend } from '../../../../tests/support/fake-bridge.ts';
import { execHandlers } from '../exec.ts';
import { Keeper } from '../../../processes/keep.ts';

/** The real handlers behind a fake bridge, with a home of their own. */
export interface LentExec extends AsyncDisposable {
  bridge: FakeBridge;
  /** The bridge's directory, links resolved. */
  home: string;
  /** Writes a program there: a script that may be run. Its path. */
  script(name: string, text: string): Promise<string>;
  /** Resolves a command and runs it; what it wrote, and how it ended. */
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

export async function lendExec(env?: NodeJS.ProcessEnv): Promise<LentExec> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'exec-')));
  const bridge = new FakeBridge(
    lend(execPort, execHandlers({ home, keeper: new Keeper((line) => bridge.faults.push(line)), ...(env ? { env } : {}) })),
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
      const asked = { command, args, ...(workingDir === undefined ? {} : { workingDir }) };
      const { realPath: _, ...resolved } = await bridge.call(execPort, 'exec.resolve', asked);
      const said = { stdout: '', stderr: '' };
      const ended = await bridge.call(
        execPort,
        'exec.run',
        { command, args, ...resolved, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
        {
          ...(signal ? { signal } : {}),
          on: {
            'exec.output': ({ stream, text }) => {
              said[stream] += text;
              ontext?.(text);
            },
          },
        },
      );
      return { ...said, ...ended };
    },
    async [Symbol.asyncDispose]() {
      bridge.detach();
      await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

/** Processes whose command line has this text in it. */
export function processesWith(text: string): number[] {
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
