import type { TimeSlicer } from '#shared/async/time-slicer.ts';
import { Columns } from '../search/columns/columns.ts';
import { type StringColumn, StringWriter } from '../search/columns/string-column.ts';
import { MemoryCategory } from './long-term.ts';
import { getAnalysisVersion } from './search/analysis.ts';
import { MemorySearch } from './search/memory-search.ts';

/** Increment this when the columns of memories or passages change. */
const FORMAT = 1;

/** In the order of their numbers in a snapshot: append only. */
const CATEGORIES = Object.values(MemoryCategory);
/** Cost of writing a category, in characters. */
const CATEGORY_COST = 20;

const getFormatVersion = (): string => `long-term memories ${FORMAT}, ${getAnalysisVersion()}`;

/**
 * Serializes a search over memories with their categories. `version`: version of the list that is indexed; undefined if it is indexed in
 * part. Works in slices; later changes are not included.
 */
export async function createLongTermSnapshot(
  search: MemorySearch,
  { version, getCategory }: { version: string | undefined; getCategory: (id: string) => MemoryCategory | undefined },
  slicer: TimeSlicer,
): Promise<Uint8Array<ArrayBuffer>> {
  const columns = new Columns();
  await search.write(columns, slicer);
  const ids = columns.strings('id');
  const categories = new Uint8Array(ids.length);
  for (let number = 0; number < ids.length; number++) {
    categories[number] = CATEGORIES.indexOf(getCategory(ids.at(number)) ?? 'other');
    await slicer.after(CATEGORY_COST);
  }
  columns.set('category', categories);
  const about = new StringWriter();
  if (version !== undefined) about.add(version);
  columns.setStrings('version', about.finish());
  return columns.toBytes(getFormatVersion());
}

/** Restores a snapshot. Undefined if it is damaged, or of another format or text analysis. */
export async function restoreLongTermSnapshot(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<{ search: MemorySearch; version: string | undefined; categories: RestoredCategories } | undefined> {
  const columns = await Columns.fromBytes(bytes, getFormatVersion());
  if (!columns) return undefined;
  const categories = new RestoredCategories(columns.strings('id'), columns.u8('category'));
  const version = columns.strings('version');
  return { search: new MemorySearch(columns), version: version.length === 0 ? undefined : version.at(0), categories };
}

/** Categories of the memories in a snapshot, by id. */
export class RestoredCategories {
  readonly #ids: StringColumn;
  readonly #categories: Uint8Array;

  constructor(ids: StringColumn, categories: Uint8Array) {
    [this.#ids, this.#categories] = [ids, categories];
  }

  /** Builds in slices what the first lookup needs. */
  prepare(slicer: TimeSlicer): Promise<void> {
    return this.#ids.prepare(slicer);
  }

  get(id: string): MemoryCategory | undefined {
    const number = this.#ids.find(id);
    return number === -1 ? undefined : CATEGORIES[this.#categories[number] ?? -1];
  }

  *ids(): Generator<string> {
    for (let number = 0; number < this.#ids.length; number++) yield this.#ids.at(number);
  }
}
