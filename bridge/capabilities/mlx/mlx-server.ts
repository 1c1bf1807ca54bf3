import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import { startManagedProcess, omitPerchVariables } from '../../processes/managed-process.ts';
import { Agent, request } from '../undici.ts';

const POLL_MS = 100;

/** A running `mlx_lm.server` with one model, on a loopback port. */
export interface MlxServer {
  readonly base: string;
  readonly dispatcher: Agent;
  readonly pid: number | undefined;
  /** Resolves to how it ended, when all its processes have ended. */
  readonly exited: Promise<string>;
  end(): Promise<void>;
}

interface MlxServerOptions {
  /** Path of the program. */
  program: string;
  /** Folder of the model's files. */
  dir: string;
  keeper: Pick<ProcessKeeper, 'keep'>;
  /** Aborts the start. */
  signal: AbortSignal;
  log(line: string): void;
}

/** Starts the server and resolves once it answers. Rejects with how it ended or the signal's reason, after all its processes have ended. */
export async function startMlxServer({ program, dir, keeper, signal, log }: MlxServerOptions): Promise<MlxServer> {
  const port = await findFreePort();
  const { child, exited, end } = startManagedProcess(program, ['--model', dir, '--host', '127.0.0.1', '--port', String(port)], {
    keeper,
    // Offline, since it has all files: it must not download anything unasked.
    env: { ...omitPerchVariables(), HF_HUB_OFFLINE: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let lastLine = '';
  if (child.stderr)
    createInterface({ input: child.stderr }).on('line', (line) => {
      lastLine = line.trim() || lastLine;
      log(`mlx: ${line}`);
    });
  // Bypasses the system's proxy for this local server.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const server: MlxServer = {
    base: `http://127.0.0.1:${port}`,
    dispatcher,
    pid: child.pid,
    exited,
    async end() {
      await end();
      await dispatcher.destroy();
    },
  };
  let exitReason: string | undefined;
  void exited.then((reason) => (exitReason = reason));
  try {
    while (!(await isReady(server, signal))) {
      if (exitReason !== undefined)
        throw new Error(`it stopped unexpectedly (${exitReason})${lastLine ? `: ${lastLine.slice(0, 300)}` : ''}`);
      await sleep(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
    return server;
  } catch (error) {
    await server.end();
    signal.throwIfAborted();
    throw error;
  }
}

async function isReady({ base, dispatcher }: MlxServer, signal: AbortSignal): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${base}/v1/models`, { dispatcher, signal });
    await body.dump();
    return statusCode === 200;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port found');
  return address.port;
}
