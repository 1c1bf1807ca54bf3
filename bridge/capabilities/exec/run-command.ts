import { MAX_OUTPUT_BYTES } from '#shared/ports/exec-port.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import { createStartError, type ProgramSpec, startProgram } from '../../processes/start-program.ts';
import { waitForExit } from '../../processes/wait-for-exit.ts';
import { StringDecoder } from 'node:string_decoder';

/**
 * Number of characters that are sent immediately, and how long fewer may wait, so that a program that writes single bytes does not cause an
 * event for each.
 */
const CHUNK_CHARS = 16 * 1024;

const FLUSH_MS = 40;

/** A command's standard output or error as text: sent in chunks up to a limit, and read to the end. */
class CommandOutput {
  truncated = false;
  readonly #decoder = new StringDecoder('utf8');
  readonly #send: (text: string) => void;
  #remainingBytes: number;
  #text = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(maxBytes: number, send: (text: string) => void) {
    this.#remainingBytes = maxBytes;
    this.#send = send;
  }

  write(bytes: Buffer): void {
    if (bytes.byteLength > this.#remainingBytes) this.truncated = true;
    if (this.#remainingBytes === 0) return;
    this.#text += this.#decoder.write(bytes.subarray(0, this.#remainingBytes));
    this.#remainingBytes -= Math.min(this.#remainingBytes, bytes.byteLength);
    if (this.#text.length >= CHUNK_CHARS || this.#remainingBytes === 0) return this.#flush();
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  /** Sends the rest. An incomplete character becomes U+FFFD, unless it was cut by the limit. */
  end(): void {
    if (!this.truncated) this.#text += this.#decoder.end();
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (let at = 0; at < this.#text.length; at += CHUNK_CHARS) this.#send(this.#text.slice(at, at + CHUNK_CHARS));
    this.#text = '';
  }
}

interface TimedCommand extends ProgramSpec {
  timeoutMs: number;
}

interface CommandResult {
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  truncated: boolean;
}

interface RunCommandOptions {
  signal: AbortSignal;
  keeper: Pick<ProcessKeeper, 'keep'>;
  send(stream: 'stdout' | 'stderr', text: string): void;
  /** Called when the process has been created, with its own descriptors. */
  onStarted?(): void;
}

/**
 * Runs a program with unchanged arguments, without a shell or input, in its own process group. Ends its remaining processes after it exits,
 * and all of them when the signal is aborted or the time is over. Rejects if it can't be started, or with the signal's reason.
 */
export async function runCommand(command: TimedCommand, { signal, keeper, send, onStarted }: RunCommandOptions): Promise<CommandResult> {
  signal.throwIfAborted();
  const running = startProgram(command, 'ignore', keeper);
  onStarted?.();
  const { child } = running;
  const outputs = {
    stdout: new CommandOutput(MAX_OUTPUT_BYTES, send.bind(null, 'stdout')),
    stderr: new CommandOutput(MAX_OUTPUT_BYTES, send.bind(null, 'stderr')),
  };
  child.stdout.on('data', (bytes: Buffer) => outputs.stdout.write(bytes));
  child.stderr.on('data', (bytes: Buffer) => outputs.stderr.write(bytes));
  const exitCause = await waitForExit(running, command.timeoutMs, signal).catch((error: unknown) => {
    throw createStartError(command.command, error);
  });
  outputs.stdout.end();
  outputs.stderr.end();
  signal.throwIfAborted();
  return {
    exitCode: child.exitCode,
    signal: child.signalCode,
    timedOut: exitCause === 'time',
    truncated: outputs.stdout.truncated || outputs.stderr.truncated,
  };
}
