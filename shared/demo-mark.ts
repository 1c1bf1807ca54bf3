/** What the names of the demo's databases, locks, channels, caches and workers end in: none of them is the app's, nor another demo's on the same host. `base`: the path that it is served under, with slashes at both ends. */
export const demoMark = (base: string): string => ` demo ${base}`;

/** The mark in a worker's name; empty where it is no demo's. */
export const markIn = (workerName: string): string => / demo \/.*$/.exec(workerName)?.[0] ?? '';
