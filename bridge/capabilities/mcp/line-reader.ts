import type { Readable } from 'node:stream';
import { MAX_LINES_PER_SECOND, LINES_WINDOW_BYTES, MAX_LINE_BYTES } from '#shared/ports/mcp-port.ts';

interface LineReaderOptions {
  send(lines: string[], bytes: number): void;
  /** Called if a line is too long; nothing more is read. */
  refuse(reason: string): void;
}

const NEWLINE = 0x0a;
const SECOND_MS = 1000;

/**
 * Reads the lines of a server's output, no faster than they are processed, with limits on the number per second and on the length of a
 * line.
 */
export class LineReader {
  readonly #source: Readable;
  readonly #options: LineReaderOptions;
  #chunks: Buffer[] = [];
  #size = 0;
  #unacknowledgedBytes = 0;
  #remainingLines = MAX_LINES_PER_SECOND;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(source: Readable, options: LineReaderOptions) {
    this.#source = source;
    this.#options = options;
    source.on('data', (chunk: Buffer) => this.#read(chunk));
    source.once('close', () => this.stop());
  }

  /** Reports that the host has processed `bytes` bytes. */
  acknowledge(bytes: number): void {
    this.#unacknowledgedBytes = Math.max(0, this.#unacknowledgedBytes - bytes);
    this.#flow();
  }

  stop(): void {
    this.#isStopped = true;
    this.#chunks = [];
    clearTimeout(this.#timer);
  }

  #read(chunk: Buffer): void {
    if (this.#isStopped) return;
    const lines: string[] = [];
    let bytes = 0;
    let at = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
      const size = this.#size + end - at;
      if (size > MAX_LINE_BYTES) return this.#refuse();
      // Invalid UTF-8 becomes U+FFFD, which leads to invalid JSON or a wrong name.
      const line = (this.#size === 0 ? chunk.subarray(at, end) : Buffer.concat([...this.#chunks, chunk.subarray(at, end)]))
        .toString('utf8')
        .trim();
      this.#chunks = [];
      this.#size = 0;
      at = end + 1;
      this.#remainingLines--;
      if (line === '') continue;
      lines.push(line);
      bytes += size;
    }
    if (at < chunk.byteLength) {
      this.#chunks.push(chunk.subarray(at));
      this.#size += chunk.byteLength - at;
    }
    if (this.#size > MAX_LINE_BYTES) return this.#refuse();
    if (lines.length > 0) {
      this.#unacknowledgedBytes += bytes;
      this.#options.send(lines, bytes);
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#remainingLines = MAX_LINES_PER_SECOND;
      this.#flow();
    }, SECOND_MS).unref();
    this.#flow();
  }

  #refuse(): void {
    this.stop();
    this.#source.pause();
    this.#options.refuse(`it sent a line longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB`);
  }

  #flow(): void {
    if (this.#isStopped) return;
    if (this.#remainingLines <= 0 || this.#unacknowledgedBytes > LINES_WINDOW_BYTES) this.#source.pause();
    else this.#source.resume();
  }
}
