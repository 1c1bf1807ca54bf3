import { type JSONRPCMessage, parseJSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { mcpPort, LINES_WINDOW, type ToolServerCommand } from '#shared/ports/mcp.ts';
import { parseJson } from '#shared/parse-json.ts';
import { tooManyParts } from '#shared/rpc/frames.ts';
import type { Bridge } from '../bridge.ts';

/** Maximum number of messages waiting for a server to read them; a server that exceeds it is stopped. */
const MAX_WAITING = 1000;
/** Number of bytes read after which the bridge is notified. */
const TELL_BYTES = LINES_WINDOW / 8;
/** Maximum number of characters shown of a line that is not a message. */
const SHOWN = 200;

/** An MCP server's standard input and output, provided by the bridge as lines. */
export class BridgeTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Process id of the server's first process. */
  pid: number | undefined;
  /** The reason for the end, as a sentence without its subject (undefined: closed from here), and the end of its standard error output. */
  end: { why: string | undefined; stderr: string } | undefined;
  /** The first line of output that is not a message. */
  stray: string | undefined;
  readonly #bridge: Bridge;
  readonly #command: ToolServerCommand;
  readonly #run = crypto.randomUUID();
  readonly #stop = new AbortController();
  #writing: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #taken = 0;
  #closed: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(bridge: Bridge, command: ToolServerCommand) {
    this.#bridge = bridge;
    this.#command = command;
  }

  /** Resolves when the process runs; rejects with the bridge's error if it cannot start. */
  start(): Promise<void> {
    const began = Promise.withResolvers<void>();
    const ran = this.#bridge.call(
      mcpPort,
      'mcp.run',
      { ...this.#command, run: this.#run },
      {
        signal: this.#stop.signal,
        on: {
          'mcp.began': ({ pid }) => {
            this.pid = pid;
            began.resolve();
          },
          'mcp.lines': ({ lines, bytes }) => {
            for (const line of lines) this.#read(line);
            this.#took(bytes);
          },
        },
      },
    );
    this.#closed = ran
      .then(
        ({ exitCode, signal, fault, stderr }) => {
          const how = signal === null ? `exited with code ${exitCode ?? 'unknown'}` : `ended by ${signal}`;
          this.#over(fault ?? how, stderr);
        },
        (error: unknown) => {
          began.reject(error);
          const why = error instanceof Error ? error.message : String(error);
          this.#over(this.#stop.signal.aborted ? undefined : why, '');
        },
      )
      .finally(() => began.resolve());
    return began.promise;
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#waiting >= MAX_WAITING) {
      this.#over('it sent too many requests', '');
      void this.close();
    }
    if (this.end) return Promise.reject(new Error(this.end.why ?? 'the connection was closed'));
    this.#waiting++;
    const text = serializeMessage(message).trimEnd();
    // Write one after another: each write is a separate call, and could overtake others.
    const written = this.#writing.then(async () => {
      try {
        await this.#bridge.call(mcpPort, 'mcp.write', { run: this.#run, text }, { signal: this.#stop.signal });
      } finally {
        this.#waiting--;
      }
    });
    this.#writing = written.catch(() => {});
    return written;
  }

  /** Resolves when the bridge has released the process. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    // Ask before releasing the process: afterwards the bridge does not know it.
    const said = this.stderr().catch(() => '');
    this.#stop.abort(new Error('The connection was closed'));
    await this.#closed;
    if (this.end?.why === undefined) this.end = { why: undefined, stderr: await said };
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
      if (tooManyParts(line)) throw new Error('the message has too many parts');
      message = parseJSONRPCMessage(parseJson(line));
    } catch (error) {
      // Some servers print a greeting to standard output.
      this.stray ??= line.slice(0, SHOWN);
      this.onerror?.(new Error(`Invalid message: ${line.slice(0, SHOWN)}`, { cause: error }));
      return;
    }
    this.onmessage?.(message);
  }

  #took(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken < TELL_BYTES || this.end) return;
    const taken = this.#taken;
    this.#taken = 0;
    this.#bridge.call(mcpPort, 'mcp.taken', { run: this.#run, bytes: taken }, { signal: this.#stop.signal }).catch(() => {});
  }

  #over(why: string | undefined, stderr: string): void {
    if (this.end) return;
    this.end = { why, stderr };
    this.onclose?.();
  }
}
