import { id } from './frames.ts';
import { budgetPeriod } from './budget-period.ts';
import { agentParameters, modelParameters } from './model-parameters.ts';
import { citation, citedSource } from './passage.ts';
import { createVisibleName } from './visible-name.ts';
import { z } from './zod.ts';

/** Token counts and cost of a run. `estimated` is true if the provider did not report them. */
export const usage = z.object({
  inputTokens: z.number().int().nonnegative(),
  outputTokens: z.number().int().nonnegative(),
  totalTokens: z.number().int().nonnegative(),
  /** Input tokens that were read from the provider's cache. Missing if the provider does not report them. */
  cacheReadTokens: z.number().int().nonnegative().optional(),
  /** Input tokens that were written to the provider's cache. */
  cacheWriteTokens: z.number().int().nonnegative().optional(),
  /** The part of `cacheWriteTokens` that is kept for an hour. */
  cacheWrite1hTokens: z.number().int().nonnegative().optional(),
  /** USD. */
  cost: z.number().nonnegative().optional(),
  estimated: z.boolean().optional(),
});
export type Usage = z.infer<typeof usage>;

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const imagePart = z.object({ type: z.literal('image'), mimeType: z.string(), data: z.string(), filename: z.string().optional() });
const filePart = z.object({ type: z.literal('file'), mimeType: z.string(), data: z.string(), filename: z.string() });
export const messagePart = z.discriminatedUnion('type', [textPart, imagePart, filePart]);
/** A part of a message. `data` is base64-encoded. */
export type MessagePart = z.infer<typeof messagePart>;

export const toolCall = z.object({ id: z.string(), tool: z.string(), args: z.record(z.string(), z.unknown()) });
export type ToolCall = z.infer<typeof toolCall>;

const attachmentInfo = z.object({ filename: z.string(), mimeType: z.string(), size: z.number() });

export const recalledMemory = z.object({
  id: z.string(),
  /** The text given to the model, on one line. */
  text: z.string(),
  category: z.string().optional(),
  /** The source, in plain language. */
  source: z.string(),
  /** When it was written, in milliseconds since the Unix epoch; null if it does not age. */
  at: z.number().nullable(),
  /** `words`: matching words. `beside`: words that match only in its neighbours. `timely`: it belongs to the time that was mentioned. `alike`: semantic similarity up to 1, if a model computes it. */
  why: z.object({ words: z.array(z.string()), beside: z.array(z.string()), timely: z.boolean(), alike: z.number().optional() }),
  /** Relevance to the message, from 0 to 1. */
  relevance: z.number().optional(),
});
/** A memory that the model was given before it replied. */
export type RecalledMemory = z.infer<typeof recalledMemory>;

/** Reasoning of a model before its reply, if the provider returns it. */
const reasoning = z.object({
  /** Markdown, up to 32,000 characters. */
  text: z.string(),
  /** Duration in milliseconds. */
  ms: z.number(),
  /** Whether the text was longer. */
  cut: z.boolean().optional(),
});
export type Reasoning = z.infer<typeof reasoning>;

/** A summary that replaces older messages for the model. The messages themselves are kept. */
export const compaction = z.object({
  /** Markdown with a heading for each part of a `StructuredSummary`. */
  summary: z.string(),
  trigger: z.enum(['threshold', 'manual', 'overflow']),
  /** Number of messages summarised, including those of earlier summaries. */
  messages: z.number().int(),
  /** Size of the conversation as sent to the model, before and after. */
  tokensBefore: z.number().int(),
  tokensAfter: z.number().int(),
  /** The key of the model that wrote the summary. */
  model: z.string(),
  /** Milliseconds since the Unix epoch. */
  at: z.number(),
  /** Outside sources of the summarised messages, such as `web:example.com`. Empty if a person reviewed the summary. */
  outside: z.array(z.string()).optional(),
});
export type Compaction = z.infer<typeof compaction>;

/** How links in a text are followed that may have been written after reading from outside. */
export const linkOrigins = {
  /** The outside sources of its label, such as `web:example.com`; absent if it has none. */
  outside: z.array(z.string()).optional(),
  /** The addresses in it that were read or typed. If there are `outside` sources, all others may carry what was read. */
  quotedUrls: z.array(z.string()).optional(),
};

/** The budget that has stopped a reply. */
const stoppedBudget = z.object({ scope: z.string(), period: budgetPeriod });

export const historyMessage = z.object({
  id: z.string(),
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  content: z.union([z.string(), z.array(messagePart)]),
  /** Milliseconds since the Unix epoch. */
  timestamp: z.number(),
  parentId: z.string().nullable().optional(),
  toolCalls: z.array(toolCall).optional(),
  toolCallId: z.string().optional(),
  name: z.string().optional(),
  usage: usage.optional(),
  model: z.string().optional(),
  /** The reply was stopped by a person. The partial text is kept. */
  aborted: z.boolean().optional(),
  /** The host stopped during the reply. The partial text is kept and the message can be sent again. */
  interrupted: z.boolean().optional(),
  /** The run failed after this partial reply. */
  error: z.object({ code: z.string(), message: z.string(), budget: stoppedBudget.optional() }).optional(),
  attachments: z.array(attachmentInfo).optional(),
  /** Outside sources that were in the context when the message was written, such as `web:example.com`. Empty if a person reviewed it. */
  outside: z.array(z.string()).optional(),
  /** For replies with `outside`: the addresses in the text that stood in what was read or typed. The model composed all others. */
  quotedUrls: z.array(z.string()).optional(),
  /** For replies: the claims that a source supports, in the order of the text. */
  citations: z.array(citation).optional(),
  /** For replies: the sources of `citations`, by ascending number. */
  sources: z.array(citedSource).optional(),
  /** For replies: the recalled memories. */
  recalled: z.array(recalledMemory).optional(),
  /** For replies: the duration of the run in milliseconds, including tools. */
  elapsedMs: z.number().optional(),
  /** For completed replies: tokens of the last model call and its output. `usage` is the sum of all calls. */
  contextTokens: z.number().int().nonnegative().optional(),
  /** For replies and their steps. Not sent to models again. */
  reasoning: reasoning.optional(),
  /** The summary that models are given instead of this message and all above it. */
  compaction: compaction.optional(),
  /** Set if the message is too large for a history: its size in bytes, and whether its text was left out. Use `chat.text` to get it. */
  leftOut: z.object({ bytes: z.number().int().nonnegative(), text: z.boolean() }).optional(),
});
/** A message of a session. */
export type HistoryMessage = z.infer<typeof historyMessage>;

/** Work of a sub-agent: the call that gave it its task, and how far it is. */
const subAgentWork = z.object({
  /** Path of the session whose run called it. */
  parentPath: z.string(),
  runId: z.string(),
  toolCallId: z.string(),
  /** Its number among the sub-agents of the reply at the top, from 1. */
  number: z.number().int(),
  status: z.enum(['queued', 'running', 'done', 'failed', 'stopped', 'interrupted']),
  startedAt: z.number(),
  endedAt: z.number().optional(),
  /** Including its own sub-agents. */
  totalTokens: z.number().int().nonnegative(),
  /** USD. Missing if no price is known. */
  cost: z.number().nonnegative().optional(),
});
export type SubAgentWork = z.infer<typeof subAgentWork>;

/** The sub-agent that asks for an approval. */
export const subAgentLabel = z.object({
  title: z.string(),
  /** Path of the session at the top, in which a person follows its work. */
  chat: z.string(),
});
export type SubAgentLabel = z.infer<typeof subAgentLabel>;

/** A sub-agent of a chat. */
export const subAgentEntry = subAgentWork.extend({
  agentId: z.string(),
  sessionId: z.string(),
  title: z.string(),
  /** The tool that it is using. */
  activity: z.string().optional(),
});
export type SubAgentEntry = z.infer<typeof subAgentEntry>;

export const sessionEntry = z.object({
  agentId: z.string(),
  file: z.string(),
  /** An opaque key, `<agentId>/<sessionId>.jsonl`. */
  path: z.string(),
  /** Size of the session's JSONL export in bytes. */
  size: z.number(),
  sessionId: z.string(),
  title: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  messageCount: z.number(),
  preview: z.string(),
  pinned: z.boolean(),
  archived: z.boolean(),
  folder: z.string().nullable(),
  tags: z.array(z.string()),
  /** False if recall is off for the session. */
  recall: z.boolean().optional(),
  /** Model parameters of the session. Missing if it inherits all. */
  parameters: modelParameters.optional(),
  /** False if the session's agent gets no tools that search the web or read its pages. */
  web: z.boolean().optional(),
  /** False if the session's agent gets no tools that drive the browser. */
  browser: z.boolean().optional(),
  /** IDs of the collections attached to the session, besides those of its agent. */
  collections: z.array(id).optional(),
  /** ID of the project that the session belongs to. The project may have been deleted. */
  projectId: z.string().optional(),
  /** Name of the session’s agent, if it was removed. */
  removedAgent: z.string().optional(),
  /** A run is in progress. */
  running: z.boolean().optional(),
  /** For the session of a sub-agent: its work. */
  subAgent: subAgentWork.optional(),
});
export type SessionEntry = z.infer<typeof sessionEntry>;

export const sessionPath = z.string().max(300);
export const sessionId = id;
export const agentId = id;

export const modelEntry = z.object({
  /** `<provider>/<model_id>`. */
  key: z.string(),
  provider: z.string(),
  model_id: z.string(),
  display_name: z.string(),
  max_tokens: z.number().nullable(),
  context_window: z.number().nullable(),
  supports_tools: z.boolean(),
  supports_vision: z.boolean(),
  supports_thinking: z.boolean(),
  /** USD per million tokens; null if unknown. */
  cost_per_1m_input: z.number().nullable(),
  cost_per_1m_output: z.number().nullable(),
  /** Price of input that the provider had cached. */
  cost_per_1m_cached_input: z.number().nullable(),
  /** USD per million input tokens that are written to the cache. */
  cost_per_1m_cache_write: z.number().nullable().optional(),
});
export type ModelEntry = z.infer<typeof modelEntry>;

/** The kind of a configured provider. */
export const providerKind = z.enum([
  'openai-compatible',
  'openai',
  'anthropic',
  'google',
  'openrouter',
  'mistral',
  'groq',
  'deepseek',
  'xai',
  'ollama',
  'lmstudio',
]);
export type ProviderKind = z.infer<typeof providerKind>;

export const providerEntry = z.object({
  id: z.string(),
  name: z.string(),
  /** `guide`, `gguf`, `mlx`, `browser` and `builtin` (the browser's own model) need no configuration. */
  kind: z.enum(['guide', 'gguf', 'mlx', 'browser', 'builtin', ...providerKind.options]),
  state: z.enum(['ready', 'needs_key', 'unreachable']),
  baseUrl: z.string().optional(),
  /** Detected on this machine without configuration. */
  discovered: z.boolean().optional(),
  message: z.string().optional(),
  /** The server failed `failures` times in a row and is paused until `until`, in milliseconds since the Unix epoch. The next request after that tries it again. */
  resting: z.object({ failures: z.number().int(), until: z.number() }).optional(),
  models: z.number(),
});
export type ProviderEntry = z.infer<typeof providerEntry>;

export const providerKindEntry = z.object({
  id: providerKind,
  name: z.string(),
  /** The default base URL; null if it must be configured. */
  baseUrl: z.string().nullable(),
  needsKey: z.boolean(),
  /** Address of the page for keys or of the set-up instructions; null if there is no single one. */
  docsUrl: z.string().nullable(),
});
/** A kind of provider that can be configured. */
export type ProviderKindEntry = z.infer<typeof providerKindEntry>;

/** Workspace names have the form of agent IDs. An agent without a workspace uses the one with its own ID. */
export const workspaceName = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'must match [A-Za-z0-9_-]{1,128}');

const toolPatterns = z.array(z.string().min(1).max(200)).max(1000);

export const modelKeys = z.array(z.string().min(1).max(300)).max(10);

const subAgentSettings = z.strictObject({
  /** False for none; true to offer `agent_run` with every message. If omitted, the model finds it by search. */
  enabled: z.boolean().optional(),
  /** IDs of other agents that it may call; `*` for all. Without it, only copies of itself. */
  agents: z
    .array(z.union([id, z.literal('*')]))
    .max(100)
    .optional(),
  /** How deep sub-agents may be nested. */
  maxDepth: z.number().int().min(1).max(5).optional(),
  /** How many sub-agents of one reply may work at the same time; others wait. */
  maxParallel: z.number().int().min(1).max(16).optional(),
  /** How many sub-agents one reply may start, including nested ones. */
  maxTotal: z.number().int().min(1).max(200).optional(),
});

export const agentConfig = z.strictObject({
  name: createVisibleName(100).optional(),
  /** The key of the model. Omit for the default model. */
  model: z.string().min(1).max(300).optional(),
  /** Keys of fallback models, in order. Omit for those of `chat.fallbacks`. */
  fallbacks: modelKeys.optional(),
  systemPrompt: z.string().max(100_000).optional(),
  ...agentParameters,
  /** Names of tools; `*` matches any characters. Without `allow`, all are allowed. `deny` takes precedence. */
  tools: z.strictObject({ allow: toolPatterns.optional(), deny: toolPatterns.optional() }).optional(),
  /**
   * Groups of tools that the model gets with every message; it finds all others by search. Groups: `general`, `files`, `web`, `memory`, `automation`, `plans`, `agents`, `wiki`,
   * `drawings`, `browser`, `computer` and `mcp:<server>`; `*` matches any characters. Omit for the default tools.
   */
  toolGroups: toolPatterns.optional(),
  /** IDs of the collections that it searches, besides those of the chat. */
  collections: z.array(id).max(50).optional(),
  /** False to remove the memory tools. */
  memory: z.boolean().optional(),
  /** Sub-agents that may work for the agent. */
  subAgents: subAgentSettings.optional(),
  /** The workspace of the agent. Omit for the one with its own ID. */
  workspace: workspaceName.optional(),
  /** An emoji, or an image as a data URL. */
  avatar: z.string().min(1).max(200_000).optional(),
});
/** The settings of an agent. */
export type AgentConfig = z.infer<typeof agentConfig>;
