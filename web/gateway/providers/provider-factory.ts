import { toClause } from '#shared/clause.ts';
import type { Transcript } from '#shared/ports/transcript.ts';
import type { ProviderKind } from '#shared/rpc/record-schemas.ts';
import type { UpstreamLimits } from '#shared/upstream-limits.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../ports/fetch.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { RequestBreaker } from './request-breaker.ts';
import type { ForwardedResponse, ForwardingProvider } from './forwarding-provider.ts';
import type { MessagesProvider } from './messages-forwarding.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';
import type { EndpointProvider } from './endpoint-provider.ts';
import { getProviderKind } from '../config/sections/provider-kinds.ts';
import type { LocalRunner, RunnableModel } from './local-runner.ts';
import { type ListedModel, type ModelEvent, type ModelMessage, type ModelRequest, type Provider, ProviderError } from './provider.ts';
import type { DrawingProvider, RelayedResponse, RelayingProvider } from './relaying-provider.ts';
import type { TranscribingProvider } from './transcribing-provider.ts';
import { abortable } from '#shared/async/watchdog.ts';

/** A provider's configuration, with its secret resolved. */
export interface ProviderConfig {
  id: string;
  name: string;
  /** Default: `openai-compatible`. */
  kind?: ProviderKind | undefined;
  /** Default: the kind's URL. */
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  /**
   * Set if the key is a reference without a value: its name, and a function that waits for the value or rejects with the reason for its
   * absence.
   */
  reference?: { name: string; wait(): Promise<string> } | undefined;
}

/** Identity of a configuration: equal for configurations of the same provider. */
export function toConfigKey({ id, name, kind, baseUrl, apiKey, reference }: ProviderConfig): string {
  return JSON.stringify([id, name, kind ?? null, baseUrl ?? null, apiKey ?? null, reference?.name ?? null]);
}

/** Options to create a provider. */
interface ProviderOptions extends ProviderConfig {
  baseUrl: string;
  fetch: Fetch;
  clock: Clock;
  limits?: (() => UpstreamLimits) | undefined;
  breaker?: RequestBreaker | undefined;
  /** The server is llama.cpp or vLLM, as far as its port tells. */
  hasChatTemplates?: boolean | undefined;
}

const loadOpenAi = lazy(() => import('./openai-compatible.ts'));
const loadAnthropic = lazy(() => import('./anthropic.ts'));
const loadGoogle = lazy(() => import('./google.ts'));
const loadLocal = lazy(() => import('./local-provider.ts'));

/** A provider whose code is loaded on first use. */
class LazyProvider<P extends Provider> implements Provider {
  readonly id: string;
  readonly name: string;
  readonly #load: () => Promise<P>;

  /** `load` receives the key, if there is one. */
  constructor(
    { id, name, kind = 'openai-compatible', apiKey, reference }: ProviderConfig,
    load: (apiKey: string | undefined) => Promise<P>,
  ) {
    this.id = id;
    this.name = name;
    const loadProvider = lazy(async () => {
      const key = reference ? await resolveKey(reference, name) : apiKey;
      if (getProviderKind(kind).needsKey && !key) throw new ProviderError(`${name} needs an API key. Add it in Models.`, { status: 401 });
      return load(key);
    });
    this.#load = () =>
      loadProvider().catch((cause: unknown) => {
        if (cause instanceof ProviderError) throw cause;
        throw new ProviderError(`Part of the app for ${name} couldn’t be loaded. Try again.`, { retryable: true, cause });
      });
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    yield* (await this.getProvider(signal)).stream(request, signal);
  }

  async models(signal: AbortSignal): Promise<ListedModel[]> {
    return (await this.getProvider(signal)).models(signal);
  }

  protected getProvider(signal: AbortSignal): Promise<P> {
    return abortable(this.#load(), signal);
  }
}

class LazyEmbeddingProvider<P extends EmbeddingProvider> extends LazyProvider<P> implements EmbeddingProvider {
  async embed(body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    return (await this.getProvider(signal)).embed(body, signal);
  }
}

class LazyTranscribingProvider extends LazyEmbeddingProvider<EmbeddingProvider & TranscribingProvider> implements TranscribingProvider {
  async transcribe(...[model, request, signal]: Parameters<TranscribingProvider['transcribe']>): Promise<Transcript> {
    return (await this.getProvider(signal)).transcribe(model, request, signal);
  }

  async listTranscribers(signal: AbortSignal): Promise<string[]> {
    return (await this.getProvider(signal)).listTranscribers(signal);
  }
}

class LazyGoogle extends LazyEmbeddingProvider<EmbeddingProvider & DrawingProvider> implements DrawingProvider {
  async *draw(model: string, content: ModelMessage['content'], signal: AbortSignal): AsyncGenerator<ModelEvent> {
    yield* (await this.getProvider(signal)).draw(model, content, signal);
  }
}

type OpenAiProvider = ForwardingProvider & EmbeddingProvider & EndpointProvider & RelayingProvider & DrawingProvider;

class LazyOpenAi extends LazyEmbeddingProvider<OpenAiProvider> implements ForwardingProvider, EndpointProvider, RelayingProvider {
  async forward(...[body, signal, options]: Parameters<ForwardingProvider['forward']>): Promise<ForwardedResponse> {
    return (await this.getProvider(signal)).forward(body, signal, options);
  }

  async post(...[path, body, signal]: Parameters<EndpointProvider['post']>): Promise<unknown> {
    return (await this.getProvider(signal)).post(path, body, signal);
  }

  async toEndFault(...[end, signal]: Parameters<ForwardingProvider['toEndFault']>): Promise<unknown> {
    return (await this.getProvider(signal)).toEndFault(end, signal);
  }

  async relay(...[path, body, signal, options]: Parameters<RelayingProvider['relay']>): Promise<RelayedResponse> {
    return (await this.getProvider(signal)).relay(path, body, signal, options);
  }
}

class LazyOpenRouter extends LazyOpenAi implements DrawingProvider {
  async *draw(model: string, content: ModelMessage['content'], signal: AbortSignal): AsyncGenerator<ModelEvent> {
    yield* (await this.getProvider(signal)).draw(model, content, signal);
  }
}

class LazyAnthropic extends LazyProvider<MessagesProvider> implements MessagesProvider {
  async forwardMessages(...[body, signal, options]: Parameters<MessagesProvider['forwardMessages']>): Promise<ForwardedResponse> {
    return (await this.getProvider(signal)).forwardMessages(body, signal, options);
  }

  async countTokens(...[body, signal, headers]: Parameters<MessagesProvider['countTokens']>): Promise<unknown> {
    return (await this.getProvider(signal)).countTokens(body, signal, headers);
  }

  async toEndFault(...[end, signal]: Parameters<MessagesProvider['toEndFault']>): Promise<unknown> {
    return (await this.getProvider(signal)).toEndFault(end, signal);
  }
}

/** Without its key, no request is sent: the server might treat it as another user's. */
const resolveKey = (reference: NonNullable<ProviderConfig['reference']>, name: string): Promise<string> =>
  reference.wait().catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ProviderError(`${name} has no API key: ${toClause(reason)}.`, { status: 401, cause });
  });

export function createProvider(options: ProviderOptions): Provider {
  switch (options.kind) {
    case 'anthropic':
      return new LazyAnthropic(options, async (apiKey) => new (await loadAnthropic()).Anthropic({ ...options, apiKey }));
    case 'google':
      return new LazyGoogle(options, async (apiKey) => new (await loadGoogle()).Google({ ...options, apiKey }));
    case 'openrouter':
      return new LazyOpenRouter(options, async (apiKey) => new (await loadOpenAi()).OpenAiCompatible({ ...options, apiKey }));
    default:
      return new LazyOpenAi(options, async (apiKey) => new (await loadOpenAi()).OpenAiCompatible({ ...options, apiKey }));
  }
}

/** Kinds that run models without a server, in the order in which they are listed. */
export const LOCAL_KINDS = ['gguf', 'mlx', 'browser', 'builtin'] as const;
export type LocalKind = (typeof LOCAL_KINDS)[number];

const LOCAL_NAMES: Readonly<Record<LocalKind, string>> = {
  gguf: 'Local models',
  mlx: 'Local models (MLX)',
  browser: 'In this browser',
  builtin: 'Built into this browser',
};

/** Provider of models that Perch runs itself; needs no configuration. */
export function createLocalProvider(id: LocalKind, runner: LocalRunner<RunnableModel>): EmbeddingProvider {
  const identity = { id, name: LOCAL_NAMES[id] };
  const load = async () => new (await loadLocal()).LocalProvider({ ...identity, runner });
  return runner.transcribe ? new LazyTranscribingProvider(identity, load) : new LazyEmbeddingProvider(identity, load);
}
