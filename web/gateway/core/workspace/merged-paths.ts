/** Files of lines, of which two versions that were written apart can be made one. */
export type MergedKind = 'memories' | 'lines';

/** What the workspace's file at a path is; undefined for all others, whose versions a person compares. */
export function mergedKind(path: string): MergedKind | undefined {
  if (path === 'MEMORY.md') return 'memories';
  return /^(?:wiki\/\.perch-wiki\/claims|\.dreams)\/[^/]+\.jsonl$/.test(path) ? 'lines' : undefined;
}
