import { RpcError } from '#shared/rpc/errors.ts';
import type { workspaces } from '#shared/rpc/methods/workspace.ts';
import { allows } from '#shared/rpc/scopes.ts';
import type { Caller, Handlers } from '../dispatch.ts';
import type { KeptMirror } from '../files-mirror/keep.ts';
import type { ContentLabels } from '../trust/labels.ts';
import type { Workbench } from '../workbench.ts';
import { scopeForPath } from '../workspace/path-scope.ts';

export interface WorkspaceDeps {
  labels: ContentLabels;
  workbench(): Promise<Pick<Workbench, 'workspaces' | 'versions'>>;
  mirror: Pick<KeptMirror, 'states' | 'resume'>;
}

export const workspaceMethods = ({ workbench, mirror, labels }: WorkspaceDeps): Handlers<typeof workspaces> => ({
  'workspace.list': async ({ workspace, under }) => {
    const files = await (await workbench()).workspaces.list(workspace, under);
    return { files, count: files.length };
  },
  'workspace.read': async ({ workspace, path }) => {
    const { key: _, content, encoding, ...file } = await (await workbench()).workspaces.read(workspace, path);
    return { file, content, encoding };
  },
  'workspace.write': async ({ workspace, outside = [], ...file }, caller) => {
    requirePathScope(caller, file.path);
    const name = `${workspace}/${file.path}`;
    await labels.add('file', name, outside);
    const written = await (await workbench()).workspaces.write(workspace, file);
    if (outside.length === 0) await labels.remove('file', name);
    return { file: written };
  },
  'workspace.remove': async ({ workspace, path }, caller) => {
    requirePathScope(caller, path);
    await (await workbench()).workspaces.remove(workspace, path);
    await labels.remove('file', `${workspace}/${path}`);
    return { removed: true };
  },
  'workspace.versions': async ({ workspace, path }) => {
    const versions = await (await workbench()).versions.list(workspace, path);
    return { versions, count: versions.length };
  },
  'workspace.restore': async ({ id: given, toolCallId }, caller) => {
    if ((given === undefined) === (toolCallId === undefined)) throw new RpcError('INVALID_PARAMS', 'Provide either `id` or `toolCallId`.');
    const { versions } = await workbench();
    const id = given ?? (await versions.findReplaced(toolCallId ?? ''));
    requirePathScope(caller, id.slice(id.indexOf('/') + 1, id.lastIndexOf('@')));
    return { file: await versions.restore(id) };
  },
  'workspace.mirrors': async () => ({ mirrors: mirror.states }),
  'workspace.resume': async ({ workspace, gone }) => ({ mirror: await mirror.resume(workspace, gone) }),
});

function requirePathScope({ scopes }: Pick<Caller, 'scopes'>, path: string): void {
  const scope = scopeForPath(path);
  if (!allows(scopes, scope)) throw new RpcError('AUTH_REQUIRED', `Changing ${path} requires the scope "${scope}".`);
}
