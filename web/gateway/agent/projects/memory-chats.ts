import { getProjectWorkspace } from '../../storage/records/project-record.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { type Agents, getWorkspaceName } from '../agents.ts';

/**
 * Selects the chats, by their keys, whose conversations are part of a workspace's memory: those of projects with their own memory belong to
 * the project's workspace, all others to that of their agent.
 */
export async function createChatFilter(
  { vault, agents }: { vault: Pick<Vault, 'collection' | 'sessions'>; agents: Pick<Agents, 'list'> },
  workspace: string,
): Promise<(sessionKey: string) => boolean> {
  const agentIds = new Set(agents.list().flatMap((agent) => (getWorkspaceName(agent) === workspace ? agent.id : [])));
  const workspaces = await listOwnMemoryChats(vault);
  return (key) => {
    const own = workspaces.get(key);
    return own === undefined ? agentIds.has(key.split('/', 1)[0] ?? '') : own === workspace;
  };
}

/** The chats of projects with their own memory, by key, and the workspaces of those projects. */
export async function listOwnMemoryChats(vault: Pick<Vault, 'collection' | 'sessions'>): Promise<ReadonlyMap<string, string>> {
  const projects = await vault.collection('projects').list();
  const workspaces = new Map(
    projects.flatMap((project) => (project.memory === 'shared' ? [] : [[project.id, getProjectWorkspace(project)]])),
  );
  if (workspaces.size === 0) return new Map();
  return new Map(
    (await vault.sessions.list()).flatMap(({ key, projectId }) => {
      const workspace = projectId ? workspaces.get(projectId) : undefined;
      return workspace === undefined ? [] : [[key, workspace] as const];
    }),
  );
}
