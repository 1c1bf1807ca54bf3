import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BridgeLogLine } from '#shared/ports/system-port.ts';

const MAX_FILE_BYTES = 1024 * 1024;

/** The bridge's log file. At 1 MiB it is renamed to `<path>.1`, which replaces an older one. */
export class LogFile {
  readonly path: string;
  #bytes: number;

  /** Throws if the folder can't be written. */
  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    appendFileSync(path, '', { mode: 0o600 });
    this.path = path;
    this.#bytes = statSync(path).size;
  }

  /** Best effort: a full disk must not stop the bridge. */
  write({ at, level, message }: BridgeLogLine): void {
    const line = `${new Date(at).toISOString()} ${level.toUpperCase()} ${message}\n`;
    try {
      if (this.#bytes > MAX_FILE_BYTES) {
        renameSync(this.path, `${this.path}.1`);
        this.#bytes = 0;
      }
      appendFileSync(this.path, line, { mode: 0o600 });
      this.#bytes += Buffer.byteLength(line);
    } catch {
      // The line is still in memory.
    }
  }
}
