import { link, lstat, readdir, rename, rm } from 'node:fs/promises';

/** Disk operations of the mirror. Tests replace them to simulate other handling of names, or failures between two steps. */
export interface Disk {
  lstat(path: string): ReturnType<typeof bigStats>;
  readdir(path: string): ReturnType<typeof entriesOf>;
  /** Moves a file atomically, replacing an existing one. */
  rename(from: string, to: string): Promise<void>;
  /** The same, but fails if the target exists. */
  link(from: string, to: string): Promise<void>;
  rm(path: string): Promise<void>;
}

const bigStats = (path: string) => lstat(path, { bigint: true });
const entriesOf = (path: string) => readdir(path, { withFileTypes: true });

export type Stats = Awaited<ReturnType<typeof bigStats>>;
export type Entry = Awaited<ReturnType<typeof entriesOf>>[number];

export const nodeDisk: Disk = { lstat: bigStats, readdir: entriesOf, rename, link, rm };

/** Identifies the state of a file: a different stamp means that the contents may have changed. */
export const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: Stats): string => [dev, ino, size, mtimeNs, ctimeNs].join(' ');
