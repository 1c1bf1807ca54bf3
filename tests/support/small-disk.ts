import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary file system in memory. */
interface SmallDisk extends Disposable {
  readonly dir: string;
  /** Fills the remaining space. */
  fill(): void;
  /** Frees the space that `fill` used. */
  free(): void;
}

/** Mounts a file system of this many MB. Prints a message and returns undefined if mounting is impossible. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'perch-disk-'));
  const dir = join(folder, 'disk');
  mkdirSync(dir);
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', dir]);
  if (status !== 0) {
    console.log('skipped: no file system can be mounted here (mount -t tmpfs needs root on Linux)');
    remove();
    return undefined;
  }
  const ballast = join(dir, 'ballast');
  return {
    dir,
    fill() {
      const file = openSync(ballast, 'a');
      try {
        for (let block = Buffer.alloc(1024 * 1024); ;) {
          try {
            writeSync(file, block);
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
            if (block.byteLength === 4096) return;
            block = Buffer.alloc(4096);
          }
        }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(ballast, { force: true }),
    [Symbol.dispose]() {
      // Processes that still have a file open there will exit soon.
      if (spawnSync('umount', [dir]).status !== 0) spawnSync('umount', ['--lazy', dir]);
      remove();
    },
  };
}
