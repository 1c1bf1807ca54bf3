import type { FolderEntry } from '#shared/ports/files-port.ts';
import { isMirrored } from '#shared/ports/files-port.ts';
import type { FileEntry } from '#shared/rpc/methods/workspace-contracts.ts';
import { sha256 } from '#shared/sha256.ts';
import { toBytes } from '../workspace/file-content.ts';
import type { MirroredFiles } from './mirrored-files.ts';

/** The state of a file on both sides. */
export interface FileState {
  path: string;
  disk: string | null;
  agreed: FolderEntry['agreed'];
  /** The vault's record; null if there is none. */
  record: FileEntry | null;
  /** Hash of the vault's content; null if there is none, undefined if it was not needed. */
  vault: string | null | undefined;
  /** Why the file on disk cannot be synced. */
  problem: string | undefined;
}

/** Cache of the hashes of a workspace's files. */
export class VaultHashes {
  readonly #files: Pick<MirroredFiles, 'get'>;
  readonly #cache = new Map<string, { size: number; modifiedAt: number; hash: string }>();

  constructor(files: Pick<MirroredFiles, 'get'>) {
    this.#files = files;
  }

  /** Hash of the record's content, which is read if necessary; undefined if the file has changed since. */
  async getHash({ path, size, modifiedAt }: FileEntry, agreed: FolderEntry['agreed']): Promise<string | undefined> {
    const isSameVersion = (known: { size: number; modifiedAt: number } | null | undefined): boolean =>
      known?.size === size && known.modifiedAt === modifiedAt;
    if (agreed && isSameVersion(agreed)) {
      this.#cache.delete(path);
      return agreed.hash;
    }
    const known = this.#cache.get(path);
    if (known && isSameVersion(known)) return known.hash;
    const file = await this.#files.get(path);
    if (!file || !isSameVersion(file)) return undefined;
    const hash = await sha256(toBytes(file));
    this.#cache.set(path, { size, modifiedAt, hash });
    return hash;
  }
}

/** All files that exist on either side or in the sync baseline. */
export async function listFileStates(
  entries: readonly FolderEntry[],
  records: readonly FileEntry[],
  hashes: VaultHashes,
): Promise<FileState[]> {
  const rows = new Map<string, FileState>();
  for (const { path, hash, agreed, problem } of entries) rows.set(path, { path, disk: hash, agreed, problem, record: null, vault: null });
  for (const record of records) {
    const { path } = record;
    if (!isMirrored(path)) continue;
    const row = rows.get(path) ?? { path, disk: null, agreed: null, problem: findParentProblem(path, rows), record, vault: undefined };
    // A file that only the vault has needs no comparison.
    const isNew = row.disk === null && row.agreed === null;
    rows.set(path, { ...row, record, vault: isNew || row.problem !== undefined ? undefined : await hashes.getHash(record, row.agreed) });
  }
  return [...rows.values()];
}

/** Problem of a parent folder; a file below a folder that cannot be read cannot be synced. */
function findParentProblem(path: string, rows: ReadonlyMap<string, FileState>): string | undefined {
  const parts = path.split('/');
  for (let depth = 1; depth < parts.length; depth++) {
    const problem = rows.get(parts.slice(0, depth).join('/'))?.problem;
    if (problem !== undefined) return problem;
  }
  return undefined;
}
