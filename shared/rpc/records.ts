import { id } from './frames.ts';
import { visibleName } from './visible-name.ts';
import { z } from './zod.ts';

/** Token counts and cost of a run; `estimated` where the provider gave none (decisions, "Chat"). */
export const usage = z.object({
  inputTokens: z.number().int().nonnegative(),
  outputTokens: z.number().int().nonnegative(),
  totalTokens: z.number().int().nonnegative(),
  cacheReadTokens: z.number().int().nonnegative().optional(),
  /** USD. */
  cost: z.number().nonnegative().optional(),
  estimated: z.boolean().optional(),
});
export type Usage = z.infer<typeof usage>;

export const textPart = z.object({ type: z.literal('text'), text: z.string() });
export const imagePart = z.object({ type: z.literal('image'), mimeType: z.string(), data: z.string(), filename: z.string().optional() });
export const filePart = z.object({ type: z.literal('file'), mimeType: z.string(), data: z.string(), filename: z.string() });
export const part = z.discriminatedUnion('type', [textPart, imagePart, filePart]);
/** A piece of a message; `data` is base64. */
export type Part = z.infer<typeof part>;

export const toolCall = z.object({ id: z.string(), tool: z.string(), args: z.record(z.string(), z.unknown()) });
export type ToolCall = z.infer<typeof toolCall>;

export const attachmentInfo = z.object({ filename: z.string(), mimeType: z.string(), size: z.number() });

export const recalledMemory = z.object({
  id: z.string(),
  /** What of it the model was told, on one line. */
  text: z.string(),
  category: z.string().optional(),
  /** Where it comes from, in words. */
  source: z.string(),
  /** When it was noted, in milliseconds since 1970; null where it does not age. */
  at: z.number().nullable(),
  /** Words of what was asked that it has, or only what stands beside it has; `timely`: it is of a time that was named; `alike`: in meaning, at most 1, where a model compares that. */
  why: z.object({ words: z.array(z.string()), beside: z.array(z.string()), timely: z.boolean(), alike: z.number().optional() }),
  /** How telling it was for what was asked: 0 to 1. */
  relevance: z.number().optional(),
});
/** A memory that a model was told of before it replied. */
export type RecalledMemory = z.infer<typeof recalledMemory>;

/** What a model thought before it said something, where its provider tells. */
export const reasoning = z.object({
  /** Markdown; its first 32,000 characters. */
  text: z.string(),
  /** How long it took, from its first word on. */
  ms: z.number(),
  /** It was longer. */
  cut: z.boolean().optional(),
});
export type Reasoning = z.infer<typeof reasoning>;

/** What a conversation was summarised to for its models; the messages themselves stay (decisions, "Memory …"). */
export const compaction = z.object({
  /** Markdown, with a heading for each part of a `StructuredSummary` (interface document 2, section 2.5). */
  summary: z.string(),
  trigger: z.enum(['threshold', 'manual', 'overflow']),
  /** How many messages it is of, those of the summaries before it included. */
  messages: z.number().int(),
  /** Of the conversation as models are told it, before and after. */
  tokensBefore: z.number().int(),
  tokensAfter: z.number().int(),
  /** The key of the model that has written it. */
  model: z.string(),
  /** Milliseconds since 1970. */
  at: z.number(),
});
export type Compaction = z.infer<typeof compaction>;

export const historyMessage = z.object({
  id: z.string(),
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  content: z.union([z.string(), z.array(part)]),
  /** Milliseconds since 1970. */
  timestamp: z.number(),
  parentId: z.string().nullable().optional(),
  toolCalls: z.array(toolCall).optional(),
  toolCallId: z.string().optional(),
  name: z.string().optional(),
  usage: usage.optional(),
  model: z.string().optional(),
  /** The reply was stopped by a person; what had come is kept. */
  aborted: z.boolean().optional(),
  /** The host went away while the reply was written; what had come is kept, and resend is offered. */
  interrupted: z.boolean().optional(),
  /** The run failed after this partial reply. */
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  attachments: z.array(attachmentInfo).optional(),
  /** Of a reply: what was recalled for it. */
  recalled: z.array(recalledMemory).optional(),
  /** Of a reply: milliseconds from its run's beginning to its end, tools included. */
  elapsedMs: z.number().optional(),
  /** Of a reply that ended well: tokens of what its model was asked last, and said to that; `usage` is of all that was asked. */
  contextTokens: z.number().int().nonnegative().optional(),
  /** Of a reply, or a step of one: models are not told of it again. */
  reasoning: reasoning.optional(),
  /** Models are told this summary in place of this message and all above it. */
  compaction: compaction.optional(),
  /** It is larger than a history gives: its bytes, and whether its text is among what is left out, which `chat.text` then has. */
  leftOut: z.object({ bytes: z.number().int().nonnegative(), text: z.boolean() }).optional(),
});
/** A message of a session's history (decisions, "Chat"). */
export type HistoryMessage = z.infer<typeof historyMessage>;

export const sessionEntry = z.object({
  agentId: z.string(),
  file: z.string(),
  /** Opaque key `<agentId>/<sessionId>.jsonl`. */
  path: z.string(),
  /** Bytes of the session's JSONL export. */
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
  /** False: nothing is recalled before replies in it. */
  recall: z.boolean().optional(),
  /** A run is under way in it. */
  running: z.boolean().optional(),
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
  /** USD per million tokens; null where unknown. */
  cost_per_1m_input: z.number().nullable(),
  cost_per_1m_output: z.number().nullable(),
  /** Of input that the provider still had from an earlier call. */
  cost_per_1m_cached_input: z.number().nullable(),
});
export type ModelEntry = z.infer<typeof modelEntry>;

/** What a provider speaks and whose it is (interface document 1, section 4.1: `models.providers`). */
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
  /** Found on this machine without being configured. */
  discovered: z.boolean().optional(),
  message: z.string().optional(),
  /** Its server has failed so many times in a row that it is left alone until then, milliseconds since 1970; the next request after that tries it. */
  resting: z.object({ failures: z.number().int(), until: z.number() }).optional(),
  models: z.number(),
});
export type ProviderEntry = z.infer<typeof providerEntry>;

export const kindEntry = z.object({
  id: providerKind,
  name: z.string(),
  /** Where it is unless the configuration says otherwise; null where it has to say so. */
  baseUrl: z.string().nullable(),
  needsKey: z.boolean(),
  /** Where a key is got, or how the server is set up; null where that depends. */
  docsUrl: z.string().nullable(),
});
/** A kind of provider that can be configured. */
export type KindEntry = z.infer<typeof kindEntry>;

/** Workspaces are called as agents are: one that names none has the workspace of its own id. */
export const workspaceName = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'must match [A-Za-z0-9_-]{1,128}');

const toolPatterns = z.array(z.string().min(1).max(200)).max(1000);

export const modelKeys = z.array(z.string().min(1).max(300)).max(10);

export const agentConfig = z.strictObject({
  name: visibleName(100).optional(),
  /** The model's key; the default model where left out. */
  model: z.string().min(1).max(300).optional(),
  /** Keys of models that take over, in this order, where the one before cannot answer; those of `chat.fallbacks` where left out. */
  fallbacks: modelKeys.optional(),
  systemPrompt: z.string().max(100_000).optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** Names of tools, `*` for any characters. Without `allow` all are allowed; `deny` decides over it. */
  tools: z.strictObject({ allow: toolPatterns.optional(), deny: toolPatterns.optional() }).optional(),
  /** False: without the tools that remember. */
  memory: z.boolean().optional(),
  /** The workspace that its files lie in; the one of its own id where left out. */
  workspace: workspaceName.optional(),
  /** An emoji, or an image as a data URL. */
  avatar: z.string().min(1).max(200_000).optional(),
});
/** What is set of an agent (decisions, "Sessions, agents …"). */
export type AgentConfig = z.infer<typeof agentConfig>;
