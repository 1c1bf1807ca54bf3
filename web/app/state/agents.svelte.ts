import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { AgentFields } from './agent-draft.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { createFreeId } from './create-free-id.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { announcer } from './announcer.svelte.ts';
import { toasts } from '#kit/toasts.svelte.ts';

export type AgentEntry = MethodResult<'agents.list'>['agents'][number];

/** Id of the main agent, which always exists. */
export const MAIN_AGENT = 'main';

/** The list of agents, each with its model, instructions and tools. */
class Agents {
  /** Null before the first answer. */
  list = $state.raw<AgentEntry[] | null>(null);
  /** Instructions of agents without their own. */
  defaultInstructions = $state('');
  problem = $state<Problem | null>(null);
  #loadCount = 0;

  /** Loads the agents, now and whenever the configuration changes. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    return gateway.on('config.changed', () => void this.load());
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    try {
      const { agents, defaultInstructions } = await gateway.call('agents.list', {});
      if (loadId !== this.#loadCount) return;
      this.list = agents;
      this.defaultInstructions = defaultInstructions;
      this.problem = null;
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.state_doing_read_agents());
    }
  }

  /** The name of an agent on screen. */
  getName(id: string): string {
    const name = this.list?.find((agent) => agent.id === id)?.config.name;
    return name !== undefined && name !== id ? name : id === MAIN_AGENT ? m.state_agent_main() : id;
  }

  /** Adds an agent, and resolves with its id, derived from its name. `add`, `change` and `remove` reject if the gateway refuses. */
  async add(fields: AgentFields): Promise<string> {
    const id = createFreeId(fields.name ?? '', new Set(this.list?.map((agent) => agent.id)), 'agent');
    const config = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    await gateway.call('agents.add', { agent_id: id, config });
    announcer.announce(m.state_agent_made());
    await this.load();
    return id;
  }

  async change(id: string, fields: AgentFields): Promise<void> {
    const { tools, subAgents } = fields;
    const patch = Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, value ?? null]));
    // A patch is merged: keys that it leaves out would stay.
    const toolFields = tools ? { tools: { allow: tools.allow ?? null, deny: tools.deny ?? null } } : {};
    const noLimits = { enabled: null, agents: null, maxDepth: null, maxParallel: null, maxTotal: null };
    const subAgentFields = subAgents ? { subAgents: { ...noLimits, ...subAgents } } : {};
    await gateway.call('config.patch', { patch: { agents: { [id]: { ...patch, ...toolFields, ...subAgentFields } } } });
    announcer.announce(m.state_agent_changed());
    await this.load();
  }

  async remove(id: string, deleteSessions: boolean): Promise<void> {
    await gateway.call('agents.remove', { agent_id: id, deleteSessions });
    announcer.announce(m.state_agent_removed());
    toasts.show(m.state_agent_removed());
    await this.load();
  }
}

export const agents = new Agents();
