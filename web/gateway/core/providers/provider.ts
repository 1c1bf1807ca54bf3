import type { ModelEntry, Part, ToolCall, Usage } from '#shared/rpc/records.ts';

/** A message as a provider is asked with it. */
export interface ModelMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | Part[];
  toolCalls?: ToolCall[];
  toolCallId?: string;
  name?: string;
}

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  schema: Record<string, unknown>;
}

export interface ModelRequest {
  /** The provider's own name of the model. */
  model: string;
  messages: ModelMessage[];
  temperature?: number;
  maxTokens?: number;
  tools?: ToolSpec[];
}

/** What a provider yields while it answers. The stream ends by returning; a failure is thrown, as `ProviderError` where it is the provider's. */
export type ModelEvent =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool_call'; call: ToolCall }
  /** Real figures; without this event the run estimates. */
  | { type: 'usage'; usage: Usage }
  | { type: 'finish'; reason: 'stop' | 'length' | 'tool_calls' | 'content_filter' };

/** Where models come from. One object per configured provider, made anew when its configuration changes. */
export interface Provider {
  readonly id: string;
  readonly name: string;
  /** Streams an answer. Honours `signal` at once: the upstream request is cancelled and the stream throws its reason. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** What the server lists now. */
  models(signal: AbortSignal): Promise<ModelEntry[]>;
}

/** The provider failed: refused, broke off, went silent or sent what cannot be read. */
export class ProviderError extends Error {
  override name = 'ProviderError';
  /** The upstream's HTTP status, where it had one. */
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, detail: { status?: number; retryable?: boolean; retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: detail.cause });
    this.status = detail.status;
    this.retryable = detail.retryable ?? false;
    this.retryAfterMs = detail.retryAfterMs;
  }
}
