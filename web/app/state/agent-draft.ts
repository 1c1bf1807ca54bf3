import type { AgentConfig } from '#shared/rpc/record-schemas.ts';

/** Values of the agent form. */
export interface AgentDraft {
  name: string;
  avatar: string;
  /** Key of the model; empty for the default one. */
  model: string;
  /** Keys of fallback models, in order; null: those of all agents. */
  fallbacks: string[] | null;
  systemPrompt: string;
  /** Null: the model's default. */
  temperature: number | null;
  tools: 'all' | 'none' | 'some';
  /** Patterns, one per line: `allow` for the mode `some`, `deny` for tools that are never used. */
  allow: string;
  deny: string;
  /** Groups of tools in every message; null: the default tools. */
  toolGroups: string[] | null;
  memory: boolean;
  workspace: string;
}

export const NEW_AGENT: AgentDraft = {
  name: '',
  avatar: '',
  model: '',
  fallbacks: null,
  systemPrompt: '',
  temperature: null,
  tools: 'all',
  allow: '',
  deny: '',
  toolGroups: null,
  memory: true,
  workspace: '',
};

/** Converts an agent to form values. `defaultInstructions` are shown if the agent has none of its own. */
export function toAgentDraft(
  { name, avatar, model, fallbacks, systemPrompt, temperature, tools, toolGroups, memory, workspace }: AgentConfig,
  defaultInstructions = '',
): AgentDraft {
  const { allow, deny } = tools ?? {};
  return {
    name: name ?? '',
    avatar: avatar ?? '',
    model: model ?? '',
    fallbacks: fallbacks ? [...fallbacks] : null,
    systemPrompt: systemPrompt ?? defaultInstructions,
    temperature: temperature ?? null,
    tools: allow === undefined ? 'all' : allow.length === 0 ? 'none' : 'some',
    allow: (allow ?? []).join('\n'),
    deny: (deny ?? []).join('\n'),
    toolGroups: toolGroups ? [...toolGroups] : null,
    memory: memory ?? true,
    workspace: workspace ?? '',
  };
}

const splitLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** Fields that the form sets; undefined follows the default. */
export type AgentFields = { [F in keyof AgentConfig & keyof AgentDraft]-?: AgentConfig[F] | undefined };

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
    temperature: draft.temperature ?? undefined,
    tools: allow || deny.length > 0 ? { ...(allow && { allow }), ...(deny.length > 0 && { deny }) } : undefined,
    toolGroups: draft.toolGroups ?? undefined,
    memory: draft.memory ? undefined : false,
    workspace: draft.workspace.trim() || undefined,
  };
}
