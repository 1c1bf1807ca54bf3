import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A program of the benchmark, in a separate process like the bridge. */
export interface BenchProcess extends AsyncDisposable {
  port: number;
  process: ChildProcess;
  /** Resolves with the next message that matches. */
  message<T>(isWanted: (message: unknown) => message is T): Promise<T>;
}

/** Starts `children/<name>.ts`, which sends the port that it listens on. It ends when this process does. */
export async function startChild(name: string): Promise<BenchProcess> {
  const child = fork(join(import.meta.dirname, 'children', `${name}.ts`), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended (${String(code)}) before it served`)));
  failed.catch(() => {});
  const [port] = await Promise.race([once(child, 'message'), failed]);
  if (typeof port !== 'number') throw new TypeError(`${name} did not tell its port`);
  return {
    port,
    process: child,
    message: (isWanted) =>
      new Promise((resolve) => {
        const onmessage = (message: unknown): void => {
          if (!isWanted(message)) return;
          child.off('message', onmessage);
          resolve(message);
        };
        child.on('message', onmessage);
      }),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
