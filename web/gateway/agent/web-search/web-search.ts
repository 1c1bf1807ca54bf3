import type { SearchResult } from '#shared/rpc/methods/web-contracts.ts';
import { MAX_SEARCH_RESULTS } from '#shared/search-providers.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { toClause } from '#shared/clause.ts';
import { truncateText } from '#shared/truncate-text.ts';
import { DEFAULT_UPSTREAM_LIMITS } from '#shared/upstream-limits.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Config } from '../../config/gateway-config.ts';
import type { SecretReferences } from '../../config/secrets/secret-references.ts';
import { detectVendor, getBaseUrl } from '../../config/sections/provider-kinds.ts';
import { DEFAULT_SEARCH_RESULTS, getSearchUrl, type WebSearchSettings } from '../../config/sections/web-search-settings.ts';
import type { Fetch } from '../../ports/fetch.ts';
import { getConfiguredProviders, readKey } from '../../providers/configured-providers.ts';
import type { Providers } from '../../providers/providers.ts';
import { ProviderError } from '../../providers/provider.ts';
import { retry } from '../../providers/retry.ts';
import { UpstreamHttp } from '../../providers/upstream-http.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { getBudgetScopes } from '../budgets/budget-scopes.ts';
import type { Models } from '../runs/run-types.ts';
import { createModelSearch } from './model-search.ts';
import { createSearchEngines } from './search-engines.ts';
import { createFailure, type SearchQuery, type SearchService } from './search-service.ts';

const MAX_TITLE_CHARS = 300;
const MAX_SNIPPET_CHARS = 1200;
const MAX_URL_CHARS = 2048;
/** A search service answers within seconds; a model that searches may take a minute. */
const ENGINE_MS = 15_000;
const MODEL_MS = 120_000;

export interface WebSearchDeps {
  config: Config;
  references: Pick<SecretReferences, 'waitForValue'>;
  fetch: Fetch;
  clock: Clock;
  vault: Pick<Vault, 'usage'>;
  providers: Pick<Providers, 'addCost'>;
  models: Pick<Models, 'checkBudgets'>;
}

/** Whom a search is for: its usage counts there. */
interface SearchCaller {
  principal: string;
  sessionKey: string | null;
  agentId?: string | undefined;
}

export interface FoundResults {
  /** Name of the service, for people. */
  provider: string;
  results: SearchResult[];
  note?: string;
}

interface Target {
  service: SearchService;
  baseUrl: string;
  /** Dotted path of the key. */
  keyPath: string;
  /** Key of the model, if one searches. */
  model?: string;
}

/** Searches the web with the service that the owner has chosen (`tools.webSearch`). */
export class WebSearch {
  readonly #deps: WebSearchDeps;

  constructor(deps: WebSearchDeps) {
    this.#deps = deps;
  }

  /**
   * Throws `INVALID_PARAMS` if no service is set up, `RATE_LIMITED` if the service limits requests, `INTERNAL_ERROR` with the service's
   * reason for other failures, and the reason of `signal`.
   */
  async search(query: SearchQuery, signal: AbortSignal, caller: SearchCaller): Promise<FoundResults> {
    const { clock, fetch } = this.#deps;
    const settings = this.#requireSettings();
    const { service, baseUrl, keyPath, model } = this.#getTarget(settings);
    const ms = model === undefined ? ENGINE_MS : MODEL_MS;
    try {
      if (model !== undefined) await this.#deps.models.checkBudgets?.(model, getBudgetScopes(caller), []);
      const http = new UpstreamHttp(
        {
          ...{ id: keyPath, name: service.name, baseUrl, fetch, clock, apiKey: await this.#getKey(service, keyPath) },
          limits: () => ({ ...DEFAULT_UPSTREAM_LIMITS, firstByteMs: ms, wholeMs: ms, idleMs: ms, failures: 0 }),
        },
        { headers: (apiKey) => service.headers(apiKey), failure: createFailure(service) },
      );
      const limit = Math.min(query.limit ?? settings.maxResults, MAX_SEARCH_RESULTS);
      const found = await retry(() => http.withWatchdog(signal, (watchdog) => service.search({ ...query, limit }, http, watchdog), true), {
        clock,
        signal,
      });
      if (model !== undefined && found.usage) await this.#recordUsage(model, found.usage, caller);
      const results = cleanResults(found.results).slice(0, limit);
      return { provider: service.name, results, ...(found.note === undefined ? {} : { note: found.note }) };
    } catch (error) {
      signal.throwIfAborted();
      throw toRpcError(error);
    }
  }

  #requireSettings(): WebSearchSettings {
    const settings = this.#deps.config.settings.tools.webSearch;
    if (!settings) throw new RpcError('INVALID_PARAMS', 'Web search is not set up. Choose a search service in Settings.');
    return { ...settings, maxResults: settings.maxResults ?? DEFAULT_SEARCH_RESULTS };
  }

  #getTarget(settings: WebSearchSettings): Target {
    if (settings.provider !== 'model') {
      const service = createSearchEngines(() => this.#deps.clock.now())[settings.provider];
      return { service, baseUrl: getSearchUrl(settings) ?? '', keyPath: 'tools.webSearch.apiKey' };
    }
    const model = settings.model ?? '';
    const [id = '', ...name] = model.split('/');
    const provider = this.#deps.config.settings.providers[id];
    const baseUrl = provider && provider.enabled !== false ? getBaseUrl(provider) : undefined;
    if (!provider || baseUrl === undefined)
      throw new RpcError('INVALID_PARAMS', `The model ${model}, which searches the web, has no provider. Choose another one in Settings.`);
    const service = createModelSearch(
      detectVendor(provider.kind ?? 'openai-compatible', baseUrl),
      getConfiguredProviders(this.#deps.config, this.#deps.references).find((each) => each.id === id)?.name ?? id,
      name.join('/'),
    );
    if (!service)
      throw new RpcError(
        'INVALID_PARAMS',
        `The provider of ${model} has no web search. Choose OpenAI, Anthropic, Google or a search service.`,
      );
    return { service, baseUrl, keyPath: `providers.${id}.apiKey`, model };
  }

  async #getKey({ name, needsKey }: SearchService, path: string): Promise<string | undefined> {
    const { config, references } = this.#deps;
    const { apiKey, reference } = readKey(path, config, references);
    const key = apiKey ?? (await reference?.wait());
    if (needsKey && !key) throw new RpcError('INVALID_PARAMS', `${name} needs an API key. Add it in Settings.`);
    return key || undefined;
  }

  async #recordUsage(model: string, usage: Usage, { principal, sessionKey, agentId }: SearchCaller): Promise<void> {
    const { vault, clock, providers } = this.#deps;
    const [provider = ''] = model.split('/', 1);
    vault.usage.add({
      ...{ id: crypto.randomUUID(), at: clock.now(), provider, model, sessionKey, principal },
      usage: await providers.addCost(model, usage),
      ...(agentId === undefined ? {} : { agentId }),
    });
  }
}

function toRpcError(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error;
  const { status, retryable, retryAfterMs } = error;
  const wait = retryAfterMs === undefined ? '' : ` Try again in ${formatWait(retryAfterMs)}.`;
  return new RpcError(
    status === 429 ? 'RATE_LIMITED' : 'INTERNAL_ERROR',
    `${toClause(error.message)}.${wait}`,
    { ...(retryable ? { retryable } : {}), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    { cause: error },
  );
}

function formatWait(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return seconds < 120 ? `${seconds} s` : seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}

/** Web pages alone, each once, with plain text of bounded length. */
function cleanResults(results: readonly Partial<SearchResult>[]): SearchResult[] {
  const byUrl = new Map<string, SearchResult>();
  for (const { title = '', url = '', snippet = '', published } of results) {
    const parsed = URL.parse(url.trim());
    if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.href.length > MAX_URL_CHARS || byUrl.has(parsed.href)) continue;
    byUrl.set(parsed.href, {
      title: truncateText(toPlain(title), MAX_TITLE_CHARS) || parsed.host,
      url: parsed.href,
      snippet: truncateText(toPlain(snippet), MAX_SNIPPET_CHARS),
      ...(published === undefined ? {} : { published: toPlain(published).slice(0, 40) }),
    });
  }
  return [...byUrl.values()];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', '#39': "'", '#x27': "'" };

/** Services mark matches with tags and send entities. */
const toPlain = (text: string): string =>
  text
    .replaceAll(/<\/?(?:strong|b|em|i|mark|span|br)\b[^<>]{0,200}>/gi, '')
    .replaceAll(/&(amp|lt|gt|quot|apos|nbsp|#39|#x27);/gi, (_, name: string) => ENTITIES[name.toLowerCase()] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();
