/** Kinds of line-based files whose diverged versions can be merged. */
export type MergedKind = 'memories' | 'lines';

/** Kind of the workspace file at a path; undefined for other files, whose versions the user compares. */
export function mergedKind(path: string): MergedKind | undefined {
  if (path === 'MEMORY.md') return 'memories';
  return /^(?:wiki\/\.perch-wiki\/claims|\.dreams)\/[^/]+\.jsonl$/.test(path) ? 'lines' : undefined;
}
