import type { Breath } from '../../documents/breath.ts';
import { Columns } from '../columns/columns.ts';
import { analysis } from '../search/analysis.ts';
import { MemorySearch } from '../search/memory-search.ts';
import type { KnownFile } from './known-file.ts';
import { StoredFiles, writeFiles } from './stored-files.ts';

/** To be raised when other columns are written of files and passages. */
const FORMAT = 1;

const about = (): string => `memory index ${FORMAT}, ${analysis()}`;

/** A search and the files that are in it, at this moment, as bytes. They are made in slices; what changes meanwhile is not among it. */
export async function snapshotOf(search: MemorySearch, files: readonly KnownFile[], breath: Breath): Promise<Uint8Array<ArrayBuffer>> {
  const columns = new Columns();
  await search.write(columns, breath);
  await writeFiles(files, columns, breath);
  return columns.toBytes(about());
}

/** Undefined where it is damaged, of another version, or of a text analysis that made other terms. */
export async function ofSnapshot(bytes: Uint8Array<ArrayBuffer>): Promise<{ search: MemorySearch; stored: StoredFiles } | undefined> {
  const columns = await Columns.fromBytes(bytes, about());
  if (!columns) return undefined;
  const search = new MemorySearch(columns);
  return { search, stored: new StoredFiles(columns, search) };
}
