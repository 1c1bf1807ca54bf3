import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from '../package-root.ts';
import { createCommandEnvironment } from './command-environment.ts';

/** The keeper's program: the source file, or the one built by bridge/build.ts. */
const PROGRAM = import.meta.filename.endsWith('.ts') ? join(import.meta.dirname, 'keeper.ts') : join(packageRoot, 'dist', 'keeper.js');
/** Time after which an unused keeper exits. */
const IDLE_MS = 10_000;

/** Reports the life of a process tree to the keeper. */
interface ProcessRegistration {
  /** Reports the root process. */
  markStarted(pid: number): void;
  /** Reports that the whole tree has ended. */
  release(): void;
}

/** For programs that end with this process without a keeper, or that may outlive it. */
export const NO_KEEPER = { keep: (): ProcessRegistration => ({ markStarted: () => {}, release: () => {} }) };

/** Tells a separate process what the bridge has started, so that none of it outlives the bridge. */
export class ProcessKeeper {
  /** Lines that report running programs, by mark. */
  readonly #running = new Map<string, string>();
  readonly #log: (line: string) => void;
  #child: ChildProcess | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** From now on, processes with the mark are killed when this process dies. */
  keep(mark: string): ProcessRegistration {
    clearTimeout(this.#idleTimer);
    const report = (line: string): void => {
      this.#running.set(mark, line);
      if (this.#child) this.#send(line);
      else this.#start();
    };
    report(`+${mark}`);
    return {
      markStarted: (pid) => report(`+${mark} ${pid}`),
      release: () => {
        this.#running.delete(mark);
        this.#send(`-${mark}`);
        if (this.#running.size === 0) this.#idleTimer = setTimeout(() => this.#stop(), IDLE_MS).unref();
      },
    };
  }

  #start(): void {
    // In its own process group, so that signals from the terminal do not reach it.
    const child = spawn(process.execPath, [PROGRAM], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      windowsHide: true,
      env: createCommandEnvironment(),
    });
    this.#child = child;
    const onExit = (): void => {
      if (this.#child !== child) return;
      this.#child = undefined;
      if (this.#running.size > 0)
        this.#log('The process that cleans up child processes has ended. It is restarted with the next child process');
    };
    child.once('exit', onExit);
    child.on('error', onExit);
    child.stdin.on('error', onExit);
    child.unref();
    if (child.stdin instanceof Socket) child.stdin.unref();
    for (const line of this.#running.values()) this.#send(line);
  }

  #stop(): void {
    const child = this.#child;
    this.#child = undefined;
    child?.stdin?.end();
  }

  #send(line: string): void {
    this.#child?.stdin?.write(`${line}\n`);
  }
}
