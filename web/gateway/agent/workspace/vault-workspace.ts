import { RpcError } from '#shared/rpc/rpc-error.ts';
import { type FileRecord, WORKSPACE_LIMITS, workspacePath } from '#shared/rpc/workspace-file.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Workspace } from '../../knowledge/memory/workspace.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { toBytes, normalizeContent } from './file-content.ts';
import { detectMediaType } from './media-type.ts';

interface VaultWorkspaceDeps {
  vault: { files: Pick<Vault['files'], 'get' | 'list' | 'remove' | 'replace'> };
  clock: Pick<Clock, 'now'>;
}

/**
 * A workspace of the vault by name. Files of memory, wiki and dreaming are stored next to the agent's own files, which the bridge mirrors
 * to a folder. Rejects with `INVALID_PARAMS` if the workspace is full, a file is too large, or an existing file is not text.
 */
export function createVaultWorkspace({ vault: { files }, clock }: VaultWorkspaceDeps, workspace: string): Workspace {
  const read = async (path: string): Promise<{ file: FileRecord | undefined; text: string | undefined }> => {
    const file = await files.get(workspace, path);
    return { file, text: file && new TextDecoder('utf-8', { ignoreBOM: true }).decode(toBytes(file)) };
  };

  /** Writes a file if it has not changed since `base`; returns false otherwise. */
  const replace = async (path: string, base: FileRecord | undefined, text: string): Promise<boolean> => {
    if (base?.encoding === 'base64' && text.includes('\uFFFD')) fail(`${path} is not a text file, so it was not changed.`);
    const content = normalizeContent(text, 'utf8');
    if (content.size > WORKSPACE_LIMITS.fileBytes)
      fail(`${path} is too large. The maximum is ${WORKSPACE_LIMITS.fileBytes / 1024 / 1024} MiB.`);
    const mimeType = await detectMediaType(path, toBytes(content));
    const file: FileRecord = { key: `${workspace}/${path}`, workspace, path, mimeType, modifiedAt: clock.now(), ...content };
    const [done] = await files.replace(workspace, [{ path, base: base ?? null, file }], WORKSPACE_LIMITS);
    if (done?.outcome === 'full') fail(`${path} can’t be written: workspace "${workspace}" is full.`);
    return done?.outcome === 'done';
  };

  const update: Workspace['update'] = async (input, edit) => {
    const path = requireWorkspacePath(input);
    for (;;) {
      const { file, text: before } = await read(path);
      const text = edit(before);
      if (text === undefined || text === before) return before;
      if (await replace(path, file, text)) return text;
    }
  };

  return {
    read: async (path) => (await read(requireWorkspacePath(path))).text,
    write: async (path, text) => void (await update(path, () => text)),
    append: async (path, text) => void (await update(path, (before = '') => before + text)),
    update,
    remove: (path) => files.remove(workspace, requireWorkspacePath(path)),
    async stat(input) {
      const path = requireWorkspacePath(input);
      const found = (await files.list(workspace, path)).find((file) => file.path === path);
      return found && { path, size: found.size, modifiedAt: found.modifiedAt };
    },
    list: async (folder) =>
      (await files.list(workspace, folder === undefined ? '' : `${requireWorkspacePath(folder)}/`)).map(({ path, size, modifiedAt }) => ({
        path,
        size,
        modifiedAt,
      })),
  };
}

function requireWorkspacePath(path: string): string {
  const { success, data } = workspacePath.safeParse(path);
  return success ? data : fail(`Invalid workspace path ${JSON.stringify(path)}.`);
}

function fail(message: string): never {
  throw new RpcError('INVALID_PARAMS', message);
}
