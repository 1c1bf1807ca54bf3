import { randomUUID } from 'node:crypto';
import type { BridgeLogLine } from '#shared/ports/system-port.ts';
import { isAtLeast, type LogLevel } from '#shared/rpc/log-level.ts';
import { Redactor } from '#shared/redact.ts';
import type { LogFile } from './log-file.ts';

const MAX_LINES = 2_000;

/** Parameters of the port's `logs.read`. */
interface LogReadParams {
  ring: string;
  after?: number | undefined;
  before?: number | undefined;
  limit: number;
  level: LogLevel;
}

/** The bridge's newest log lines, in memory, with secrets redacted. */
export class LogRing {
  /** A new id for each start of the bridge. */
  readonly id = randomUUID();
  readonly #lines: BridgeLogLine[] = [];
  readonly #redactor = new Redactor();
  #last = 0;
  #file: LogFile | undefined;

  /** Redacts these secrets from the log. */
  hide(secrets: Iterable<string>): void {
    this.#redactor.addSecrets(secrets);
  }

  /** Writes all lines to a file too, including earlier ones. */
  writeTo(file: LogFile): void {
    this.#file = file;
    for (const line of this.#lines) file.write(line);
  }

  write(text: string): void {
    const line = { number: ++this.#last, at: Date.now(), level: getLevel(text), message: this.#redactor.text(text) };
    this.#lines.push(line);
    this.#file?.write(line);
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
  }

  /** See the port's `logs.read` (shared/ports/system-port.ts). */
  read({ ring, after, before, limit, level }: LogReadParams) {
    const isSameRing = ring === this.id;
    const from = after === undefined || !isSameRing ? 0 : after;
    const to = before === undefined ? Infinity : isSameRing ? before : 0;
    const grave = this.#lines.filter((line) => line.number > from && line.number < to && isAtLeast(line.level, level));
    return {
      ring: this.id,
      lines: after === undefined ? grave.slice(-limit) : grave.slice(0, limit),
      last: this.#last,
      ...(this.#file ? { path: this.#file.path } : {}),
    };
  }
}

/** Derives the level from words in the message. */
function getLevel(line: string): LogLevel {
  if (/^warning\b|locked out|rejected a host|restarting (it|the managed)|was restarted|can be read by other users/i.test(line))
    return 'warn';
  return /\b[Ff]ail(s|ed|ure)?\b|\bcan(not|’t)\b|\b[Cc]ould(n’t| not)\b|damaged|crashed|\bError\b/.test(line) ? 'error' : 'info';
}
