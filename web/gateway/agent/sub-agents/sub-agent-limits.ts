import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Agent } from '../agents.ts';
import type { RunTreeNode } from '../runs/run-tree.ts';

/** Limits of an agent whose settings name none. */
const DEFAULT_LIMITS = { maxDepth: 2, maxParallel: 4, maxTotal: 20 };

/** Limits of an agent's sub-agents. */
export const getLimits = ({ config: { subAgents = {} } }: Pick<Agent, 'config'>): typeof DEFAULT_LIMITS => ({
  maxDepth: subAgents.maxDepth ?? DEFAULT_LIMITS.maxDepth,
  maxParallel: subAgents.maxParallel ?? DEFAULT_LIMITS.maxParallel,
  maxTotal: subAgents.maxTotal ?? DEFAULT_LIMITS.maxTotal,
});

/** Throws `AUTH_REQUIRED` if an agent may not call another one. */
export function requireCallable(caller: Agent, id: string): void {
  const { enabled, agents = [] } = caller.config.subAgents ?? {};
  if (enabled === false) throw new RpcError('AUTH_REQUIRED', `The agent “${caller.name}” may not use sub-agents.`);
  if (id === caller.id || agents.includes(id) || agents.includes('*')) return;
  const callable = agents.length > 0 ? `copies of itself and: ${agents.join(', ')}` : 'copies of itself: leave out `agent`';
  throw new RpcError('AUTH_REQUIRED', `The agent “${caller.name}” may not call the agent “${id}”. It may call ${callable}.`);
}

/** Throws `RATE_LIMITED` if one more sub-agent of a run would be too deep, or one too many. */
export function requireRoom(node: RunTreeNode, { maxDepth, maxTotal }: Pick<typeof DEFAULT_LIMITS, 'maxDepth' | 'maxTotal'>): void {
  if (node.depth >= maxDepth)
    throw new RpcError('RATE_LIMITED', `Sub-agents may be nested ${maxDepth} deep, and this one is the deepest. Do the task yourself.`);
  if (node.root.started >= maxTotal)
    throw new RpcError('RATE_LIMITED', `This reply has started all of its ${maxTotal} sub-agents. Do the rest yourself.`);
}
