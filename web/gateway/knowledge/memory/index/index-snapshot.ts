import type { TimeSlicer } from '#shared/async/time-slicer.ts';
import { Columns } from '../../search/columns/columns.ts';
import { getAnalysisVersion } from '../search/analysis.ts';
import { MemorySearch } from '../search/memory-search.ts';
import type { FileEntries } from './file-entries.ts';
import { SnapshotFiles, writeFiles } from './snapshot-files.ts';

/** Increment this when the columns of files or passages change. */
const FORMAT = 1;

const getFormatVersion = (): string => `memory index ${FORMAT}, ${getAnalysisVersion()}`;

/** Serializes a search with its files in their current state. Works in slices; later changes are not included. */
export async function createSnapshot(
  search: MemorySearch,
  files: readonly FileEntries[],
  slicer: TimeSlicer,
): Promise<Uint8Array<ArrayBuffer>> {
  const columns = new Columns();
  await search.write(columns, slicer);
  await writeFiles(files, columns, slicer);
  return columns.toBytes(getFormatVersion());
}

/** Restores a snapshot. Undefined if it is damaged, or of another version or text analysis. */
export async function restoreSnapshot(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<{ search: MemorySearch; stored: SnapshotFiles } | undefined> {
  const columns = await Columns.fromBytes(bytes, getFormatVersion());
  if (!columns) return undefined;
  const search = new MemorySearch(columns);
  return { search, stored: new SnapshotFiles(columns, search) };
}
