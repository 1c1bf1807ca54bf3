import type { ModelParameters } from '#shared/rpc/model-parameters.ts';
import type { AgentConfig } from '#shared/rpc/record-schemas.ts';
import { type ParameterDraft, toParameterDraft, toParameters } from '../parameters/parameter-draft.ts';

/** Values for sub-agents in the agent form. Undefined limits are the default ones. */
export interface SubAgentDraft {
  /** Whether the model finds the tool by search, or is offered it with every message. */
  mode: 'found' | 'offered' | 'off';
  /** Ids of other agents that it may call; `*` for all. */
  agents: string[];
  maxDepth: number | null | undefined;
  maxParallel: number | null | undefined;
  maxTotal: number | null | undefined;
}

/** Values of the agent form. */
export interface AgentDraft {
  name: string;
  avatar: string;
  /** Key of the model; empty for the default one. */
  model: string;
  /** Keys of fallback models, in order; null: those of all agents. */
  fallbacks: string[] | null;
  systemPrompt: string;
  /** How its models answer; instructions are `systemPrompt`. */
  parameters: ParameterDraft;
  tools: 'all' | 'none' | 'some';
  /** Patterns, one per line: `allow` for the mode `some`, `deny` for tools that are never used. */
  allow: string;
  deny: string;
  /** Groups of tools in every message; null: the default tools. */
  toolGroups: string[] | null;
  memory: boolean;
  /** IDs of the collections that it searches. */
  collections: string[];
  subAgents: SubAgentDraft;
  workspace: string;
}

export const NEW_AGENT: AgentDraft = {
  name: '',
  avatar: '',
  model: '',
  fallbacks: null,
  systemPrompt: '',
  parameters: toParameterDraft(),
  tools: 'all',
  allow: '',
  deny: '',
  toolGroups: null,
  memory: true,
  collections: [],
  subAgents: toSubAgentDraft(undefined),
  workspace: '',
};

const AGENT_PARAMETERS = ['thinking', 'temperature', 'topP', 'maxTokens', 'seed', 'stop', 'verbosity', 'json'] as const;
type AgentParameterName = (typeof AGENT_PARAMETERS)[number];

/** Parameters that an agent sets, which its chats inherit. */
export function getAgentParameters(config: AgentConfig | undefined): ModelParameters {
  return Object.fromEntries(AGENT_PARAMETERS.flatMap((name) => (config?.[name] === undefined ? [] : [[name, config[name]]])));
}

/** Parameters of an agent from form values; those that are inherited are undefined, so that they are reset. */
function toAgentParameters(draft: ParameterDraft): { [Name in AgentParameterName]: ModelParameters[Name] | undefined } {
  const parameters = toParameters(draft) ?? {};
  const { thinking, temperature, topP, maxTokens, seed, stop, verbosity, json } = parameters;
  return { thinking, temperature, topP, maxTokens, seed, stop, verbosity, json };
}

/** Converts an agent to form values. `defaultInstructions` are shown if the agent has none of its own. */
export function toAgentDraft(config: AgentConfig, defaultInstructions = ''): AgentDraft {
  const { name, avatar, model, fallbacks, systemPrompt, tools, toolGroups, memory, collections, subAgents, workspace } = config;
  const { allow, deny } = tools ?? {};
  return {
    name: name ?? '',
    avatar: avatar ?? '',
    model: model ?? '',
    fallbacks: fallbacks ? [...fallbacks] : null,
    systemPrompt: systemPrompt ?? defaultInstructions,
    parameters: toParameterDraft(getAgentParameters(config)),
    tools: allow === undefined ? 'all' : allow.length === 0 ? 'none' : 'some',
    allow: (allow ?? []).join('\n'),
    deny: (deny ?? []).join('\n'),
    toolGroups: toolGroups ? [...toolGroups] : null,
    memory: memory ?? true,
    collections: [...(collections ?? [])],
    subAgents: toSubAgentDraft(subAgents),
    workspace: workspace ?? '',
  };
}

function toSubAgentDraft({ enabled, agents = [], maxDepth, maxParallel, maxTotal }: AgentConfig['subAgents'] = {}): SubAgentDraft {
  const mode = enabled === undefined ? 'found' : enabled ? 'offered' : 'off';
  return { mode, agents: [...agents], maxDepth, maxParallel, maxTotal };
}

/** Undefined if everything is the default. */
function toSubAgentSettings({ mode, agents, maxDepth, maxParallel, maxTotal }: SubAgentDraft): AgentConfig['subAgents'] {
  const settings = {
    ...(mode === 'found' ? {} : { enabled: mode === 'offered' }),
    ...(agents.length > 0 ? { agents: agents.includes('*') ? ['*'] : agents } : {}),
    // A number field that was emptied is null.
    ...(maxDepth == null ? {} : { maxDepth }),
    ...(maxParallel == null ? {} : { maxParallel }),
    ...(maxTotal == null ? {} : { maxTotal }),
  };
  return Object.keys(settings).length > 0 ? settings : undefined;
}

const splitLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** Fields that the form sets; undefined follows the default. */
export type AgentFields = { [F in keyof AgentConfig & (keyof AgentDraft | AgentParameterName)]-?: AgentConfig[F] | undefined };

/** Converts form values to an agent. Default instructions are not stored, so that improvements of a later version apply. */
export function toAgentConfig(draft: AgentDraft, defaultInstructions = ''): AgentFields {
  const deny = splitLines(draft.deny);
  const allow = draft.tools === 'all' ? undefined : draft.tools === 'none' ? [] : splitLines(draft.allow);
  return {
    name: draft.name.trim() || undefined,
    avatar: draft.avatar.trim() || undefined,
    model: draft.model || undefined,
    fallbacks: draft.fallbacks ?? undefined,
    systemPrompt: draft.systemPrompt.trim() === defaultInstructions.trim() ? undefined : draft.systemPrompt,
    ...toAgentParameters(draft.parameters),
    tools: allow || deny.length > 0 ? { ...(allow && { allow }), ...(deny.length > 0 && { deny }) } : undefined,
    toolGroups: draft.toolGroups ?? undefined,
    memory: draft.memory ? undefined : false,
    collections: draft.collections.length > 0 ? draft.collections : undefined,
    subAgents: toSubAgentSettings(draft.subAgents),
    workspace: draft.workspace.trim() || undefined,
  };
}
