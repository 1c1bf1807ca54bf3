import { type JSONRPCMessage, parseJSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { mcpPort, LINES_WINDOW_BYTES, type McpServerCommand } from '#shared/ports/mcp-port.ts';
import { parseJson } from '#shared/parse-json.ts';
import { hasTooManyTokens } from '#shared/rpc/frames.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';

/** Maximum number of messages waiting for a server to read them; a server that exceeds it is stopped. */
const MAX_PENDING_MESSAGES = 1000;
/** Number of bytes read after which the bridge is notified. */
const ACK_BYTES = LINES_WINDOW_BYTES / 8;
/** Maximum number of characters shown of a line that is not a message. */
const MAX_SHOWN_CHARS = 200;

/** An MCP server's standard input and output, provided by the bridge as lines. */
export class BridgeTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Process id of the server's first process. */
  pid: number | undefined;
  /** The reason for the end, as a sentence without its subject (undefined: closed from here), and the end of its standard error output. */
  end: { reason: string | undefined; stderr: string } | undefined;
  /** The first line of output that is not a message. */
  invalidLine: string | undefined;
  readonly #bridge: Bridge;
  readonly #command: McpServerCommand;
  readonly #run = crypto.randomUUID();
  readonly #stop = new AbortController();
  #writing: Promise<unknown> = Promise.resolve();
  #pendingMessages = 0;
  #unacknowledgedBytes = 0;
  #closed: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(bridge: Bridge, command: McpServerCommand) {
    this.#bridge = bridge;
    this.#command = command;
  }

  /** Resolves when the process runs; rejects with the bridge's error if it cannot start. */
  start(): Promise<void> {
    const started = Promise.withResolvers<void>();
    const running = this.#bridge.call(
      mcpPort,
      'mcp.run',
      { ...this.#command, run: this.#run },
      {
        signal: this.#stop.signal,
        on: {
          'mcp.began': ({ pid }) => {
            this.pid = pid;
            started.resolve();
          },
          'mcp.lines': ({ lines, bytes }) => {
            for (const line of lines) this.#read(line);
            this.#acknowledge(bytes);
          },
        },
      },
    );
    this.#closed = running
      .then(
        ({ exitCode, signal, fault, stderr }) => {
          const exitText = signal === null ? `exited with code ${exitCode ?? 'unknown'}` : `ended by ${signal}`;
          this.#finish(fault ?? exitText, stderr);
        },
        (error: unknown) => {
          started.reject(error);
          const reason = error instanceof Error ? error.message : String(error);
          this.#finish(this.#stop.signal.aborted ? undefined : reason, '');
        },
      )
      .finally(() => started.resolve());
    return started.promise;
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#pendingMessages >= MAX_PENDING_MESSAGES) {
      this.#finish('it sent too many requests', '');
      void this.close();
    }
    if (this.end) return Promise.reject(new Error(this.end.reason ?? 'the connection was closed'));
    this.#pendingMessages++;
    const text = serializeMessage(message).trimEnd();
    // Write one after another: each write is a separate call, and could overtake others.
    const writeResult = this.#writing.then(async () => {
      try {
        await this.#bridge.call(mcpPort, 'mcp.write', { run: this.#run, text }, { signal: this.#stop.signal });
      } finally {
        this.#pendingMessages--;
      }
    });
    this.#writing = writeResult.catch(() => {});
    return writeResult;
  }

  /** Resolves when the bridge has released the process. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    // Ask before releasing the process: afterwards the bridge does not know it.
    const stderr = this.stderr().catch(() => '');
    this.#stop.abort(new Error('The connection was closed'));
    await this.#closed;
    if (this.end?.reason === undefined) this.end = { reason: undefined, stderr: await stderr };
  }

  /** The end of its standard error output so far. */
  async stderr(): Promise<string> {
    if (this.end) return this.end.stderr;
    return (await this.#bridge.call(mcpPort, 'mcp.stderr', { run: this.#run })).text;
  }

  #read(line: string): void {
    if (this.end) return;
    let message: JSONRPCMessage;
    try {
      if (hasTooManyTokens(line)) throw new Error('the message has too many parts');
      message = parseJSONRPCMessage(parseJson(line));
    } catch (error) {
      // Some servers print a greeting to standard output.
      this.invalidLine ??= line.slice(0, MAX_SHOWN_CHARS);
      this.onerror?.(new Error(`Invalid message: ${line.slice(0, MAX_SHOWN_CHARS)}`, { cause: error }));
      return;
    }
    this.onmessage?.(message);
  }

  #acknowledge(bytes: number): void {
    this.#unacknowledgedBytes += bytes;
    if (this.#unacknowledgedBytes < ACK_BYTES || this.end) return;
    const bytesRead = this.#unacknowledgedBytes;
    this.#unacknowledgedBytes = 0;
    this.#bridge.call(mcpPort, 'mcp.taken', { run: this.#run, bytes: bytesRead }, { signal: this.#stop.signal }).catch(() => {});
  }

  #finish(reason: string | undefined, stderr: string): void {
    if (this.end) return;
    this.end = { reason, stderr };
    this.onclose?.();
  }
}
