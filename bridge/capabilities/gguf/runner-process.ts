import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type PortClient, createPortClient } from '#shared/link/port-calls.ts';
import { packageRoot } from '../../package-root.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import { startManagedProcess, omitPerchVariables } from '../../processes/managed-process.ts';
import { createProcessLink } from '../browser/process-link.ts';
import { runnerPort } from './runner-port.ts';

/** The runner's program: the source file, or the one built by bridge/build.ts. */
const PROGRAM = import.meta.filename.endsWith('.ts') ? join(import.meta.dirname, 'runner.ts') : join(packageRoot, 'dist', 'gguf-runner.js');
/** Maximum heap in megabytes; models are stored outside it. */
const MAX_HEAP_MB = 2048;

/** A process that runs one model. */
export interface RunnerProcess {
  readonly calls: PortClient<typeof runnerPort.calls, typeof runnerPort.events>;
  readonly pid: number | undefined;
  /** Resolves to how it ended, when all its processes have ended. */
  readonly exited: Promise<string>;
  /** Resolves when all its processes have ended. */
  end(): Promise<void>;
}

/** `entry`: URL of the module that runs models. */
export function startRunner(
  entry: string,
  { keeper, log }: { keeper: Pick<ProcessKeeper, 'keep'>; log(line: string): void },
): RunnerProcess {
  const { child, exited, end } = startManagedProcess(process.execPath, [`--max-old-space-size=${MAX_HEAP_MB}`, PROGRAM, entry], {
    keeper,
    env: omitPerchVariables(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  if (child.stderr) createInterface({ input: child.stderr }).on('line', log);
  return { calls: createPortClient(createProcessLink(child), runnerPort.calls, runnerPort.events), pid: child.pid, exited, end };
}
