import type { CollectionSourceInput } from '#shared/rpc/collection-source.ts';
import type { CollectionRecord, StoredSource } from '../../storage/records/collection-records.ts';
import { getDiskPath } from './source-files.ts';

/** Sources as they are stored: those that did not change as they were. `approve`: asks for a new path, and resolves with its root. */
export async function toStoredSources(
  inputs: readonly CollectionSourceInput[],
  before: readonly StoredSource[],
  approve: (path: string) => Promise<string | undefined>,
): Promise<StoredSource[]> {
  return Promise.all(
    inputs.map(async (input): Promise<StoredSource> => {
      const known = before.find(({ id }) => id === input.id);
      if (known && toSettings(known) === toSettings(input)) return known;
      const id = known?.id ?? crypto.randomUUID().replaceAll('-', '').slice(0, 8);
      const state = { id, checkedAt: null, problem: null };
      if (input.kind === 'web') return { ...input, depth: input.depth ?? 0, maxPages: input.maxPages ?? 100, ...state };
      const path = getDiskPath(input);
      const root = path === undefined ? undefined : await approve(path);
      return { ...input, ...state, ...(root === undefined ? {} : { root }) };
    }),
  );
}

/** Settings of a source, for comparison. */
function toSettings(source: CollectionSourceInput | StoredSource): string {
  const { id: _, checkedAt: _at, problem: _problem, root: _root, ...settings } = source as StoredSource;
  const withDefaults = settings.kind === 'web' ? { ...settings, depth: settings.depth ?? 0, maxPages: settings.maxPages ?? 100 } : settings;
  return JSON.stringify(Object.entries(withDefaults).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Root of a source that is watched for changes. */
export const getWatchedRoot = (source: StoredSource): string[] =>
  getDiskPath(source) !== undefined && source.root !== undefined ? [source.root] : [];

/** Pending work of a collection once these sources are to be read again, too. */
export const toPendingWork = ({ pending }: CollectionRecord, sourceIds: readonly string[], now: number): CollectionRecord['pending'] => ({
  sourceIds: [...new Set([...(pending?.sourceIds ?? []), ...sourceIds])],
  startedAt: pending?.startedAt ?? now,
});
