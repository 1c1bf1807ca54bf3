import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { workspaceContracts } from '#shared/rpc/methods/workspace-contracts.ts';
import { allowsScope } from '#shared/rpc/scopes.ts';
import type { Handlers } from '../dispatch.ts';
import type { Caller } from '../../system/caller.ts';
import type { LazyFilesMirror } from '../../agent/files-mirror/lazy-files-mirror.ts';
import type { ContentLabels } from '../../agent/trust/content-labels.ts';
import type { AgentToolkit } from '../../agent/agent-toolkit.ts';
import { getScopeForPath } from '../../agent/workspace/path-scope.ts';

export interface WorkspaceMethodsDeps {
  labels: ContentLabels;
  agentToolkit(): Promise<Pick<AgentToolkit, 'workspaces' | 'versions'>>;
  mirror: Pick<LazyFilesMirror, 'states' | 'resume'>;
}

export const workspaceMethods = ({ agentToolkit, mirror, labels }: WorkspaceMethodsDeps): Handlers<typeof workspaceContracts> => ({
  'workspace.list': async ({ workspace, under }) => {
    const files = await (await agentToolkit()).workspaces.list(workspace, under);
    return { files, count: files.length };
  },
  'workspace.read': async ({ workspace, path }) => {
    const { key: _, content, encoding, ...file } = await (await agentToolkit()).workspaces.read(workspace, path);
    return { file, content, encoding };
  },
  'workspace.write': async ({ workspace, outside = [], ...file }, caller) => {
    requirePathScope(caller, file.path);
    const name = `${workspace}/${file.path}`;
    await labels.add('file', name, outside);
    const written = await (await agentToolkit()).workspaces.write(workspace, file);
    if (outside.length === 0) await labels.remove('file', name);
    return { file: written };
  },
  'workspace.remove': async ({ workspace, path }, caller) => {
    requirePathScope(caller, path);
    await (await agentToolkit()).workspaces.remove(workspace, path);
    await labels.remove('file', `${workspace}/${path}`);
    return { removed: true };
  },
  'workspace.versions': async ({ workspace, path }) => {
    const versions = await (await agentToolkit()).versions.list(workspace, path);
    return { versions, count: versions.length };
  },
  'workspace.restore': async ({ id: versionId, toolCallId }, caller) => {
    if ((versionId === undefined) === (toolCallId === undefined))
      throw new RpcError('INVALID_PARAMS', 'Provide either `id` or `toolCallId`.');
    const { versions } = await agentToolkit();
    const id = versionId ?? (await versions.findReplaced(toolCallId ?? ''));
    requirePathScope(caller, id.slice(id.indexOf('/') + 1, id.lastIndexOf('@')));
    return { file: await versions.restore(id) };
  },
  'workspace.mirrors': async () => ({ mirrors: mirror.states }),
  'workspace.resume': async ({ workspace, gone }) => ({ mirror: await mirror.resume(workspace, gone) }),
});

function requirePathScope({ scopes }: Pick<Caller, 'scopes'>, path: string): void {
  const scope = getScopeForPath(path);
  if (!allowsScope(scopes, scope)) throw new RpcError('AUTH_REQUIRED', `Changing ${path} requires the scope "${scope}".`);
}
