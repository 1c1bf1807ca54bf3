import { type JSONRPCMessage, parseJSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { mcpPort, LINES_WINDOW, type ToolServerCommand } from '#shared/ports/mcp.ts';
import { parseJson } from '#shared/parse-json.ts';
import { tooManyParts } from '#shared/rpc/frames.ts';
import type { Bridge } from '../bridge.ts';

/** Messages that may wait for a server to read them: one that asks without end, or does not read, is ended. */
const MAX_WAITING = 1000;
/** The bridge is told of so many bytes at a time. */
const TELL_BYTES = LINES_WINDOW / 8;
/** Characters of a line that is no message, for the person. */
const SHOWN = 200;

/** A tool server's standard input and output, lent by the bridge as lines. */
export class BridgeTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Of its first process. */
  pid: number | undefined;
  /** Why it is over, as a sentence without its subject (undefined: it was closed from here); the end of what it wrote to its standard error. */
  end: { why: string | undefined; stderr: string } | undefined;
  /** Something that it wrote and that is no message. */
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

  /** Resolves when its process runs; rejects with what the bridge says where it cannot. */
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
    // One behind the other: each is a call of its own, and could overtake.
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

  /** Resolves when the bridge has let go of it. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    // Asked for first: once it is let go of, the bridge does not know it.
    const said = this.stderr().catch(() => '');
    this.#stop.abort(new Error('The connection was closed'));
    await this.#closed;
    if (this.end?.why === undefined) this.end = { why: undefined, stderr: await said };
  }

  /** The end of what it has written to its standard error so far. */
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
      // Some print a greeting there.
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
