import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Keeper } from '../../processes/keep.ts';
import { startKept, withoutOwn } from '../../processes/kept-process.ts';
import { Agent, request } from '../undici.ts';

const LOOK_MS = 100;

/** A running `mlx_lm.server` with one model, on a loopback port. */
export interface MlxServer {
  readonly base: string;
  readonly dispatcher: Agent;
  readonly pid: number | undefined;
  /** Resolves to how it ended, when all its processes have ended. */
  readonly over: Promise<string>;
  end(): Promise<void>;
}

export interface MlxServerOptions {
  /** Path of the program. */
  program: string;
  /** Folder of the model's files. */
  dir: string;
  keeper: Pick<Keeper, 'keep'>;
  /** Aborts the start. */
  signal: AbortSignal;
  log(line: string): void;
}

/** Starts the server and resolves once it answers. Rejects with how it ended or the signal's reason, after all its processes have ended. */
export async function startMlxServer({ program, dir, keeper, signal, log }: MlxServerOptions): Promise<MlxServer> {
  const port = await freePort();
  const { child, over, end } = startKept(program, ['--model', dir, '--host', '127.0.0.1', '--port', String(port)], {
    keeper,
    // Offline, since it has all files: it must not download anything unasked.
    env: { ...withoutOwn(), HF_HUB_OFFLINE: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  if (child.stderr)
    createInterface({ input: child.stderr }).on('line', (line) => {
      said = line.trim() || said;
      log(`mlx: ${line}`);
    });
  // Bypasses the system's proxy for this local server.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const server: MlxServer = {
    base: `http://127.0.0.1:${port}`,
    dispatcher,
    pid: child.pid,
    over,
    async end() {
      await end();
      await dispatcher.destroy();
    },
  };
  let ended: string | undefined;
  void over.then((how) => (ended = how));
  try {
    while (!(await answers(server, signal))) {
      if (ended !== undefined) throw new Error(`it stopped unexpectedly (${ended})${said ? `: ${said.slice(0, 300)}` : ''}`);
      await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
    return server;
  } catch (error) {
    await server.end();
    signal.throwIfAborted();
    throw error;
  }
}

async function answers({ base, dispatcher }: MlxServer, signal: AbortSignal): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${base}/v1/models`, { dispatcher, signal });
    await body.dump();
    return statusCode === 200;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port found');
  return address.port;
}
