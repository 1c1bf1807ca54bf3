import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { MAX_STDERR_CHARS } from '#shared/ports/mcp-port.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import { createStartError, type ProgramSpec, type StartedProgram, startProgram } from '../../processes/start-program.ts';
import { settleWithin } from '../../processes/wait-for-exit.ts';
import { LineReader } from './line-reader.ts';

interface ServerEvents {
  onStarted(pid: number): void;
  onLines(lines: string[], bytes: number): void;
}

interface ServerEnd {
  exitCode: number | null;
  signal: string | null;
  fault: string | null;
  stderr: string;
}

/** Runs an MCP server without a shell in its own process group, reading and writing lines. */
export class ServerProcess {
  readonly #program: ProgramSpec;
  readonly #keeper: Pick<ProcessKeeper, 'keep'>;
  readonly #ended = new AbortController();
  #child: StartedProgram<Writable>['child'] | undefined;
  #lines: LineReader | undefined;
  #stderr = '';

  constructor(program: ProgramSpec, keeper: Pick<ProcessKeeper, 'keep'>) {
    this.#program = program;
    this.#keeper = keeper;
  }

  /** Resolves when the server and its descendants have ended. Rejects if it can't be started, or with the signal's reason. */
  async run(signal: AbortSignal, events: ServerEvents): Promise<ServerEnd> {
    const faultSignal = new AbortController();
    let fault: string | null = null;
    try {
      const { child, end } = startProgram(this.#program, 'pipe', this.#keeper);
      this.#child = child;
      const decoder = new StringDecoder('utf8');
      child.stderr.on('data', (bytes: Buffer) => (this.#stderr = (this.#stderr + decoder.write(bytes)).slice(-MAX_STDERR_CHARS)));
      // Writes after the server has ended or closed its input fail; its end is reported separately.
      child.stdin.on('error', () => {});
      this.#lines = new LineReader(child.stdout, {
        send: events.onLines,
        refuse(reason) {
          fault = reason;
          faultSignal.abort();
        },
      });
      if (child.pid !== undefined) events.onStarted(child.pid);
      const stopSignal = AbortSignal.any([signal, faultSignal.signal]);
      await Promise.race([
        // Waits for the outputs to close, so that the last lines are read. A child process may keep them open, so the exit counts too,
        // after a delay.
        once(child, 'exit', { signal: this.#ended.signal }).then(() => settleWithin(once(child, 'close'), 500)),
        stopSignal.aborted ? undefined : once(stopSignal, 'abort', { signal: this.#ended.signal }),
      ]).catch((error: unknown) => {
        throw createStartError(this.#program.command, error);
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

  acknowledge(bytes: number): void {
    this.#lines?.acknowledge(bytes);
  }
}
