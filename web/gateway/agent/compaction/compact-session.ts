import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { Agents } from '../agents.ts';
import type { SelectedModel, Models } from '../runs/run-types.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { toSessionKey } from '../../storage/chat-records.ts';
import type { Compactor } from './compactor.ts';
import type { Lazy } from '../../system/modules.ts';

export interface CompactSessionDeps {
  vault: Pick<Vault, 'sessions' | 'messages'>;
  agents: Agents;
  models: Pick<Models, 'resolve'>;
  compactor: Lazy<Pick<Compactor, 'compact'>>;
}

/** Number of messages at the end of a branch in which its last reply is looked for. */
const LAST_REPLY_WINDOW = 40;

/** Summarises a session on a user's request. Rejects with `NOT_FOUND` if the session or a suitable model does not exist. */
export async function compactSession(
  { agentId, sessionId }: { agentId: string; sessionId: string },
  { principal, signal }: { principal: string; signal: AbortSignal },
  { vault, agents, models, compactor }: CompactSessionDeps,
): Promise<MethodResult<'sessions.compact'>> {
  const agent = agents.get(agentId);
  const key = toSessionKey(agentId, sessionId);
  if (!(await vault.sessions.get(key))) throw new RpcError('NOT_FOUND', `No session with id "${sessionId}".`);
  const { messages } = await vault.messages.branch(key, { limit: LAST_REPLY_WINDOW });
  const chosen = await resolveLastModel(messages.findLast(({ model }) => model !== undefined)?.model, agent.model, models);
  const done = await (await compactor.load()).compact({ key, agent, chosen, principal }, signal);
  return { compacted: done !== undefined, messageId: done?.messageId ?? null, compaction: done?.compaction ?? null };
}

/** The model of the last reply here, or the agent's own if that model is gone or the guide. */
async function resolveLastModel(
  last: string | undefined,
  own: string | undefined,
  models: Pick<Models, 'resolve'>,
): Promise<SelectedModel> {
  const found = last === undefined ? undefined : await models.resolve(last).catch(() => undefined);
  return found && found.provider.id !== 'guide' ? found : models.resolve(own);
}
