import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Caller, caller } from '#shared/link/calls.ts';
import { packageRoot } from '../../package-root.ts';
import type { Keeper } from '../../processes/keep.ts';
import { startKept, withoutOwn } from '../../processes/kept-process.ts';
import { processLink } from '../browser/process-link.ts';
import { runnerPort } from './runner-port.ts';

/** The runner's program: the source file, or the one built by bridge/build.ts. */
const PROGRAM = import.meta.filename.endsWith('.ts') ? join(import.meta.dirname, 'runner.ts') : join(packageRoot, 'dist', 'gguf-runner.js');
/** Maximum heap in megabytes; models are stored outside it. */
const MEMORY = 2048;

/** A process that runs one model. */
export interface Runner {
  readonly calls: Caller<typeof runnerPort.calls, typeof runnerPort.events>;
  readonly pid: number | undefined;
  /** Resolves to how it ended, when all its processes have ended. */
  readonly over: Promise<string>;
  /** Resolves when all its processes have ended. */
  end(): Promise<void>;
}

/** `entry`: URL of the module that runs models. */
export function startRunner(entry: string, { keeper, log }: { keeper: Pick<Keeper, 'keep'>; log(line: string): void }): Runner {
  const { child, over, end } = startKept(process.execPath, [`--max-old-space-size=${MEMORY}`, PROGRAM, entry], {
    keeper,
    env: withoutOwn(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  if (child.stderr) createInterface({ input: child.stderr }).on('line', log);
  return { calls: caller(processLink(child), runnerPort.calls, runnerPort.events), pid: child.pid, over, end };
}
