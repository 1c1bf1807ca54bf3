import type { workspaces } from '#shared/rpc/methods/workspace.ts';
import type { Handlers } from '../dispatch.ts';
import type { Workbench } from '../workbench.ts';

export const workspaceMethods = ({ workbench }: { workbench(): Promise<Pick<Workbench, 'workspaces'>> }): Handlers<typeof workspaces> => ({
  'workspace.list': async ({ workspace, under }) => {
    const files = await (await workbench()).workspaces.list(workspace, under);
    return { files, count: files.length };
  },
  'workspace.read': async ({ workspace, path }) => {
    const { key: _, content, encoding, ...file } = await (await workbench()).workspaces.read(workspace, path);
    return { file, content, encoding };
  },
  'workspace.write': async ({ workspace, ...file }) => ({ file: await (await workbench()).workspaces.write(workspace, file) }),
  'workspace.remove': async ({ workspace, path }) => {
    await (await workbench()).workspaces.remove(workspace, path);
    return { removed: true };
  },
});
