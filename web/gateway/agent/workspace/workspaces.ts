import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { FileEntry } from '#shared/rpc/methods/workspace-contracts.ts';
import { type FileRecord, WORKSPACE_LIMITS } from '#shared/rpc/workspace-file.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { toBytes, normalizeContent } from './file-content.ts';
import { detectMediaType } from './media-type.ts';

const MB = 1024 * 1024;

interface WorkspacesDeps {
  vault: Pick<Vault, 'files'>;
  clock: Clock;
}

interface NewFile {
  path: string;
  content: string;
  encoding: FileRecord['encoding'];
  mimeType?: string | undefined;
}

/** Files of agents, by workspace. Names and paths follow the API contract (shared/rpc/workspace-file.ts). */
export class Workspaces {
  readonly #deps: WorkspacesDeps;

  constructor(deps: WorkspacesDeps) {
    this.#deps = deps;
  }

  /** All files by path, or those in a folder. */
  list(workspace: string, folder?: string): Promise<FileEntry[]> {
    return this.#deps.vault.files.list(workspace, folder === undefined ? '' : `${folder}/`);
  }

  /** Throws `NOT_FOUND`. */
  async read(workspace: string, path: string): Promise<FileRecord> {
    const file = await this.#deps.vault.files.get(workspace, path);
    if (!file) throw new RpcError('NOT_FOUND', `No file "${path}" in workspace "${workspace}".`);
    return file;
  }

  /** Throws `INVALID_PARAMS` if the content does not match its encoding or a limit is reached. */
  async write(workspace: string, file: NewFile): Promise<FileEntry> {
    const content = normalizeContent(file.content, file.encoding);
    const { path } = file;
    if (content.size > WORKSPACE_LIMITS.fileBytes) fail(`The file is too large. The maximum is ${WORKSPACE_LIMITS.fileBytes / MB} MiB.`);
    const mimeType = file.mimeType ?? (await detectMediaType(path, toBytes(content)));
    const record = { key: `${workspace}/${path}`, workspace, path, mimeType, modifiedAt: this.#deps.clock.now(), ...content };
    const stored = await this.#deps.vault.files.put(record, ({ files, bytes }) => {
      if (files >= WORKSPACE_LIMITS.files) fail(`Workspace "${workspace}" is full. The maximum is ${WORKSPACE_LIMITS.files} files.`);
      if (bytes + content.size > WORKSPACE_LIMITS.bytes)
        fail(`Workspace "${workspace}" is full. The maximum is ${WORKSPACE_LIMITS.bytes / MB} MiB.`);
    });
    return toFileEntry(stored);
  }

  /** Throws `NOT_FOUND`. */
  async remove(workspace: string, path: string): Promise<void> {
    if (!(await this.#deps.vault.files.remove(workspace, path)))
      throw new RpcError('NOT_FOUND', `No file "${path}" in workspace "${workspace}".`);
  }
}

/** Metadata of a file, without its content. */
export function toFileEntry({ workspace, path, mimeType, size, modifiedAt }: FileEntry): FileEntry {
  return { workspace, path, mimeType, size, modifiedAt };
}

function fail(message: string): never {
  throw new RpcError('INVALID_PARAMS', message);
}
