import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from '../package-root.ts';
import { commandEnvironment } from './environment.ts';

/** The keeper's program: of the sources, or as bridge/build.ts makes it. */
const PROGRAM = import.meta.filename.endsWith('.ts') ? join(import.meta.dirname, 'keeper.ts') : join(packageRoot, 'dist', 'keeper.js');
/** A keeper with nothing to keep stays for so long. */
const IDLE_MS = 10_000;

/** What is told of one tree of processes. */
export interface Kept {
  /** Its first process. */
  began(pid: number): void;
  /** All of it has ended. */
  release(): void;
}

/** For what ends by itself when this process does, or does not have to. */
export const UNKEPT = { keep: (): Kept => ({ began: () => {}, release: () => {} }) };

/** Tells a process beside the bridge what it has started, so that none of that outlives it. */
export class Keeper {
  /** The lines that say what runs, by mark. */
  readonly #running = new Map<string, string>();
  readonly #log: (line: string) => void;
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** From here on processes with the mark are ended when this process dies. */
  keep(mark: string): Kept {
    clearTimeout(this.#idle);
    const says = (line: string): void => {
      this.#running.set(mark, line);
      if (this.#child) this.#tell(line);
      else this.#start();
    };
    says(`+${mark}`);
    return {
      began: (pid) => says(`+${mark} ${pid}`),
      release: () => {
        this.#running.delete(mark);
        this.#tell(`-${mark}`);
        if (this.#running.size === 0) this.#idle = setTimeout(() => this.#stop(), IDLE_MS).unref();
      },
    };
  }

  #start(): void {
    // A group of its own: what ends the bridge from a terminal must not end it.
    const child = spawn(process.execPath, [PROGRAM], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      windowsHide: true,
      env: commandEnvironment(),
    });
    this.#child = child;
    const gone = (): void => {
      if (this.#child !== child) return;
      this.#child = undefined;
      if (this.#running.size > 0)
        this.#log('The process that cleans up child processes has ended. It is restarted with the next child process');
    };
    child.once('exit', gone);
    child.on('error', gone);
    child.stdin.on('error', gone);
    child.unref();
    if (child.stdin instanceof Socket) child.stdin.unref();
    for (const line of this.#running.values()) this.#tell(line);
  }

  #stop(): void {
    const child = this.#child;
    this.#child = undefined;
    child?.stdin?.end();
  }

  #tell(line: string): void {
    this.#child?.stdin?.write(`${line}\n`);
  }
}
