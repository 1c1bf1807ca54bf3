import type { FileState } from './file-state.ts';

/** Files that disappeared from one side at once, possibly by accident. */
export interface MassDeletion {
  from: 'folder' | 'vault';
  paths: ReadonlySet<string>;
}

/**
 * Detects a suspicious mass deletion: one side became empty, or more than half of the baseline's files are gone, as with an unmounted disk
 * or a new vault. Returns the files that would be deleted on the other side. `removed`: paths known to have been deleted from the vault on
 * purpose.
 */
export function detectMassDeletion(
  rows: readonly FileState[],
  isVanished: boolean,
  removed: ReadonlySet<string>,
): MassDeletion | undefined {
  const agreed = rows.filter((row) => row.agreed !== null);
  const isMuch = (missing: readonly FileState[], remainingCount: number): boolean =>
    missing.length > 0 && (remainingCount === 0 || missing.length * 2 > agreed.length);
  const contents = new Set(rows.map(({ disk }) => disk));
  const fromFolder = agreed.filter(({ disk, problem, record }) => disk === null && problem === undefined && record !== null);
  // A move is not a deletion.
  const lostRows = fromFolder.filter((row) => !contents.has(row.agreed?.hash ?? null));
  const onDisk = rows.filter(({ disk, problem }) => disk !== null || problem !== undefined).length;
  if (isVanished || isMuch(lostRows, onDisk)) return { from: 'folder', paths: new Set(fromFolder.map(({ path }) => path)) };
  const fromVault = agreed.filter(({ path, disk, record }) => record === null && disk !== null && !removed.has(path));
  const inVault = rows.filter(({ record }) => record !== null).length;
  return isMuch(fromVault, inVault) ? { from: 'vault', paths: new Set(fromVault.map(({ path }) => path)) } : undefined;
}
