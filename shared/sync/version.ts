/** Maximum number of other writers that a version records (`SyncRecord.ancestors`). */
export const MAX_ANCESTORS = 8;

/** The part of a record (`SyncRecord`) that decides between two versions. */
export interface Version {
  clock: string;
  fence?: number | undefined;
}

/**
 * Whether version `a` of a record wins over `b`: by the higher fence, then the later reading. Readings of two writers are never equal, so
 * this is a total order, and replicas converge whatever the order and repetition of changes.
 */
export function wins(a: Version, b: Version): boolean {
  const [fenceA, fenceB] = [a.fence ?? 0, b.fence ?? 0];
  return fenceA === fenceB ? a.clock > b.clock : fenceA > fenceB;
}

/** Writer of the version. */
export const getClockOrigin = (clock: string): string => clock.slice(21);

/** Milliseconds since 1970, by the writer's clock. */
export const getClockTime = (clock: string): number => Number(clock.slice(0, 15));
