import { agentContracts } from '#shared/rpc/methods/agent-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { type Agents } from './agents.ts';
import { listSubAgentSessions } from './sub-agents/sub-agent-sessions.ts';
import { MAIN_AGENT_ID } from '../config/main-agent.ts';
import type { Config } from '../config/gateway-config.ts';
import { defineMethods } from '../system/methods.ts';
import type { EventBus } from '../system/event-bus.ts';
import { checkNames, isObject, mergePatch } from '#shared/merge-patch.ts';
import { DEFAULT_INSTRUCTIONS } from '../config/default-instructions.ts';
import { RESEARCH_AGENT_ID } from './research/research-agent.ts';
import type { Runs } from './runs/runs.ts';
import { createSessionChangedEvent } from '../storage/session-views.ts';
import type { Vault } from '../storage/vault-interface.ts';
import type { SessionRecord } from '../storage/chat-records.ts';

interface AgentMethodsDeps {
  agents: Agents;
  config: Config;
  vault: Vault;
  runs: Pick<Runs, 'clear'>;
  hub: Pick<EventBus, 'emit'>;
}

export const agentMethods = defineMethods(agentContracts)(({ agents: all, config, vault, runs, hub }: AgentMethodsDeps) => {
  const listSessions = async (id: string): Promise<SessionRecord[]> =>
    (await vault.sessions.list()).filter(({ agentId }) => agentId === id);
  const deleteSessions = async (id: string): Promise<number> => {
    const sessions = await listSessions(id);
    const subAgents = await listSubAgentSessions(
      vault,
      sessions.map(({ key }) => key),
    );
    for (const key of new Set([...sessions, ...subAgents].map((session) => session.key)))
      if (await runs.clear(key, () => vault.sessions.remove(key))) hub.emit(createSessionChangedEvent(key, true), key);
    return sessions.length;
  };
  return {
    'agents.list': async () => {
      const sessions = await vault.sessions.list();
      const count = (id: string): number => sessions.filter(({ agentId, subAgent }) => agentId === id && !subAgent).length;
      return {
        agents: all.list().map(({ id, name, config }) => ({ id, session_count: count(id), config: { ...config, name } })),
        defaultInstructions: config.settings.chat.systemPrompt ?? DEFAULT_INSTRUCTIONS,
      };
    },

    'agents.add': async ({ agent_id, config: input = {} }) => {
      const patch = { agents: { [agent_id]: input } };
      checkNames(patch);
      await config.edit((document) => {
        if (agent_id === MAIN_AGENT_ID || (isObject(document.agents) && Object.hasOwn(document.agents, agent_id))) {
          throw new RpcError('ALREADY_EXISTS', `An agent with id "${agent_id}" already exists.`);
        }
        return mergePatch(document, patch);
      });
      return { agent_id, created: true };
    },

    'agents.remove': async ({ agent_id, deleteSessions: isDeleting }) => {
      if (agent_id === MAIN_AGENT_ID) throw new RpcError('INVALID_PARAMS', `The agent "${MAIN_AGENT_ID}" can’t be removed.`);
      await config.edit((document) => {
        const { agents } = document;
        if (agent_id === RESEARCH_AGENT_ID && (!isObject(agents) || !Object.hasOwn(agents, agent_id)))
          throw new RpcError('INVALID_PARAMS', `The agent "${agent_id}" is built in. It is removed when web search is turned off.`);
        if (!isObject(agents) || !Object.hasOwn(agents, agent_id)) throw new RpcError('NOT_FOUND', `No agent with id "${agent_id}".`);
        return mergePatch(document, { agents: { [agent_id]: null } });
      });
      if (isDeleting) return { agent_id, removed: true, deletedSessions: await deleteSessions(agent_id) };
      return { agent_id, removed: true };
    },

    'agents.bindings': () => [...config.settings.bindings, { pattern: '*', agentId: MAIN_AGENT_ID }],
  };
});
