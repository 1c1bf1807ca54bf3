import type { ProviderState } from '../storage/records/provider-state.ts';
import type { MessagePart, ToolCall, Usage } from '#shared/rpc/record-schemas.ts';
import type { Citation, CitedSource } from '#shared/rpc/passage.ts';
import type { ContextOverflow } from './context-overflow.ts';

/** A message of a request to a provider. */
export interface ModelMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | MessagePart[];
  toolCalls?: ToolCall[];
  toolCallId?: string;
  name?: string;
  /** Data that the provider sent with this turn and requires back with it (event `keep`). */
  kept?: ProviderState;
  /** Key of the model that wrote the turn; other models do not receive `kept`. */
  model?: string | undefined;
  /** Context that models, but not the guide, receive before the content, or after it in a stateless call. */
  context?: { text: string; position: 'before' | 'after' };
  /**
   * Set for messages of a session, whose tools can read the attachments. `earlier`: sent in a previous turn, so shown as well as possible;
   * only files sent `now` must be shown exactly.
   */
  inSession?: 'earlier' | 'now';
  /** How the message's files were shown when it was sent. */
  files?: { readers: readonly string[]; exact: boolean } | undefined;
  /** The prompt up to here stays the same in later requests for this long: providers that cache on request are asked to do so. */
  cacheBreakpoint?: CacheLifetime;
  /** Outside sources of text that a caller quotes in its message, such as documents. Not sent to providers. */
  outside?: readonly string[];
}

export type CacheLifetime = '5m' | '1h';

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  schema: Record<string, unknown>;
  /** The arguments must match the schema exactly. */
  strict?: boolean;
}

/** Tool choice: never, as the model likes, at least one call, or this tool. */
type ToolChoice = 'none' | 'auto' | 'required' | { name: string };

/** Format of the answer's text. */
export type ResponseFormat =
  { type: 'json_object' } | { type: 'json_schema'; name: string; description?: string; schema: Record<string, unknown>; strict?: boolean };

/** The schema of an answer with the caller's description, for APIs that have no other field for it. */
export function toDescribedSchema({ schema, description }: Extract<ResponseFormat, { type: 'json_schema' }>): Record<string, unknown> {
  if (!description) return schema;
  const ownDescription = schema['description'];
  return { ...schema, description: typeof ownDescription === 'string' ? `${description}\n${ownDescription}` : description };
}

export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Generation options: how to answer, in addition to the prompt. */
export interface GenerationOptions {
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  toolChoice?: ToolChoice | undefined;
  /** False: at most one tool call at a time. */
  parallelToolCalls?: boolean | undefined;
  responseFormat?: ResponseFormat | undefined;
  topP?: number | undefined;
  /** Stop sequences, not included in the answer. */
  stop?: string[] | undefined;
  seed?: number | undefined;
  reasoningEffort?: ReasoningEffort | undefined;
  presencePenalty?: number | undefined;
  frequencyPenalty?: number | undefined;
  /** Length of the answer's text, for models that have a parameter for it. Others ignore it. */
  verbosity?: 'low' | 'medium' | 'high' | undefined;
}

export interface ModelRequest extends GenerationOptions {
  /** The provider's own id of the model. */
  model: string;
  messages: ModelMessage[];
  tools?: ToolSpec[] | undefined;
  /** Tools that occur in the messages but can no longer be called, for an API that requires their declaration. */
  spentTools?: ToolSpec[] | undefined;
  /** Tools that a model loads with `tool_search`, for a provider that supports it; others ignore them. */
  deferredTools?: ToolSpec[] | undefined;
  /** For API clients: an option that the provider does not support fails with `UnsupportedOptionError`; nothing is omitted or clamped. */
  exact?: boolean | undefined;
  /**
   * Options from the settings of a chat or agent, not requested by an API client: they may be omitted or clamped regardless of `exact`,
   * and never fail the request.
   */
  ownOptions?: ReadonlySet<string> | undefined;
  /** The caller is not the owner: Perch's knowledge about the owner must not be used. */
  stranger?: boolean | undefined;
  /** Agent that sends the request, if any. */
  agentId?: string | undefined;
  /**
   * The same in all requests of a chat, and without personal data: providers route by it, so that a prompt hits its cache. Undefined if
   * there may be no further request.
   */
  cacheKey?: string | undefined;
  /** Fields of the caller's request for servers with the OpenAI format. Other providers ignore them. */
  passed?: Readonly<Record<string, unknown>> | undefined;
  /** Called if the server rejects a field of `passed`, or of an option in `ownOptions`; the request is then sent without it. */
  onRefusedField?: ((field: string) => void) | undefined;
  /** Invalid arguments of a call are reported with it (`unread`) instead of ending the answer, so that the model can be told. */
  reportsUnread?: boolean | undefined;
}

/** Whether an option comes from settings, so that it may be omitted. */
export const isOwnOption = ({ ownOptions }: Pick<ModelRequest, 'ownOptions'>, option: keyof GenerationOptions): boolean =>
  ownOptions?.has(option) ?? false;

/** For APIs that do not support JSON mode together with tools: JSON mode from settings is then left to the instructions. */
export const withoutOwnFormatIfTools = (request: ModelRequest): ModelRequest =>
  request.tools?.length && isOwnOption(request, 'responseFormat') ? { ...request, responseFormat: undefined } : request;

/** Names of the tools that the model may use. */
export const getToolNames = ({ tools = [] }: Pick<ModelRequest, 'tools'>): ReadonlySet<string> => new Set(tools.map(({ name }) => name));

/** Event of a provider's answer. The stream ends by returning; a failure is thrown, as `ProviderError` if it is the provider's. */
export type ModelEvent =
  | { type: 'text'; text: string }
  /** Message of the model, or its server, in place of a refused answer. */
  | { type: 'refusal'; text: string }
  | { type: 'reasoning'; text: string }
  /** Image that the model generated, in base64. */
  | { type: 'picture'; picture: { mimeType: string; data: string } }
  /**
   * Sent with each piece of a call that the model writes: the tools called so far. A failure here can be retried, as nothing was shown yet.
   */
  | { type: 'calling'; tools: string[] }
  /** `unread`: why the arguments, which are then empty, could not be parsed. */
  | { type: 'tool_call'; call: ToolCall; unread?: string }
  /** Claims of the text after `start` that a source supports. Only agents send it, before `finish`. */
  | { type: 'citations'; start: number; citations: Citation[]; sources: CitedSource[] }
  /** To be sent back with this turn once its tools have run. */
  | { type: 'keep'; kept: ProviderState }
  /** Actual usage; without this event, the run estimates it. */
  | { type: 'usage'; usage: Usage; reasoningTokens?: number }
  /** `stopSequence`: the text at which the model stopped, if the server reports it. */
  | { type: 'finish'; reason: 'stop' | 'length' | 'tool_calls' | 'content_filter'; stopSequence?: string };

/** A model as its server lists it; null for values that the server does not report. */
export interface ListedModel {
  /** The provider's own id of the model. */
  id: string;
  name: string | null;
  maxTokens: number | null;
  contextWindow: number | null;
  tools: boolean | null;
  vision: boolean | null;
  thinking: boolean | null;
  /** USD per million tokens. `cacheWrite`: for input written to the cache; omitted if it costs the same as other input. */
  price: { input: number; output: number; cachedInput: number | null; cacheWrite?: number | null } | null;
}

/** A listed model of which only the id is known. */
export const createListedModel = (id: string, values: Partial<ListedModel> = {}): ListedModel => ({
  id,
  name: null,
  maxTokens: null,
  contextWindow: null,
  tools: null,
  vision: null,
  thinking: null,
  price: null,
  ...values,
});

/** Source of models. One object per configured provider, recreated when its configuration changes. */
export interface Provider {
  readonly id: string;
  readonly name: string;
  /** Streams an answer. Aborting `signal` immediately cancels the upstream request, and the stream throws its reason. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** Fetches the server's current list. */
  models(signal: AbortSignal): Promise<ListedModel[]>;
}

interface ProviderErrorOptions {
  status?: number | undefined;
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
  silent?: boolean | undefined;
  cutOff?: boolean | undefined;
  isRequestFault?: boolean | undefined;
  contextOverflow?: ContextOverflow | undefined;
  param?: string | undefined;
  code?: string | undefined;
  cause?: unknown;
}

/** Statuses of an invalid request: neither a retry nor another model helps. */
const REQUEST_ERROR_STATUSES = new Set([400, 413, 422]);

/** The provider failed: it rejected the request, closed the connection, timed out or sent invalid data. */
export class ProviderError extends Error {
  override name = 'ProviderError';
  /** The upstream's HTTP status, if it responded. */
  readonly status: number | undefined;
  /** The same request may succeed later. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** Timed out, so it is not retried immediately. */
  readonly silent: boolean;
  /** The connection to the bridge was lost while the answer came. */
  readonly cutOff: boolean;
  /** The request is at fault, not the provider. */
  readonly isRequestFault: boolean;
  /** The prompt does not fit the model's context. */
  readonly contextOverflow: ContextOverflow | undefined;
  /** The request's parameter at fault, as the server names it. */
  readonly param: string | undefined;
  /** The server's error code, for clients. */
  readonly code: string | undefined;
  /** Fields of the error that clients of Anthropic's API act on. */
  details: Record<string, unknown> | undefined;

  constructor(message: string, detail: ProviderErrorOptions = {}) {
    super(message, { cause: detail.cause });
    this.status = detail.status;
    this.retryable = detail.retryable ?? false;
    this.retryAfterMs = detail.retryAfterMs;
    this.silent = detail.silent ?? false;
    this.cutOff = detail.cutOff ?? false;
    this.contextOverflow = detail.contextOverflow;
    this.param = detail.param;
    this.code = detail.code;
    this.isRequestFault = detail.isRequestFault ?? (detail.status !== undefined && REQUEST_ERROR_STATUSES.has(detail.status));
  }
}

/** The provider does not support an option of the request. */
export class UnsupportedOptionError extends ProviderError {
  override name = 'UnsupportedOptionError';
  /** The unsupported part of the request. */
  readonly field: keyof ModelRequest;

  constructor(field: keyof ModelRequest, message: string) {
    super(message, { status: 400 });
    this.field = field;
  }
}
