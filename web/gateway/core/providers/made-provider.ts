import { toClause } from '#shared/clause.ts';
import type { ProviderKind } from '#shared/rpc/records.ts';
import type { UpstreamLimits } from '#shared/upstream-limits.ts';
import type { Clock } from '../clock.ts';
import type { Fetch } from '../fetch.ts';
import { lazy } from '../lazy.ts';
import type { Breaker } from './breaker.ts';
import type { Forwarded, ForwardingProvider } from './forwarding.ts';
import type { MessagesProvider } from './messages-forwarding.ts';
import type { EmbeddingProvider } from './embedding.ts';
import type { EndpointProvider } from './endpoint.ts';
import { kindOf } from './kinds.ts';
import type { LocalRunner, Runnable } from './local-runner.ts';
import { type ListedModel, type ModelEvent, type ModelMessage, type ModelRequest, type Provider, ProviderError } from './provider.ts';
import type { DrawingProvider, Relayed, RelayingProvider } from './relaying.ts';
import { abortable } from './watchdog.ts';

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
export function makeKey({ id, name, kind, baseUrl, apiKey, reference }: ProviderConfig): string {
  return JSON.stringify([id, name, kind ?? null, baseUrl ?? null, apiKey ?? null, reference?.name ?? null]);
}

/** Options to create a provider. */
export interface Making extends ProviderConfig {
  baseUrl: string;
  fetch: Fetch;
  clock: Clock;
  limits?: (() => UpstreamLimits) | undefined;
  breaker?: Breaker | undefined;
}

const openAi = lazy(() => import('./openai-compatible.ts'));
const anthropic = lazy(() => import('./anthropic.ts'));
const google = lazy(() => import('./google.ts'));
const local = lazy(() => import('./local-provider.ts'));

/** A provider whose code is loaded on first use. */
class Deferred<P extends Provider> implements Provider {
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
    const loaded = lazy(async () => {
      const key = reference ? await valueOf(reference, name) : apiKey;
      if (kindOf(kind).needsKey && !key) throw new ProviderError(`${name} needs an API key. Add it in Models.`, { status: 401 });
      return load(key);
    });
    this.#load = () =>
      loaded().catch((cause: unknown) => {
        if (cause instanceof ProviderError) throw cause;
        throw new ProviderError(`Part of the app for ${name} couldn’t be loaded. Try again.`, { retryable: true, cause });
      });
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    yield* (await this.loaded(signal)).stream(request, signal);
  }

  async models(signal: AbortSignal): Promise<ListedModel[]> {
    return (await this.loaded(signal)).models(signal);
  }

  protected loaded(signal: AbortSignal): Promise<P> {
    return abortable(this.#load(), signal);
  }
}

class DeferredEmbedding<P extends EmbeddingProvider> extends Deferred<P> implements EmbeddingProvider {
  async embed(body: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    return (await this.loaded(signal)).embed(body, signal);
  }
}

class DeferredGoogle extends DeferredEmbedding<EmbeddingProvider & DrawingProvider> implements DrawingProvider {
  async *draw(model: string, content: ModelMessage['content'], signal: AbortSignal): AsyncGenerator<ModelEvent> {
    yield* (await this.loaded(signal)).draw(model, content, signal);
  }
}

type OpenAiFormat = ForwardingProvider & EmbeddingProvider & EndpointProvider & RelayingProvider & DrawingProvider;

class DeferredForwarding extends DeferredEmbedding<OpenAiFormat> implements ForwardingProvider, EndpointProvider, RelayingProvider {
  async forward(...[body, signal, options]: Parameters<ForwardingProvider['forward']>): Promise<Forwarded> {
    return (await this.loaded(signal)).forward(body, signal, options);
  }

  async post(...[path, body, signal]: Parameters<EndpointProvider['post']>): Promise<unknown> {
    return (await this.loaded(signal)).post(path, body, signal);
  }

  async faultOfEnd(...[end, signal]: Parameters<ForwardingProvider['faultOfEnd']>): Promise<unknown> {
    return (await this.loaded(signal)).faultOfEnd(end, signal);
  }

  async relay(...[path, body, signal, options]: Parameters<RelayingProvider['relay']>): Promise<Relayed> {
    return (await this.loaded(signal)).relay(path, body, signal, options);
  }
}

class DeferredOpenRouter extends DeferredForwarding implements DrawingProvider {
  async *draw(model: string, content: ModelMessage['content'], signal: AbortSignal): AsyncGenerator<ModelEvent> {
    yield* (await this.loaded(signal)).draw(model, content, signal);
  }
}

class DeferredMessages extends Deferred<MessagesProvider> implements MessagesProvider {
  async forwardMessages(...[body, signal, options]: Parameters<MessagesProvider['forwardMessages']>): Promise<Forwarded> {
    return (await this.loaded(signal)).forwardMessages(body, signal, options);
  }

  async countTokens(...[body, signal, headers]: Parameters<MessagesProvider['countTokens']>): Promise<unknown> {
    return (await this.loaded(signal)).countTokens(body, signal, headers);
  }

  async faultOfEnd(...[end, signal]: Parameters<MessagesProvider['faultOfEnd']>): Promise<unknown> {
    return (await this.loaded(signal)).faultOfEnd(end, signal);
  }
}

/** Without its key, no request is sent: the server might treat it as another user's. */
const valueOf = (reference: NonNullable<ProviderConfig['reference']>, name: string): Promise<string> =>
  reference.wait().catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ProviderError(`${name} has no API key: ${toClause(why)}.`, { status: 401, cause });
  });

export function makeProvider(making: Making): Provider {
  switch (making.kind) {
    case 'anthropic':
      return new DeferredMessages(making, async (apiKey) => new (await anthropic()).Anthropic({ ...making, apiKey }));
    case 'google':
      return new DeferredGoogle(making, async (apiKey) => new (await google()).Google({ ...making, apiKey }));
    case 'openrouter':
      return new DeferredOpenRouter(making, async (apiKey) => new (await openAi()).OpenAiCompatible({ ...making, apiKey }));
    default:
      return new DeferredForwarding(making, async (apiKey) => new (await openAi()).OpenAiCompatible({ ...making, apiKey }));
  }
}

/** Kinds that run models without a server, in the order in which they are listed. */
export const OWN_KINDS = ['gguf', 'mlx', 'browser', 'builtin'] as const;
export type OwnKind = (typeof OWN_KINDS)[number];

const OWN_NAMES: Readonly<Record<OwnKind, string>> = {
  gguf: 'Local models',
  mlx: 'Local models (MLX)',
  browser: 'In this browser',
  builtin: 'Built into this browser',
};

/** Provider of models that Perch runs itself; needs no configuration. */
export function localProvider(id: OwnKind, runner: LocalRunner<Runnable>): EmbeddingProvider {
  const named = { id, name: OWN_NAMES[id] };
  return new DeferredEmbedding(named, async () => new (await local()).LocalProvider({ ...named, runner }));
}
