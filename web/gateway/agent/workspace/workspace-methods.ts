import { RpcError } from '#shared/rpc/rpc-error.ts';
import { workspaceContracts } from '#shared/rpc/methods/workspace-contracts.ts';
import { allowsScope } from '#shared/rpc/scopes.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Caller } from '../../system/caller.ts';
import type { FilesMirror } from '../files-mirror/files-mirror.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { labelNewMemories } from '../trust/file-sources.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { isPerson } from '../../system/person.ts';
import { trackPersonEdit } from '../knowledge/provenance/person-edits.ts';
import type { Provenance } from '../knowledge/provenance/provenance.ts';
import type { AgentToolkit } from '../toolkit/agent-toolkit.ts';
import { getScopeForPath } from './path-scope.ts';
import type { Lazy, Loadable } from '../../system/modules.ts';

interface WorkspaceMethodsDeps {
  vault: Pick<Vault, 'files'>;
  provenance: Lazy<Provenance>;
  labels: ContentLabels;
  agentToolkit: Lazy<Pick<AgentToolkit, 'workspaces' | 'versions'>>;
  filesMirror: Loadable<Pick<FilesMirror, 'states' | 'resume'>>;
}

export const workspaceMethods = defineMethods(workspaceContracts)(
  ({ vault, provenance, agentToolkit, filesMirror, labels }: WorkspaceMethodsDeps) => ({
    'workspace.list': async ({ workspace, under }) => {
      const files = await (await agentToolkit.load()).workspaces.list(workspace, under);
      return { files, count: files.length };
    },
    'workspace.read': async ({ workspace, path }) => {
      const { key: _, content, encoding, ...file } = await (await agentToolkit.load()).workspaces.read(workspace, path);
      return { file, content, encoding };
    },
    'workspace.write': async ({ workspace, outside = [], ...file }, caller) => {
      requirePathScope(caller, file.path);
      const name = `${workspace}/${file.path}`;
      await labelNewMemories({ vault, labels }, workspace, file, outside);
      await labels.add('file', name, outside);
      const isEdit = isPerson(caller.principal) && outside.length === 0;
      const finishEdit = isEdit ? await trackPersonEdit({ vault, provenance }, workspace, [file.path]) : undefined;
      const written = await (await agentToolkit.load()).workspaces.write(workspace, file);
      await finishEdit?.();
      if (outside.length === 0) await labels.remove('file', name);
      return { file: written };
    },
    'workspace.remove': async ({ workspace, path }, caller) => {
      requirePathScope(caller, path);
      await (await agentToolkit.load()).workspaces.remove(workspace, path);
      await labels.remove('file', `${workspace}/${path}`);
      return { removed: true };
    },
    'workspace.versions': async ({ workspace, path }) => {
      const versions = await (await agentToolkit.load()).versions.list(workspace, path);
      return { versions, count: versions.length };
    },
    'workspace.restore': async ({ id: versionId, toolCallId }, caller) => {
      if ((versionId === undefined) === (toolCallId === undefined))
        throw new RpcError('INVALID_PARAMS', 'Provide either `id` or `toolCallId`.');
      const { versions } = await agentToolkit.load();
      const id = versionId ?? (await versions.findReplaced(toolCallId ?? ''));
      requirePathScope(caller, id.slice(id.indexOf('/') + 1, id.lastIndexOf('@')));
      return { file: await versions.restore(id) };
    },
    'workspace.mirrors': async () => ({ mirrors: filesMirror.loaded?.states ?? [] }),
    'workspace.resume': async ({ workspace, gone }) => {
      // Before a bridge provides folders, no workspace is mirrored.
      const mirror = await (await filesMirror.settled())?.resume(workspace, gone);
      if (!mirror) throw new RpcError('NOT_FOUND', `Workspace "${workspace}" is not mirrored to a folder.`);
      return { mirror };
    },
  }),
);

function requirePathScope({ scopes }: Pick<Caller, 'scopes'>, path: string): void {
  const scope = getScopeForPath(path);
  if (!allowsScope(scopes, scope)) throw new RpcError('AUTH_REQUIRED', `Changing ${path} requires the scope "${scope}".`);
}
