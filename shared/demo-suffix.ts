/**
 * Suffix of the demo's databases, locks, channels, caches and workers: separates them from those of the app and of other demos on the same host.
 * `base`: the path that it is served under, with slashes at both ends.
 */
export const getDemoSuffix = (base: string): string => ` demo ${base}`;

/** Name of the database by which a page asks the demo's next worker to start from the beginning. */
export const toResetMarker = (suffix: string): string => `perch-reset${suffix}`;

/** The suffix in a worker's name; empty outside the demo. */
export const findDemoSuffix = (workerName: string): string => / demo \/.*$/.exec(workerName)?.[0] ?? '';
