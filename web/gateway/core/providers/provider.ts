import type { Part, ToolCall, Usage } from '#shared/rpc/records.ts';
import type { TooLong } from './too-long.ts';

/** A message as a provider is asked with it. */
export interface ModelMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | Part[];
  toolCalls?: ToolCall[];
  toolCallId?: string;
  name?: string;
  /** What the provider gave with this turn and wants back with it (event `keep`). */
  kept?: Kept;
  /** Key of the model that wrote the turn: others are not given what its provider kept. */
  model?: string | undefined;
  /** Context that models, but not the guide, are given in front of the content, or behind it in a stateless call. */
  context?: { text: string; position: 'before' | 'after' };
  /** Of a session, whose tools find what is attached to it. `earlier`: sent before, so that it is shown as well as may be; only what is sent `now` has to be given exactly. */
  inSession?: 'earlier' | 'now';
  /** How the message's files were shown when it was sent. */
  files?: { readers: readonly string[]; exact: boolean } | undefined;
  /** The prompt up to here stays the same in later requests, for so long: providers that cache on request are asked to. */
  cacheBreakpoint?: CacheLifetime;
}

export type CacheLifetime = '5m' | '1h';

/** A turn's part that only its provider can read, such as signed thoughts. It is stored with the turn. */
export interface Kept {
  /** The wire that it is written in. */
  wire: string;
  value: unknown;
}

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  schema: Record<string, unknown>;
  /** The arguments have to fit the schema to the letter. */
  strict?: boolean;
}

/** Whether tools are called: never, as the model likes, at least one, or this one. */
export type ToolChoice = 'none' | 'auto' | 'required' | { name: string };

/** The form of the answer's text. */
export type ResponseFormat =
  { type: 'json_object' } | { type: 'json_schema'; name: string; description?: string; schema: Record<string, unknown>; strict?: boolean };

/** The schema of an answer with what the caller says of it, for APIs that have no other place for that. */
export function describedSchema({ schema, description }: Extract<ResponseFormat, { type: 'json_schema' }>): Record<string, unknown> {
  if (!description) return schema;
  const own = schema['description'];
  return { ...schema, description: typeof own === 'string' ? `${description}\n${own}` : description };
}

export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** What is wanted of the answer, beside what is asked. */
export interface Wishes {
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  toolChoice?: ToolChoice | undefined;
  /** False: one tool call at a time. */
  parallelToolCalls?: boolean | undefined;
  responseFormat?: ResponseFormat | undefined;
  topP?: number | undefined;
  /** Texts before which the answer ends. */
  stop?: string[] | undefined;
  seed?: number | undefined;
  reasoningEffort?: ReasoningEffort | undefined;
  presencePenalty?: number | undefined;
  frequencyPenalty?: number | undefined;
}

export interface ModelRequest extends Wishes {
  /** The provider's own name of the model. */
  model: string;
  messages: ModelMessage[];
  tools?: ToolSpec[] | undefined;
  /** Tools that were called in the messages and may be called no more, for an API that wants them declared all the same. */
  spentTools?: ToolSpec[] | undefined;
  /** Tools that a model loads by `tool_search`, for a provider that can load them so; others leave them out. */
  deferredTools?: ToolSpec[] | undefined;
  /** Programs want it to the letter: what the provider cannot honour is refused (`Unsupported`), nothing is left out or lessened. */
  exact?: boolean | undefined;
  /** The temperature is the agent's own, which no program has asked for: it may be left out or lessened, whatever `exact` says. */
  ownTemperature?: boolean | undefined;
  /** Somebody else than the owner asks: what Perch itself knows of the owner is not for them. */
  stranger?: boolean | undefined;
  /** The agent that asks, where one does. */
  agentId?: string | undefined;
  /** The same in all requests of a chat, and without personal data: what providers route by, so that a prompt meets its cache. Undefined: this may be the only request. */
  cacheKey?: string | undefined;
  /** Fields of the caller's request for servers of OpenAI's format. Other providers do not read them. */
  passed?: Readonly<Record<string, unknown>> | undefined;
  /** The server refuses a field of `passed`, and is asked without it. */
  onRefusedField?: ((field: string) => void) | undefined;
  /** Arguments of a call that cannot be read are told with it (`unread`), and do not end the answer: who runs the tools tells the model. */
  tellsUnread?: boolean | undefined;
}

/** Names of the tools that the model may use. */
export const toolNames = ({ tools = [] }: Pick<ModelRequest, 'tools'>): ReadonlySet<string> => new Set(tools.map(({ name }) => name));

/** What a provider yields while it answers. The stream ends by returning; a failure is thrown, as `ProviderError` where it is the provider's. */
export type ModelEvent =
  | { type: 'text'; text: string }
  /** What the model, or who serves it, says in place of an answer that is refused. */
  | { type: 'refusal'; text: string }
  | { type: 'reasoning'; text: string }
  /** A picture that the model made, in Base64. */
  | { type: 'picture'; picture: { mimeType: string; data: string } }
  /** With each piece of a call that the model writes: the tools of all that it has begun so far. What fails here has shown nothing yet. */
  | { type: 'calling'; tools: string[] }
  /** `unread`: why its arguments, which are then empty, could not be read. */
  | { type: 'tool_call'; call: ToolCall; unread?: string }
  /** To be given back with this turn when its tools have run. */
  | { type: 'keep'; kept: Kept }
  /** Real figures; without this event the run estimates. */
  | { type: 'usage'; usage: Usage; reasoningTokens?: number }
  /** `stopSequence`: the text at which the model stopped, if the server tells. */
  | { type: 'finish'; reason: 'stop' | 'length' | 'tool_calls' | 'content_filter'; stopSequence?: string };

/** A model as its server lists it; null for what the server does not tell. */
export interface ListedModel {
  /** The provider's own name of it. */
  id: string;
  name: string | null;
  maxTokens: number | null;
  contextWindow: number | null;
  tools: boolean | null;
  vision: boolean | null;
  thinking: boolean | null;
  /** USD per million tokens. `cacheWrite`: of input that is written to the cache; left out if it costs what other input costs. */
  price: { input: number; output: number; cachedInput: number | null; cacheWrite?: number | null } | null;
}

/** A listed model of which only the name is known. */
export const listedModel = (id: string, known: Partial<ListedModel> = {}): ListedModel => ({
  id,
  name: null,
  maxTokens: null,
  contextWindow: null,
  tools: null,
  vision: null,
  thinking: null,
  price: null,
  ...known,
});

/** Where models come from. One object per configured provider, made anew when its configuration changes. */
export interface Provider {
  readonly id: string;
  readonly name: string;
  /** Streams an answer. Honours `signal` at once: the upstream request is cancelled and the stream throws its reason. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** What the server lists now. */
  models(signal: AbortSignal): Promise<ListedModel[]>;
}

interface ProviderErrorDetail {
  status?: number | undefined;
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
  silent?: boolean | undefined;
  cutOff?: boolean | undefined;
  ofRequest?: boolean | undefined;
  tooLong?: TooLong | undefined;
  param?: string | undefined;
  code?: string | undefined;
  cause?: unknown;
}

/** Statuses that tell of the request: neither another try nor another model helps. */
const OF_REQUEST = new Set([400, 413, 422]);

/** The provider failed: refused, broke off, went silent or sent what cannot be read. */
export class ProviderError extends Error {
  override name = 'ProviderError';
  /** The upstream's HTTP status, where it had one. */
  readonly status: number | undefined;
  /** The same request may succeed later. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** It said nothing for so long that it is not asked again at once. */
  readonly silent: boolean;
  /** The connection to the bridge was lost while the answer came. */
  readonly cutOff: boolean;
  /** What was asked is at fault, not who was asked. */
  readonly ofRequest: boolean;
  /** The prompt does not fit the model's context. */
  readonly tooLong: TooLong | undefined;
  /** The request's parameter that is at fault, as the server names it. */
  readonly param: string | undefined;
  /** The server's own word for what is wrong, by which programs know it. */
  readonly code: string | undefined;
  /** Fields of the fault that programs of Anthropic's API act on. */
  details: Record<string, unknown> | undefined;

  constructor(message: string, detail: ProviderErrorDetail = {}) {
    super(message, { cause: detail.cause });
    this.status = detail.status;
    this.retryable = detail.retryable ?? false;
    this.retryAfterMs = detail.retryAfterMs;
    this.silent = detail.silent ?? false;
    this.cutOff = detail.cutOff ?? false;
    this.tooLong = detail.tooLong;
    this.param = detail.param;
    this.code = detail.code;
    this.ofRequest = detail.ofRequest ?? (detail.status !== undefined && OF_REQUEST.has(detail.status));
  }
}

/** A provider that cannot do what a request asks of it. */
export class Unsupported extends ProviderError {
  override name = 'Unsupported';
  /** The part of the request that this is about. */
  readonly field: keyof ModelRequest;

  constructor(field: keyof ModelRequest, message: string) {
    super(message, { status: 400 });
    this.field = field;
  }
}
