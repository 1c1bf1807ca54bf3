import { MAIN_AGENT_ID } from '../config/main-agent.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { readModelParameters, type ModelParameters } from '#shared/rpc/model-parameters.ts';
import type { AgentConfig } from '#shared/rpc/record-schemas.ts';
import type { Settings } from '../config/settings-schema.ts';
import { RESEARCH_AGENT, RESEARCH_AGENT_ID } from './research/research-agent.ts';

/** An agent, as runs use it. */
export interface Agent {
  id: string;
  name: string;
  /** Key of the model; undefined for the default model. */
  model: string | undefined;
  /** Keys of the fallback models, in order. */
  fallbacks: readonly string[];
  /** Undefined for the default instructions, empty for none. */
  systemPrompt: string | undefined;
  /** How its model answers, if no chat, job or channel says otherwise. */
  parameters: ModelParameters;
  /** The agent's entry in the configuration. */
  config: AgentConfig;
}

/** Name of the workspace that holds an agent's files. */
export const getWorkspaceName = ({ id, config }: Agent): string => config.workspace ?? id;

/** Kinds of tools that a chat can be without, if they are false. */
export interface ToolSwitches {
  /** Tools that search the web and read its pages. */
  web?: boolean | undefined;
  /** Tools that drive the browser. */
  browser?: boolean | undefined;
}

/** The agent without the tools that are switched off. */
export function withSwitches(agent: Agent, { web, browser }: ToolSwitches): Agent {
  const off = [...(web === false ? ['web_*'] : []), ...(browser === false ? ['browser_*'] : [])];
  if (off.length === 0) return agent;
  const { tools } = agent.config;
  return { ...agent, config: { ...agent.config, tools: { ...tools, deny: [...(tools?.deny ?? []), ...off] } } };
}

export interface Agents {
  /** Throws `NOT_FOUND`. */
  get(id: string): Agent;
  /** `main` first, then by id. */
  list(): Agent[];
}

/** The configured agents. `main` always exists, and the agent for research while a search service is set up. */
export function createAgents(settings: () => Settings): Agents {
  const hasResearch = (): boolean => settings().tools.webSearch !== undefined;
  const make = (id: string): Agent => {
    const { chat, agents } = settings();
    const config = { ...(id === RESEARCH_AGENT_ID && hasResearch() ? RESEARCH_AGENT : {}), ...agents[id] };
    return {
      id,
      name: config.name ?? (id === MAIN_AGENT_ID ? 'Main' : id),
      model: config.model ?? chat.model,
      fallbacks: config.fallbacks ?? chat.fallbacks ?? [],
      systemPrompt: config.systemPrompt ?? chat.systemPrompt,
      parameters: readModelParameters(config) ?? {},
      config,
    };
  };
  const ids = (): string[] => [
    ...new Set([
      MAIN_AGENT_ID,
      ...Object.keys(settings().agents)
        .concat(hasResearch() ? RESEARCH_AGENT_ID : [])
        .sort(),
    ]),
  ];
  return {
    get(id) {
      if (!ids().includes(id)) throw new RpcError('NOT_FOUND', `No agent with id "${id}".`);
      return make(id);
    },
    list: () => ids().map(make),
  };
}
