import { RpcError } from '#shared/rpc/rpc-error.ts';
import { type ModelEntry, type ProviderEntry, providerKind, type ProviderKind, type Usage } from '#shared/rpc/record-schemas.ts';
import { DEFAULT_UPSTREAM_LIMITS, type UpstreamLimits } from '#shared/upstream-limits.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../ports/fetch.ts';
import { lazy } from '#shared/async/lazy.ts';
import { RequestBreaker } from './request-breaker.ts';
import { discoverServers, type DiscoveredServer, LOCAL_SERVERS, type LocalServer } from './server-discovery.ts';
import { getBaseUrl, isLocalKind, isPrivateServer, detectVendor } from '../config/sections/provider-kinds.ts';
import { createLocalProvider, toConfigKey, createProvider, LOCAL_KINDS, type LocalKind, type ProviderConfig } from './provider-factory.ts';
import type { LocalRunner, RunnableModel } from './local-runner.ts';
import { toModelEntry, withCost } from './model-entry.ts';
import type { findModel } from './model-table.ts';
import { type ListedModel, createListedModel, type Provider, ProviderError } from './provider.ts';
import { canTranscribe } from './transcribing-provider.ts';
import { withTimeout } from '#shared/async/watchdog.ts';

/** The built-in model, which is always available. */
export const GUIDE_MODEL = 'guide/guide';

const LIST_MAX_AGE_MS = 60_000;
const LIST_TIMEOUT_MS = 5_000;

const importTable = lazy(() => import('./model-table.ts'));

/** Result of resolving a model's key. */
export interface Route {
  provider: Provider;
  /** The provider's own id of the model. */
  model: string;
  /** `<provider>/<model_id>`. */
  key: string;
}

export interface ProvidersOptions {
  /** The built-in provider, which needs no configuration. */
  guide: Provider;
  fetch: Fetch;
  clock: Clock;
  /** Runners of local models. */
  runners?: Partial<Record<LocalKind, LocalRunner<RunnableModel>>> | undefined;
  /** Local model servers to look for; an empty list disables discovery. */
  localServers?: readonly LocalServer[] | undefined;
  /** Read at each request; default: `DEFAULT_UPSTREAM_LIMITS`. */
  limits?: (() => UpstreamLimits) | undefined;
  /** Called when a provider's state has changed since the last request to it. */
  onstate?: (provider: Pick<ProviderEntry, 'id' | 'state' | 'message'>) => void;
}

/** A provider and its known state. The last valid list is kept while the server is unavailable. */
interface TrackedProvider {
  provider: Provider;
  /** Undefined for the guide, which has no server. */
  breaker?: RequestBreaker;
  kind: ProviderEntry['kind'];
  /** Vendor whose prices and limits apply to its models; undefined if they are free. */
  vendor: ProviderKind | undefined;
  baseUrl?: string;
  /** Its configuration's `toConfigKey`: an unchanged configuration keeps the object and its list. */
  configKey: string;
  isDiscovered: boolean;
  models: ModelEntry[];
  /** Whether its models think, as far as the server reports it, by the model's own id. */
  thinking: ReadonlyMap<string, boolean>;
  state: ProviderEntry['state'];
  message?: string | undefined;
  /** Monotonic time of the last response or failure. */
  listedAt?: number;
  listing?: Promise<void>;
}

const BUILTIN_DEFAULTS = {
  vendor: undefined,
  configKey: '',
  models: [],
  thinking: new Map(),
  state: 'ready',
} satisfies Partial<TrackedProvider>;

/** All providers: the guide, the configured ones, and those discovered on this machine. Resolves a model's key to its provider. */
export class Providers {
  readonly #options: ProvidersOptions;
  readonly #guide: TrackedProvider;
  /** Providers of the models that Perch runs itself. */
  readonly #local: readonly TrackedProvider[];
  #configured: TrackedProvider[] = [];
  #discovered: TrackedProvider[] = [];
  #discoveredAt: number | undefined;
  #discovery: Promise<void> | undefined;
  /** Incremented when the network route (bridge or browser) changes. */
  #connectionVersion = 0;

  constructor(options: ProvidersOptions) {
    this.#options = options;
    this.#guide = { provider: options.guide, kind: 'guide', isDiscovered: false, ...BUILTIN_DEFAULTS };
    this.#local = LOCAL_KINDS.flatMap((kind) => {
      const runner = options.runners?.[kind];
      return runner ? [{ provider: createLocalProvider(kind, runner), kind, isDiscovered: true, ...BUILTIN_DEFAULTS }] : [];
    });
  }

  /** Sets the configured providers; unchanged ones keep their state. Active runs keep their provider. */
  configure(list: readonly ProviderConfig[]): void {
    const before = new Map(this.#configured.map((tracked) => [tracked.configKey, tracked]));
    this.#configured = list
      .filter(({ id }) => id !== this.#guide.provider.id)
      .flatMap((config) => {
        const baseUrl = getBaseUrl(config);
        if (baseUrl === undefined) return [];
        const fullConfig = { ...config, baseUrl };
        return [before.get(toConfigKey(fullConfig)) ?? this.#track(fullConfig, false)];
      });
  }

  /** Models of all providers, the guide's first. Refreshes lists older than a minute, all at once, for at most 5 s. */
  async list(options: { refresh?: boolean | undefined; signal?: AbortSignal | undefined } = {}): Promise<ModelEntry[]> {
    await this.#update(options);
    return this.#listAll().flatMap((tracked) => tracked.models);
  }

  /** Date of the table's prices if models of its vendors are listed, else null. */
  async getPricesDate(): Promise<string | null> {
    if (!this.#listAll().some(({ vendor, models }) => vendor !== undefined && vendor !== 'openai-compatible' && models.length > 0))
      return null;
    return (await loadTable())?.PRICES_AS_OF ?? null;
  }

  /** Adds the cost if the provider reported none and the model's price is known. Never rejects. */
  async addCost(key: string, usage: Usage): Promise<Usage> {
    const entry = await this.#findEntry(key);
    return entry ? withCost(usage, entry) : usage;
  }

  /** Whether a model supports images, as far as known. Never rejects. */
  async supportsVision(key: string): Promise<boolean> {
    return (await this.#findEntry(key))?.supports_vision ?? false;
  }

  /** Tokens of a model's context. Queries its server once if it has not been queried yet. Null if unknown. Never rejects. */
  async getContextWindow(key: string): Promise<number | null> {
    const tracked = this.#findById(key.slice(0, key.indexOf('/')));
    if (tracked && tracked.listedAt === undefined) await this.#refreshModels(tracked, false, undefined).catch(() => {});
    return (await this.#findEntry(key))?.context_window ?? null;
  }

  /**
   * Key of a small model of the same provider; null if there is none, or if the server is on this machine or its network: loading a second
   * model there would unload the first. Never rejects.
   */
  async findSmallModel(key: string): Promise<string | null> {
    const tracked = this.#findById(key.slice(0, key.indexOf('/')));
    if (tracked?.vendor === undefined || isPrivateServer(tracked.baseUrl ?? '')) return null;
    if (tracked.listedAt === undefined) await this.#refreshModels(tracked, false, undefined).catch(() => {});
    const [chat, tables] = await Promise.all([this.#findEntry(key), loadTable()]);
    return (chat && tables?.findSmallModel(chat, tracked.models, { byName: tracked.vendor !== 'openai-compatible' })?.key) ?? null;
  }

  /** Whether a model is known to think before it answers. Never rejects. */
  async supportsThinking(key: string): Promise<boolean> {
    return (await this.#findEntry(key))?.supports_thinking ?? false;
  }

  /** Whether a model is known not to think. Never rejects. */
  async lacksThinking(key: string): Promise<boolean> {
    const slash = key.indexOf('/');
    const tracked = this.#findById(key.slice(0, slash));
    if (!tracked) return false;
    const model = key.slice(slash + 1);
    return (tracked.thinking.get(model) ?? (await this.#findInTable(tracked, model))?.thinking) === false;
  }

  /** A model as listed, or a default entry for an unlisted one. */
  async #findEntry(key: string): Promise<ModelEntry | undefined> {
    const slash = key.indexOf('/');
    const tracked = this.#findById(key.slice(0, slash));
    const model = key.slice(slash + 1);
    return tracked && (tracked.models.find((each) => each.model_id === model) ?? this.#createEntry(tracked, createListedModel(model)));
  }

  /** Providers and their states. */
  async listStates(options: { refresh?: boolean | undefined; signal?: AbortSignal | undefined } = {}): Promise<ProviderEntry[]> {
    await this.#update(options);
    return this.#listAll().map((tracked) => ({
      id: tracked.provider.id,
      name: tracked.provider.name,
      kind: tracked.kind,
      state: tracked.state,
      models: tracked.models.length,
      ...(tracked.baseUrl === undefined ? {} : { baseUrl: tracked.baseUrl }),
      ...(tracked.isDiscovered ? { discovered: true } : {}),
      ...(tracked.message === undefined ? {} : { message: tracked.message }),
      ...this.#toRestingField(tracked),
    }));
  }

  /** Ends the breaker's pause: the next request is sent. */
  endPause(id: string): void {
    this.#findById(id)?.breaker?.endPause();
  }

  /** The network route has changed, so other servers may be reachable: unreachable ones are queried again. */
  handleConnectionChange(): void {
    this.#connectionVersion++;
    this.#discoveredAt = undefined;
    for (const tracked of [...this.#configured, ...this.#discovered]) if (tracked.state === 'unreachable') delete tracked.listedAt;
  }

  /** Providers queried so far, with their state at that time. */
  listKnownStates(): { id: string; state: ProviderEntry['state'] }[] {
    return this.#listAll()
      .filter(({ listedAt }) => listedAt !== undefined)
      .map(({ provider, state }) => ({ id: provider.id, state }));
  }

  /**
   * Resolves a key: `<provider>/<model_id>`, a provider's model by its bare id, or the guide if undefined. A named provider is not checked
   * for the model, as many servers accept models that they do not list. Throws `NOT_FOUND`.
   */
  async resolve(model?: string, provider?: string, signal?: AbortSignal): Promise<Route> {
    if (provider !== undefined) {
      const tracked = await this.#findProvider(provider, signal);
      if (!tracked) throw createNotFoundError(`No provider with id "${provider}".`);
      return this.#route(tracked, model === undefined ? await this.#getFirstModel(tracked, signal) : withoutPrefix(tracked, model));
    }
    if (model === undefined || model === GUIDE_MODEL) return this.#route(this.#guide, GUIDE_MODEL.slice(GUIDE_MODEL.indexOf('/') + 1));
    const slash = model.indexOf('/');
    if (slash > 0 && slash < model.length - 1) {
      const tracked = await this.#findProvider(model.slice(0, slash), signal);
      if (tracked) return this.#route(tracked, model.slice(slash + 1));
    }
    const entry = (await this.list({ signal })).find((listed) => listed.model_id === model);
    const known = entry && this.#listAll().find((candidate) => candidate.provider.id === entry.provider);
    if (!known) throw createNotFoundError(`No model with key "${model}". Call models.list to list the available models.`);
    return this.#route(known, model);
  }

  /** The first configured provider of these kinds. */
  findKind(kinds: readonly ProviderKind[]): Provider | undefined {
    return this.#configured.find(({ vendor }) => vendor !== undefined && kinds.includes(vendor))?.provider;
  }

  /** A speech recognition model that Perch runs itself; undefined if there is none. */
  async findTranscriber(signal: AbortSignal): Promise<Route | undefined> {
    for (const tracked of this.#local) {
      const [model] = canTranscribe(tracked.provider) ? await tracked.provider.listTranscribers(signal) : [];
      if (model !== undefined) return this.#route(tracked, model);
    }
    return undefined;
  }

  #toRestingField({ breaker }: TrackedProvider): Pick<ProviderEntry, 'resting'> {
    const pause = breaker?.pauseState;
    return pause ? { resting: { failures: pause.failures, until: this.#options.clock.now() + pause.leftMs } } : {};
  }

  #listAll(): TrackedProvider[] {
    const urls = new Set(this.#configured.map((tracked) => tracked.baseUrl));
    const ids = new Set(this.#configured.map((tracked) => tracked.provider.id));
    // A configured provider hides a discovered one with the same server or name.
    const found = this.#discovered.filter((tracked) => !ids.has(tracked.provider.id) && !urls.has(tracked.baseUrl));
    const localProviders = this.#local.filter(({ provider, models }) => models.length > 0 && !ids.has(provider.id));
    return [this.#guide, ...this.#configured, ...localProviders, ...found];
  }

  #findById(id: string): TrackedProvider | undefined {
    return [...this.#listAll(), ...this.#local].find(({ provider }) => provider.id === id);
  }

  #route(tracked: TrackedProvider, model: string): Route {
    if (tracked === this.#guide && `${tracked.provider.id}/${model}` !== GUIDE_MODEL)
      throw createNotFoundError(`The guide has no model "${model}".`);
    return { provider: tracked.provider, model, key: `${tracked.provider.id}/${model}` };
  }

  async #findProvider(id: string, signal: AbortSignal | undefined): Promise<TrackedProvider | undefined> {
    // Runs discovery only for the name of a local server.
    if (!this.#findById(id) && this.#getLocalServers().some((server) => server.id === id)) await this.#discover(false, signal);
    return this.#findById(id);
  }

  async #getFirstModel(tracked: TrackedProvider, signal: AbortSignal | undefined): Promise<string> {
    await this.#refreshModels(tracked, false, signal);
    const first = tracked.models[0];
    if (!first) throw createNotFoundError(`${tracked.provider.name} has no models${tracked.message ? `: ${tracked.message}` : '.'}`);
    return first.model_id;
  }

  async #update({ refresh = false, signal }: { refresh?: boolean | undefined; signal?: AbortSignal | undefined }): Promise<void> {
    const tracked = [this.#guide, ...this.#configured];
    await Promise.all([
      ...tracked.map((provider) => this.#refreshModels(provider, refresh, signal)),
      // Always refreshed: reads the bridge's disk and the browser's storage, where models come and go.
      ...this.#local.map((provider) => this.#refreshModels(provider, true, signal)),
      this.#discover(refresh, signal).then(() =>
        Promise.all(this.#discovered.map((provider) => this.#refreshModels(provider, refresh, signal))),
      ),
    ]);
  }

  #getLocalServers(): readonly LocalServer[] {
    return this.#options.localServers ?? LOCAL_SERVERS;
  }

  #isFresh(listedAt: number | undefined): boolean {
    return listedAt !== undefined && this.#options.clock.monotonic() - listedAt < LIST_MAX_AGE_MS;
  }

  async #discover(refresh: boolean, signal: AbortSignal | undefined): Promise<void> {
    if (this.#getLocalServers().length === 0 || (!refresh && this.#isFresh(this.#discoveredAt))) return;
    // Shared by concurrent callers, so one caller's abort must not end it.
    this.#discovery ??= discoverServers(this.#options.fetch, this.#options.clock, this.#getLocalServers(), new AbortController().signal)
      .then((found) => this.#addDiscovered(found))
      .finally(() => (this.#discovery = undefined));
    await this.#discovery;
    signal?.throwIfAborted();
  }

  #addDiscovered(found: readonly DiscoveredServer[]): void {
    this.#discoveredAt = this.#options.clock.monotonic();
    for (const server of found) {
      if (!this.#discovered.some((tracked) => tracked.provider.id === server.id))
        this.#discovered.push(this.#track({ ...server, kind: providerKind.safeParse(server.id).data }, true));
    }
  }

  async #refreshModels(tracked: TrackedProvider, refresh: boolean, signal: AbortSignal | undefined): Promise<void> {
    if (!refresh && this.#isFresh(tracked.listedAt)) return;
    tracked.listing ??= this.#fetchModels(tracked).finally(() => delete tracked.listing);
    await tracked.listing;
    signal?.throwIfAborted();
  }

  async #fetchModels(tracked: TrackedProvider): Promise<void> {
    const { clock, onstate } = this.#options;
    const previousState = tracked.state;
    const connectionVersion = this.#connectionVersion;
    try {
      const listed = await withTimeout(clock, LIST_TIMEOUT_MS, new AbortController().signal, (signal) => tracked.provider.models(signal));
      tracked.models = await Promise.all(listed.map((model) => this.#createEntry(tracked, model)));
      tracked.thinking = new Map(listed.flatMap(({ id, thinking }) => (thinking === null ? [] : [[id, thinking]])));
      tracked.state = 'ready';
      tracked.message = undefined;
    } catch (error) {
      const status = error instanceof ProviderError ? error.status : undefined;
      tracked.state = status === 401 || status === 403 ? 'needs_key' : 'unreachable';
      tracked.message =
        error instanceof ProviderError || error instanceof RpcError ? error.message : `${tracked.provider.name} did not respond in time.`;
    }
    if (tracked.state === 'unreachable' && connectionVersion !== this.#connectionVersion) delete tracked.listedAt;
    else tracked.listedAt = clock.monotonic();
    if (tracked.state !== previousState)
      onstate?.({ id: tracked.provider.id, state: tracked.state, ...(tracked.message ? { message: tracked.message } : {}) });
  }

  async #createEntry(tracked: TrackedProvider, listed: ListedModel): Promise<ModelEntry> {
    return toModelEntry(tracked.provider.id, listed, await this.#findInTable(tracked, listed.id), tracked.vendor === undefined);
  }

  async #findInTable({ vendor }: TrackedProvider, model: string): Promise<ReturnType<typeof findModel>> {
    return vendor === undefined || vendor === 'openai-compatible' ? undefined : (await loadTable())?.findModel(vendor, model);
  }

  #track(config: ProviderConfig & { baseUrl: string }, discovered: boolean): TrackedProvider {
    const { fetch, clock, limits = () => DEFAULT_UPSTREAM_LIMITS } = this.#options;
    const { kind = 'openai-compatible' } = config;
    const baseUrl = config.baseUrl.trim().replace(/\/+$/, '');
    const breaker = new RequestBreaker(config.name, clock, limits);
    // Ollama and LM Studio are kinds of their own.
    const hasChatTemplates = discovered && kind === 'openai-compatible';
    const provider = createProvider({ ...config, baseUrl, fetch, clock, limits, breaker, hasChatTemplates });
    const vendor = discovered || isLocalKind(kind) ? undefined : detectVendor(kind, baseUrl);
    return {
      provider,
      breaker,
      kind,
      vendor,
      baseUrl,
      configKey: toConfigKey(config),
      isDiscovered: discovered,
      models: [],
      thinking: new Map(),
      state: 'ready',
    };
  }
}

/** Without the table, only prices are missing. */
const loadTable = () => importTable().catch(() => undefined);

function withoutPrefix(tracked: TrackedProvider, model: string): string {
  const prefix = `${tracked.provider.id}/`;
  return model.startsWith(prefix) && !tracked.models.some((entry) => entry.model_id === model) ? model.slice(prefix.length) : model;
}

function createNotFoundError(message: string): RpcError {
  return new RpcError('NOT_FOUND', message, { details: { resource: 'model' } });
}
