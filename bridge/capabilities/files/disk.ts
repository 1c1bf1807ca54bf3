import { link, lstat, readdir, rename, rm } from 'node:fs/promises';

/** What the mirror asks of a disk whose names may be read in its own way, or that may fail between two steps; tests pass such ones. */
export interface Disk {
  lstat(path: string): ReturnType<typeof bigStats>;
  readdir(path: string): ReturnType<typeof entriesOf>;
  /** Puts a file in its place in one step. */
  rename(from: string, to: string): Promise<void>;
  /** The same, but takes nobody's place. */
  link(from: string, to: string): Promise<void>;
  rm(path: string): Promise<void>;
}

const bigStats = (path: string) => lstat(path, { bigint: true });
const entriesOf = (path: string) => readdir(path, { withFileTypes: true });

export type Stats = Awaited<ReturnType<typeof bigStats>>;
export type Entry = Awaited<ReturnType<typeof entriesOf>>[number];

export const nodeDisk: Disk = { lstat: bigStats, readdir: entriesOf, rename, link, rm };

/** Another one: the file may have other bytes. */
export const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: Stats): string => [dev, ino, size, mtimeNs, ctimeNs].join(' ');
