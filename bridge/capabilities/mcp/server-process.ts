import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { STDERR_CHARS } from '#shared/ports/mcp.ts';
import type { Keeper } from '../../processes/keep.ts';
import { notStarted, type Program, type Started, startProgram } from '../../processes/start-program.ts';
import { within } from '../../processes/to-its-end.ts';
import { Lines } from './lines.ts';

export interface Told {
  began(pid: number): void;
  lines(lines: string[], bytes: number): void;
}

export interface ServerEnd {
  exitCode: number | null;
  signal: string | null;
  fault: string | null;
  stderr: string;
}

/** Runs an MCP server without a shell in its own process group, reading and writing lines. */
export class ServerProcess {
  readonly #program: Program;
  readonly #keeper: Pick<Keeper, 'keep'>;
  readonly #ended = new AbortController();
  #child: Started<Writable>['child'] | undefined;
  #lines: Lines | undefined;
  #stderr = '';

  constructor(program: Program, keeper: Pick<Keeper, 'keep'>) {
    this.#program = program;
    this.#keeper = keeper;
  }

  /** Resolves when the server and its descendants have ended. Rejects if it can't be started, or with the signal's reason. */
  async run(signal: AbortSignal, told: Told): Promise<ServerEnd> {
    const over = new AbortController();
    let fault: string | null = null;
    try {
      const { child, end } = startProgram(this.#program, 'pipe', this.#keeper);
      this.#child = child;
      const decoder = new StringDecoder('utf8');
      child.stderr.on('data', (bytes: Buffer) => (this.#stderr = (this.#stderr + decoder.write(bytes)).slice(-STDERR_CHARS)));
      // Writes after the server has ended or closed its input fail; its end is reported separately.
      child.stdin.on('error', () => {});
      this.#lines = new Lines(child.stdout, {
        send: told.lines,
        refuse(why) {
          fault = why;
          over.abort();
        },
      });
      if (child.pid !== undefined) told.began(child.pid);
      const enough = AbortSignal.any([signal, over.signal]);
      await Promise.race([
        // Waits for the outputs to close, so that the last lines are read. A child process may keep them open, so the exit counts too,
        // after a delay.
        once(child, 'exit', { signal: this.#ended.signal }).then(() => within(once(child, 'close'), 500)),
        enough.aborted ? undefined : once(enough, 'abort', { signal: this.#ended.signal }),
      ]).catch((error: unknown) => {
        throw notStarted(this.#program.command, error);
      });
      child.stdin.end();
      await end();
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      signal.throwIfAborted();
      return { exitCode: child.exitCode, signal: child.signalCode, fault, stderr: this.#stderr };
    } finally {
      this.#lines?.stop();
      this.#ended.abort();
    }
  }

  /** Number of bytes that the server has not read yet. */
  get unread(): number {
    return this.#child?.stdin.writableLength ?? 0;
  }

  /** The end of its standard error output. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Resolves when the line has been written, or the server has ended. */
  async write(line: string): Promise<void> {
    const { stdin } = this.#child ?? {};
    if (!stdin?.writable) return;
    if (stdin.write(`${line}\n`)) return;
    await once(stdin, 'drain', { signal: this.#ended.signal }).catch(() => {});
  }

  taken(bytes: number): void {
    this.#lines?.taken(bytes);
  }
}
