import type { Breath } from '../../documents/breath.ts';
import { Columns } from '../columns/columns.ts';
import { analysis } from '../search/analysis.ts';
import { MemorySearch } from '../search/memory-search.ts';
import type { KnownFile } from './known-file.ts';
import { StoredFiles, writeFiles } from './stored-files.ts';

/** Increment this when the columns of files or passages change. */
const FORMAT = 1;

const about = (): string => `memory index ${FORMAT}, ${analysis()}`;

/** Serializes a search with its files in their current state. Works in slices; later changes are not included. */
export async function snapshotOf(search: MemorySearch, files: readonly KnownFile[], breath: Breath): Promise<Uint8Array<ArrayBuffer>> {
  const columns = new Columns();
  await search.write(columns, breath);
  await writeFiles(files, columns, breath);
  return columns.toBytes(about());
}

/** Restores a snapshot. Undefined if it is damaged, or of another version or text analysis. */
export async function ofSnapshot(bytes: Uint8Array<ArrayBuffer>): Promise<{ search: MemorySearch; stored: StoredFiles } | undefined> {
  const columns = await Columns.fromBytes(bytes, about());
  if (!columns) return undefined;
  const search = new MemorySearch(columns);
  return { search, stored: new StoredFiles(columns, search) };
}
