import type { workspaces } from '#shared/rpc/methods/workspace.ts';
import type { Handlers } from '../dispatch.ts';
import type { KeptMirror } from '../files-mirror/keep.ts';
import type { ContentLabels } from '../trust/labels.ts';
import type { Workbench } from '../workbench.ts';

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
  'workspace.write': async ({ workspace, ...file }) => {
    const written = await (await workbench()).workspaces.write(workspace, file);
    await labels.remove('file', `${workspace}/${file.path}`);
    return { file: written };
  },
  'workspace.remove': async ({ workspace, path }) => {
    await (await workbench()).workspaces.remove(workspace, path);
    await labels.remove('file', `${workspace}/${path}`);
    return { removed: true };
  },
  'workspace.versions': async ({ workspace, path }) => {
    const versions = await (await workbench()).versions.list(workspace, path);
    return { versions, count: versions.length };
  },
  'workspace.restore': async ({ id }) => ({ file: await (await workbench()).versions.restore(id) }),
  'workspace.mirrors': async () => ({ mirrors: mirror.states }),
  'workspace.resume': async ({ workspace, gone }) => ({ mirror: await mirror.resume(workspace, gone) }),
});
