import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { z } from '#shared/rpc/zod.ts';
import { syncRecord } from '#shared/sync/record.ts';
import { temporaryFolder } from '../../journal/fixture.ts';
import type { HistoryWriter } from './write-history.ts';

const replySchema = z.object({ id: z.number(), result: z.unknown().optional(), error: z.string().optional() });

/** A machine in its own process and network. */
export interface RemoteMachine extends HistoryWriter, AsyncDisposable {
  dir: string;
  lines: string[];
  take(name: string, ttlMs: number): Promise<number | null>;
  /** Facts about the cluster connection. */
  examine(): Promise<unknown>;
  /** Kills the process immediately, like a power cut. It restarts on the same disk. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
}

/** `within`: program and arguments that run a command within the machine's network. */
export async function startRemoteMachine(options: {
  within: readonly string[];
  urls: readonly string[];
  vaultKey: string;
  holder: string;
}): Promise<RemoteMachine> {
  const { within, ...given } = options;
  const folder = temporaryFolder();
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  const lines: string[] = [];
  let child: ChildProcess;
  let count = 0;

  async function start(): Promise<void> {
    const script = join(import.meta.dirname, 'machine-process.ts');
    const [program = '', ...args] = [...within, process.execPath, script, JSON.stringify({ ...given, dir: folder.dir })];
    const started = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    child = started;
    const ready = Promise.withResolvers<unknown>();
    waiting.set(0, ready);
    started.on('message', (message) => {
      const { id, result, error } = replySchema.parse(message);
      // Log line.
      if (id < 0) return void lines.push(String(result));
      const pending = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) pending?.resolve(result);
      else pending?.reject(new Error(error));
    });
    started.once('exit', () => {
      for (const { reject } of waiting.values()) reject(new Error('the machine was killed'));
      waiting.clear();
    });
    await ready.promise;
  }

  async function end(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  const send = (question: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++count;
      waiting.set(id, { resolve, reject });
      child.send({ id, ...question }, (error) => {
        if (error && waiting.delete(id)) reject(error);
      });
    });

  await start();
  return {
    dir: folder.dir,
    lines,
    journal: {
      push: async (records) =>
        z.object({ before: z.number(), last: z.number(), conflicts: z.number() }).parse(await send({ ask: 'push', records })),
    },
    contents: async () => z.array(syncRecord).parse(await send({ ask: 'contents' })),
    take: async (name, ttlMs) =>
      z
        .number()
        .nullable()
        .parse(await send({ ask: 'take', name, ttlMs })),
    examine: () => send({ ask: 'examine' }),
    async kill() {
      await end();
      await start();
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      await end();
      folder[Symbol.dispose]();
    },
  };
}
