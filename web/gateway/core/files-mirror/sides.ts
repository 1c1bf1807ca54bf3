import type { FolderEntry } from '#shared/ports/files.ts';
import { isMirrored } from '#shared/ports/files.ts';
import type { FileEntry } from '#shared/rpc/methods/workspace.ts';
import { sha256 } from '#shared/sha256.ts';
import { bytesOf } from '../workspace/content.ts';
import type { MirroredFiles } from './mirrored-files.ts';

/** A file as both sides have it. */
export interface Row {
  path: string;
  disk: string | null;
  agreed: FolderEntry['agreed'];
  /** The vault's record; null: there is none. */
  record: FileEntry | null;
  /** Of its content; null where there is none, undefined where nobody had to know it. */
  vault: string | null | undefined;
  /** Why the one on disk is left alone. */
  problem: string | undefined;
}

/** Hashes of a workspace's files, as far as they were read. */
export class VaultHashes {
  readonly #files: Pick<MirroredFiles, 'get'>;
  readonly #known = new Map<string, { size: number; modifiedAt: number; hash: string }>();

  constructor(files: Pick<MirroredFiles, 'get'>) {
    this.#files = files;
  }

  /** What the record's content has, read where it has to be; undefined: the record is another one by now. */
  async of({ path, size, modifiedAt }: FileEntry, agreed: FolderEntry['agreed']): Promise<string | undefined> {
    const isIt = (known: { size: number; modifiedAt: number } | null | undefined): boolean =>
      known?.size === size && known.modifiedAt === modifiedAt;
    if (agreed && isIt(agreed)) {
      this.#known.delete(path);
      return agreed.hash;
    }
    const known = this.#known.get(path);
    if (known && isIt(known)) return known.hash;
    const file = await this.#files.get(path);
    if (!file || !isIt(file)) return undefined;
    const hash = await sha256(bytesOf(file));
    this.#known.set(path, { size, modifiedAt, hash });
    return hash;
  }
}

/** All files that one of the two has, or that were agreed on. */
export async function rowsOf(entries: readonly FolderEntry[], records: readonly FileEntry[], hashes: VaultHashes): Promise<Row[]> {
  const rows = new Map<string, Row>();
  for (const { path, hash, agreed, problem } of entries) rows.set(path, { path, disk: hash, agreed, problem, record: null, vault: null });
  for (const record of records) {
    const { path } = record;
    if (!isMirrored(path)) continue;
    const row = rows.get(path) ?? { path, disk: null, agreed: null, problem: problemAbove(path, rows), record, vault: undefined };
    // What the vault alone has needs no comparing.
    const isNew = row.disk === null && row.agreed === null;
    rows.set(path, { ...row, record, vault: isNew || row.problem !== undefined ? undefined : await hashes.of(record, row.agreed) });
  }
  return [...rows.values()];
}

/** A file below what cannot be looked into cannot be there. */
function problemAbove(path: string, rows: ReadonlyMap<string, Row>): string | undefined {
  const parts = path.split('/');
  for (let depth = 1; depth < parts.length; depth++) {
    const problem = rows.get(parts.slice(0, depth).join('/'))?.problem;
    if (problem !== undefined) return problem;
  }
  return undefined;
}
