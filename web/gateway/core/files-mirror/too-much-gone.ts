import type { Row } from './sides.ts';

/** So many files are gone at once, and from where, that it may be an accident. */
export interface Gone {
  from: 'folder' | 'vault';
  paths: ReadonlySet<string>;
}

/**
 * Files that would be deleted on one side because they are gone on the other, where that has become empty or more than half of what was agreed on is gone: a disk that is not mounted, or a
 * vault that is new, looks just so. `removed`: what was seen to be removed from the vault is meant.
 */
export function tooMuchGone(rows: readonly Row[], isVanished: boolean, removed: ReadonlySet<string>): Gone | undefined {
  const agreed = rows.filter((row) => row.agreed !== null);
  const isMuch = (gone: readonly Row[], left: number): boolean => gone.length > 0 && (left === 0 || gone.length * 2 > agreed.length);
  const contents = new Set(rows.map(({ disk }) => disk));
  const fromFolder = agreed.filter(({ disk, problem, record }) => disk === null && problem === undefined && record !== null);
  // What was only moved is there still.
  const lost = fromFolder.filter((row) => !contents.has(row.agreed?.hash ?? null));
  const onDisk = rows.filter(({ disk, problem }) => disk !== null || problem !== undefined).length;
  if (isVanished || isMuch(lost, onDisk)) return { from: 'folder', paths: new Set(fromFolder.map(({ path }) => path)) };
  const fromVault = agreed.filter(({ path, disk, record }) => record === null && disk !== null && !removed.has(path));
  const inVault = rows.filter(({ record }) => record !== null).length;
  return isMuch(fromVault, inVault) ? { from: 'vault', paths: new Set(fromVault.map(({ path }) => path)) } : undefined;
}
