import { RpcError } from '#shared/rpc/errors.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { Agents } from '../agents.ts';
import type { Chosen, Models } from '../runs/deps.ts';
import { sessionKey, type Vault } from '../vault.ts';
import type { LaterCompaction } from './later.ts';

export interface CompactSessionDeps {
  vault: Pick<Vault, 'sessions' | 'messages'>;
  agents: Agents;
  models: Pick<Models, 'resolve'>;
  compaction: Pick<LaterCompaction, 'now'>;
}

/** Number of messages at the end of a branch in which its last reply is looked for. */
const NEAR_END = 40;

/** Summarises a session on a user's request. Rejects with `NOT_FOUND` if the session or a suitable model does not exist. */
export async function compactSession(
  { agentId, sessionId }: { agentId: string; sessionId: string },
  { principal, signal }: { principal: string; signal: AbortSignal },
  { vault, agents, models, compaction }: CompactSessionDeps,
): Promise<MethodResult<'sessions.compact'>> {
  const agent = agents.get(agentId);
  const key = sessionKey(agentId, sessionId);
  if (!(await vault.sessions.get(key))) throw new RpcError('NOT_FOUND', `No session with id "${sessionId}".`);
  const { messages } = await vault.messages.branch(key, { limit: NEAR_END });
  const chosen = await modelOf(messages.findLast(({ model }) => model !== undefined)?.model, agent.model, models);
  const done = await compaction.now({ key, agent, chosen, principal }, signal);
  return { compacted: done !== undefined, messageId: done?.messageId ?? null, compaction: done?.compaction ?? null };
}

/** The model of the last reply here, or the agent's own if that model is gone or the guide. */
async function modelOf(last: string | undefined, own: string | undefined, models: Pick<Models, 'resolve'>): Promise<Chosen> {
  const found = last === undefined ? undefined : await models.resolve(last).catch(() => undefined);
  return found && found.provider.id !== 'guide' ? found : models.resolve(own);
}
