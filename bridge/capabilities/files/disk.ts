import { link, lstat, readdir, rename, rm } from 'node:fs/promises';

/** Disk operations of the mirror. Tests replace them to simulate other handling of names, or failures between two steps. */
export interface Disk {
  lstat(path: string): ReturnType<typeof readStats>;
  readdir(path: string): ReturnType<typeof readEntries>;
  /** Moves a file atomically, replacing an existing one. */
  rename(from: string, to: string): Promise<void>;
  /** The same, but fails if the target exists. */
  link(from: string, to: string): Promise<void>;
  rm(path: string): Promise<void>;
}

const readStats = (path: string) => lstat(path, { bigint: true });
const readEntries = (path: string) => readdir(path, { withFileTypes: true });

export type FileStats = Awaited<ReturnType<typeof readStats>>;
export type DirectoryEntry = Awaited<ReturnType<typeof readEntries>>[number];

export const nodeDisk: Disk = { lstat: readStats, readdir: readEntries, rename, link, rm };

/** Identifies the state of a file: a different stamp means that the contents may have changed. */
export const toStamp = ({ dev, ino, size, mtimeNs, ctimeNs }: FileStats): string => [dev, ino, size, mtimeNs, ctimeNs].join(' ');
