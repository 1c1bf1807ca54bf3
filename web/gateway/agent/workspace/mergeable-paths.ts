/** Kinds of line-based files whose diverged versions can be merged. */
export type MergeKind = 'memories' | 'lines';

/** Kind of the workspace file at a path; undefined for other files, whose versions the user compares. */
export function getMergeKind(path: string): MergeKind | undefined {
  if (path === 'MEMORY.md') return 'memories';
  return /^(?:wiki\/\.perch-wiki\/claims|\.dreams)\/[^/]+\.jsonl$/.test(path) ? 'lines' : undefined;
}
