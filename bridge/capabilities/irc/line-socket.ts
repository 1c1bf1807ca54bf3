import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '#shared/async/clock.ts';
import { isLoopbackHost } from '../loopback-host.ts';

const CONNECT_TIMEOUT_MS = 20_000;
/** Longer lines are no lines of the protocol: tags have up to 8191 bytes, the rest 512. */
const MAX_LINE_BYTES = 16 * 1024;
/**
 * Servers add a penalty for each line, and process no more while it is ahead of the time by ten seconds (RFC 1459, section 8.10). Some
 * close the connection instead.
 */
const LINE_PENALTY_MS = 2_000;
const MAX_PENALTY_MS = 10_000;

interface LineSocketOptions {
  host: string;
  port: number;
  isSecure: boolean;
  clock: Clock;
  onOpen(): void;
  onLine(line: string): void;
  /** Called once. */
  onEnd(error: Error | undefined): void;
}

interface QueuedLine {
  line: string;
  penaltyMs: number;
  written: PromiseWithResolvers<void>;
}

/** A connection that carries lines of text, no faster than IRC servers allow. */
export class LineSocket {
  readonly #options: LineSocketOptions;
  readonly #socket: Socket;
  readonly #queue: QueuedLine[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #penaltyUntil = 0;
  #cancelPump = (): void => {};
  #error: Error | undefined;
  #hasEnded = false;

  constructor(options: LineSocketOptions) {
    this.#options = options;
    const { port, isSecure, clock, onOpen } = options;
    const host = options.host.replace(/^\[|\]$/g, '');
    // A server on this computer may have a certificate that it made itself.
    const rejectUnauthorized = !isLoopbackHost(options.host);
    const socket = isSecure
      ? connectTls({ host, port, rejectUnauthorized, ...(isIP(host) === 0 ? { servername: host } : {}) })
      : connect({ host, port });
    this.#socket = socket;
    const cancelTimeout = clock.after(CONNECT_TIMEOUT_MS, () => {
      socket.destroy(Object.assign(new Error('The server did not respond.'), { code: 'ETIMEDOUT' }));
    });
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      cancelTimeout();
      socket.setKeepAlive(true);
      onOpen();
    });
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => (this.#error ??= error));
    socket.on('close', () => {
      cancelTimeout();
      this.#end();
    });
  }

  /** Writes a line at once, for what servers do not count. */
  writeNow(line: string): void {
    if (this.#socket.writable) this.#socket.write(`${line}\r\n`);
  }

  /** Writes a line when its turn comes. Rejects if the connection ends before. */
  write(line: string, penaltyMs = LINE_PENALTY_MS): Promise<void> {
    const written = Promise.withResolvers<void>();
    written.promise.catch(() => {});
    this.#queue.push({ line, penaltyMs, written });
    this.#pump();
    return written.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #pump(): void {
    this.#cancelPump();
    const now = this.#options.clock.monotonic();
    this.#penaltyUntil = Math.max(this.#penaltyUntil, now);
    for (let next = this.#queue[0]; next && !this.#hasEnded; next = this.#queue[0]) {
      const waitMs = this.#penaltyUntil - now - MAX_PENALTY_MS + next.penaltyMs;
      if (waitMs > 0) {
        this.#cancelPump = this.#options.clock.after(waitMs, () => this.#pump());
        return;
      }
      this.#queue.shift();
      this.#penaltyUntil += next.penaltyMs;
      this.writeNow(next.line);
      next.written.resolve();
    }
  }

  #read(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (let end = this.#rest.indexOf(10); end >= 0; end = this.#rest.indexOf(10)) {
      const bytes = this.#rest.subarray(0, this.#rest[end - 1] === 13 ? end - 1 : end);
      this.#rest = this.#rest.subarray(end + 1);
      if (bytes.length > 0 && bytes.length <= MAX_LINE_BYTES && !this.#hasEnded) this.#options.onLine(decode(bytes));
    }
    if (this.#rest.length > MAX_LINE_BYTES) this.#socket.destroy(new Error('The server sent a line that is too long.'));
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#cancelPump();
    const error = this.#error ?? new Error('The connection was closed.');
    for (const { written } of this.#queue.splice(0)) written.reject(error);
    this.#options.onEnd(this.#error);
  }
}

/** UTF-8, as nearly all networks use; older programs send Latin letters in one byte each. */
function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
