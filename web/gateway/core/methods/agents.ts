import type { agents } from '#shared/rpc/methods/agents.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { type Agents, MAIN } from '../agents.ts';
import type { Config } from '../config.ts';
import type { Handlers } from '../dispatch.ts';
import type { Hub } from '../hub.ts';
import { checkNames, isObject, mergePatch } from '../merge.ts';
import { DEFAULT_INSTRUCTIONS } from '../runs/instructions.ts';
import type { Runs } from '../runs/runs.ts';
import { sessionChanged } from '../sessions.ts';
import type { SessionRecord, Vault } from '../vault.ts';

export interface AgentMethodsDeps {
  agents: Agents;
  config: Config;
  vault: Vault;
  runs: Pick<Runs, 'clear'>;
  hub: Pick<Hub, 'emit'>;
}

export const agentMethods = ({ agents: all, config, vault, runs, hub }: AgentMethodsDeps): Handlers<typeof agents> => {
  const sessionsOf = async (id: string): Promise<SessionRecord[]> => (await vault.sessions.list()).filter(({ agentId }) => agentId === id);
  const deleteSessions = async (id: string): Promise<number> => {
    const sessions = await sessionsOf(id);
    for (const { key } of sessions) if (await runs.clear(key, () => vault.sessions.remove(key))) hub.emit(sessionChanged(key, true), key);
    return sessions.length;
  };
  return {
    'agents.list': async () => {
      const sessions = await vault.sessions.list();
      const count = (id: string): number => sessions.filter(({ agentId }) => agentId === id).length;
      return {
        agents: all.list().map(({ id, name, config: given }) => ({ id, session_count: count(id), config: { ...given, name } })),
        defaultInstructions: config.settings.chat.systemPrompt ?? DEFAULT_INSTRUCTIONS,
      };
    },

    'agents.add': async ({ agent_id, config: given = {} }) => {
      const patch = { agents: { [agent_id]: given } };
      checkNames(patch);
      await config.edit((document) => {
        if (agent_id === MAIN || (isObject(document.agents) && Object.hasOwn(document.agents, agent_id))) {
          throw new RpcError('ALREADY_EXISTS', `An agent with id "${agent_id}" already exists.`);
        }
        return mergePatch(document, patch);
      });
      return { agent_id, created: true };
    },

    'agents.remove': async ({ agent_id, deleteSessions: isDeleting }) => {
      if (agent_id === MAIN) throw new RpcError('INVALID_PARAMS', `The agent "${MAIN}" can’t be removed.`);
      await config.edit((document) => {
        const { agents } = document;
        if (!isObject(agents) || !Object.hasOwn(agents, agent_id)) throw new RpcError('NOT_FOUND', `No agent with id "${agent_id}".`);
        return mergePatch(document, { agents: { [agent_id]: null } });
      });
      if (isDeleting) return { agent_id, removed: true, deletedSessions: await deleteSessions(agent_id) };
      return { agent_id, removed: true };
    },

    'agents.bindings': () => [...config.settings.bindings, { pattern: '*', agentId: MAIN }],
  };
};
