import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { MIN_RESERVE_FREE_BYTES } from '#shared/sync/disk-space.ts';

const RESERVE_BYTES = 4 * 1024 * 1024;

/**
 * Disk space reserved for the journal. It is released when the disk is full, so that data a browser has stored and is about to acknowledge
 * can still be written: Chromium may lose its whole database on a full disk.
 */
export class DiskReserve {
  readonly #path: string;
  #isSpent = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Whether the space was released and has not been reserved again since. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** Releases the space. Returns false if none was reserved. */
  spend(): boolean {
    if (statSync(this.#path, { throwIfNoEntry: false }) === undefined) return false;
    try {
      rmSync(this.#path);
      return (this.#isSpent = true);
    } catch {
      return false;
    }
  }

  /** Reserves the space if it is not reserved and the disk has plenty. Best effort. */
  fill(): void {
    try {
      if ((statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) === RESERVE_BYTES) return;
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      if (bavail * bsize < MIN_RESERVE_FREE_BYTES) return;
      const file = openSync(this.#path, 'w', 0o600);
      try {
        writeSync(file, Buffer.alloc(RESERVE_BYTES));
      } finally {
        closeSync(file);
      }
      this.#isSpent = false;
    } catch {
      rmSync(this.#path, { force: true });
    }
  }
}
