import { RpcError } from '#shared/rpc/rpc-error.ts';
import { getProjectWorkspace } from '../../../storage/records/project-record.ts';
import type { Vault } from '../../../storage/vault-interface.ts';
import { type Agents, getWorkspaceName } from '../../agents.ts';

/** Name of the workspace of the project, if there is one, or of the agent. Throws `NOT_FOUND`. */
export async function findOwnerWorkspace(
  { agents, vault }: { agents: Pick<Agents, 'get'>; vault: Pick<Vault, 'collection'> },
  { agentId, projectId }: { agentId: string; projectId?: string | undefined },
): Promise<string> {
  if (projectId === undefined) return getWorkspaceName(agents.get(agentId));
  const project = await vault.collection('projects').get(projectId);
  if (!project) throw new RpcError('NOT_FOUND', `No project with id "${projectId}".`);
  return getProjectWorkspace(project);
}
