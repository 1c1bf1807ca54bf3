import type { ProviderKind } from '#shared/rpc/records.ts';
import type { UpstreamLimits } from '#shared/upstream-limits.ts';
import type { Clock } from '../clock.ts';
import type { Fetch } from '../fetch.ts';
import { lazy } from '../lazy.ts';
import type { Breaker } from './breaker.ts';
import type { Forwarded, ForwardingProvider } from './forwarding.ts';
import type { EmbeddingProvider } from './embedding.ts';
import { kindOf } from './kinds.ts';
import { type ListedModel, type ModelEvent, type ModelRequest, type Provider, ProviderError } from './provider.ts';
import { abortable } from './watchdog.ts';

/** A provider as the configuration gives it, its secret resolved. */
export interface ProviderConfig {
  id: string;
  name: string;
  /** `openai-compatible` where left out. */
  kind?: ProviderKind | undefined;
  /** The kind's own where left out. */
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
}

/** What a provider is made from. */
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

/** A provider whose code is loaded when it is first asked. */
class Deferred<P extends Provider> implements Provider {
  readonly id: string;
  readonly name: string;
  readonly #load: () => Promise<P>;

  constructor({ id, name, kind = 'openai-compatible', apiKey }: Making, load: () => Promise<P>) {
    this.id = id;
    this.name = name;
    const loaded = lazy(load);
    this.#load = () => {
      if (kindOf(kind).needsKey && !apiKey)
        return Promise.reject(new ProviderError(`${name} needs an API key: add it in the settings`, { status: 401 }));
      return loaded().catch((cause: unknown) => {
        throw new ProviderError(`What speaks to ${name} could not be loaded`, { retryable: true, cause });
      });
    };
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

class DeferredForwarding extends DeferredEmbedding<ForwardingProvider & EmbeddingProvider> implements ForwardingProvider {
  async forward(...[body, signal, options]: Parameters<ForwardingProvider['forward']>): Promise<Forwarded> {
    return (await this.loaded(signal)).forward(body, signal, options);
  }

  async faultOfEnd(...[end, signal]: Parameters<ForwardingProvider['faultOfEnd']>): Promise<unknown> {
    return (await this.loaded(signal)).faultOfEnd(end, signal);
  }
}

export function makeProvider(making: Making): Provider {
  switch (making.kind) {
    case 'anthropic':
      return new Deferred(making, async () => new (await anthropic()).Anthropic(making));
    case 'google':
      return new DeferredEmbedding(making, async () => new (await google()).Google(making));
    default:
      return new DeferredForwarding(making, async () => new (await openAi()).OpenAiCompatible(making));
  }
}
