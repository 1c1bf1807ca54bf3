import { getProjectWorkspace, type ProjectRecord } from '../../storage/records/project-record.ts';
import type { SessionRecord } from '../../storage/chat-records.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { type Agent, getWorkspaceName } from '../agents.ts';

/** The project of a chat; undefined if it has none, or its project was deleted. */
export async function findProject(
  vault: Pick<Vault, 'collection'>,
  session: Pick<SessionRecord, 'projectId'> | undefined,
): Promise<ProjectRecord | undefined> {
  return session?.projectId ? vault.collection('projects').get(session.projectId) : undefined;
}

/** Name of the workspace whose files a chat's tools use: that of its project, or of its agent. */
export const getFilesWorkspace = (agent: Agent, project: ProjectRecord | undefined): string =>
  project ? getProjectWorkspace(project) : getWorkspaceName(agent);

/** Name of the workspace that holds the memory of a chat: that of its project, if it has its own, or of its agent. */
export const getMemoryWorkspace = (agent: Agent, project: ProjectRecord | undefined): string =>
  project && project.memory !== 'shared' ? getProjectWorkspace(project) : getWorkspaceName(agent);

/** Names of the workspaces whose memories a chat recalls and searches; new memories go to the first. */
export function getRecalledWorkspaces(agent: Agent, project: ProjectRecord | undefined): [string, ...string[]] {
  const own = getMemoryWorkspace(agent, project);
  return project?.memory === 'both' ? [own, getWorkspaceName(agent)] : [own];
}
