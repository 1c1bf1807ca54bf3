import { RpcError } from '#shared/rpc/errors.ts';
import { type ModelEntry, type ProviderEntry, providerKind, type ProviderKind, type Usage } from '#shared/rpc/records.ts';
import { UPSTREAM_LIMITS, type UpstreamLimits } from '#shared/upstream-limits.ts';
import type { Clock } from '../clock.ts';
import type { Fetch } from '../fetch.ts';
import { lazy } from '../lazy.ts';
import { Breaker } from './breaker.ts';
import { discover, type FoundServer, LOCAL_SERVERS, type LocalServer } from './discovery.ts';
import { baseUrlOf, isLocal, isPrivateServer, vendorAt } from './kinds.ts';
import { localProvider, makeKey, makeProvider, OWN_KINDS, type OwnKind, type ProviderConfig } from './made-provider.ts';
import type { LocalRunner, Runnable } from './local-runner.ts';
import { modelEntry, withCost } from './model-entry.ts';
import { type ListedModel, listedModel, type Provider, ProviderError } from './provider.ts';
import { withTimeout } from './watchdog.ts';

/** The built-in model, which is always available. */
export const GUIDE_MODEL = 'guide/guide';

const FRESH_MS = 60_000;
const LIST_TIMEOUT_MS = 5_000;

const table = lazy(() => import('./model-table.ts'));

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
  runners?: Partial<Record<OwnKind, LocalRunner<Runnable>>> | undefined;
  /** Local model servers to look for; an empty list disables discovery. */
  localServers?: readonly LocalServer[] | undefined;
  /** Read at each request; default: `UPSTREAM_LIMITS`. */
  limits?: (() => UpstreamLimits) | undefined;
  /** Called when a provider's state has changed since the last request to it. */
  onstate?: (provider: Pick<ProviderEntry, 'id' | 'state' | 'message'>) => void;
}

/** A provider and its known state. The last valid list is kept while the server is unavailable. */
interface Known {
  provider: Provider;
  /** Undefined for the guide, which has no server. */
  breaker?: Breaker;
  kind: ProviderEntry['kind'];
  /** Vendor whose prices and limits apply to its models; undefined if they are free. */
  vendor: ProviderKind | undefined;
  baseUrl?: string;
  /** Its configuration's `makeKey`: an unchanged configuration keeps the object and its list. */
  made: string;
  discovered: boolean;
  models: ModelEntry[];
  state: ProviderEntry['state'];
  message?: string | undefined;
  /** Monotonic time of the last response or failure. */
  askedAt?: number;
  asking?: Promise<void>;
}

const BUILT_IN = { vendor: undefined, made: '', models: [], state: 'ready' } satisfies Partial<Known>;

/** All providers: the guide, the configured ones, and those discovered on this machine. Resolves a model's key to its provider. */
export class Providers {
  readonly #options: ProvidersOptions;
  readonly #guide: Known;
  /** Providers of the models that Perch runs itself. */
  readonly #own: readonly Known[];
  #configured: Known[] = [];
  #found: Known[] = [];
  #lookedAt: number | undefined;
  #looking: Promise<void> | undefined;
  /** Incremented when the network route (bridge or browser) changes. */
  #way = 0;

  constructor(options: ProvidersOptions) {
    this.#options = options;
    this.#guide = { provider: options.guide, kind: 'guide', discovered: false, ...BUILT_IN };
    this.#own = OWN_KINDS.flatMap((kind) => {
      const runner = options.runners?.[kind];
      return runner ? [{ provider: localProvider(kind, runner), kind, discovered: true, ...BUILT_IN }] : [];
    });
  }

  /** Sets the configured providers; unchanged ones keep their state. Active runs keep their provider. */
  configure(list: readonly ProviderConfig[]): void {
    const before = new Map(this.#configured.map((known) => [known.made, known]));
    this.#configured = list
      .filter(({ id }) => id !== this.#guide.provider.id)
      .flatMap((config) => {
        const baseUrl = baseUrlOf(config);
        if (baseUrl === undefined) return [];
        const whole = { ...config, baseUrl };
        return [before.get(makeKey(whole)) ?? this.#make(whole, false)];
      });
  }

  /** Models of all providers, the guide's first. Refreshes lists older than a minute, all at once, for at most 5 s. */
  async list(options: { refresh?: boolean | undefined; signal?: AbortSignal | undefined } = {}): Promise<ModelEntry[]> {
    await this.#update(options);
    return this.#all().flatMap((known) => known.models);
  }

  /** Date of the table's prices if models of its vendors are listed, else null. */
  async pricesAsOf(): Promise<string | null> {
    if (!this.#all().some(({ vendor, models }) => vendor !== undefined && vendor !== 'openai-compatible' && models.length > 0)) return null;
    return (await loadedTable())?.PRICES_AS_OF ?? null;
  }

  /** Adds the cost if the provider reported none and the model's price is known. Never rejects. */
  async priced(key: string, usage: Usage): Promise<Usage> {
    const entry = await this.#entryOf(key);
    return entry ? withCost(usage, entry) : usage;
  }

  /** Whether a model supports images, as far as known. Never rejects. */
  async sees(key: string): Promise<boolean> {
    return (await this.#entryOf(key))?.supports_vision ?? false;
  }

  /** Tokens of a model's context. Queries its server once if it has not been queried yet. Null if unknown. Never rejects. */
  async contextOf(key: string): Promise<number | null> {
    const known = this.#byId(key.slice(0, key.indexOf('/')));
    if (known && known.askedAt === undefined) await this.#ask(known, false, undefined).catch(() => {});
    return (await this.#entryOf(key))?.context_window ?? null;
  }

  /**
   * Key of a small model of the same provider; null if there is none, or if the server is on this machine or its network: loading a second
   * model there would unload the first. Never rejects.
   */
  async findSmallModel(key: string): Promise<string | null> {
    const known = this.#byId(key.slice(0, key.indexOf('/')));
    if (known?.vendor === undefined || isPrivateServer(known.baseUrl ?? '')) return null;
    if (known.askedAt === undefined) await this.#ask(known, false, undefined).catch(() => {});
    const [chat, tables] = await Promise.all([this.#entryOf(key), loadedTable()]);
    return (chat && tables?.findSmallModel(chat, known.models, { byName: known.vendor !== 'openai-compatible' })?.key) ?? null;
  }

  /** Whether a model is known to think before it answers. Never rejects. */
  async thinks(key: string): Promise<boolean> {
    return (await this.#entryOf(key))?.supports_thinking ?? false;
  }

  /** A model as listed, or a default entry for an unlisted one. */
  async #entryOf(key: string): Promise<ModelEntry | undefined> {
    const slash = key.indexOf('/');
    const known = this.#byId(key.slice(0, slash));
    const model = key.slice(slash + 1);
    return known && (known.models.find((each) => each.model_id === model) ?? this.#entry(known, listedModel(model)));
  }

  /** Providers and their states. */
  async states(options: { refresh?: boolean | undefined; signal?: AbortSignal | undefined } = {}): Promise<ProviderEntry[]> {
    await this.#update(options);
    return this.#all().map((known) => ({
      id: known.provider.id,
      name: known.provider.name,
      kind: known.kind,
      state: known.state,
      models: known.models.length,
      ...(known.baseUrl === undefined ? {} : { baseUrl: known.baseUrl }),
      ...(known.discovered ? { discovered: true } : {}),
      ...(known.message === undefined ? {} : { message: known.message }),
      ...this.#resting(known),
    }));
  }

  /** Ends the breaker's pause: the next request is sent. */
  wake(id: string): void {
    this.#byId(id)?.breaker?.wake();
  }

  /** The network route has changed, so other servers may be reachable: unreachable ones are queried again. */
  wayChanged(): void {
    this.#way++;
    this.#lookedAt = undefined;
    for (const known of [...this.#configured, ...this.#found]) if (known.state === 'unreachable') delete known.askedAt;
  }

  /** Providers queried so far, with their state at that time. */
  known(): { id: string; state: ProviderEntry['state'] }[] {
    return this.#all()
      .filter(({ askedAt }) => askedAt !== undefined)
      .map(({ provider, state }) => ({ id: provider.id, state }));
  }

  /**
   * Resolves a key: `<provider>/<model_id>`, a provider's model by its bare id, or the guide if undefined. A named provider is not checked
   * for the model, as many servers accept models that they do not list. Throws `NOT_FOUND`.
   */
  async resolve(model?: string, provider?: string, signal?: AbortSignal): Promise<Route> {
    if (provider !== undefined) {
      const known = await this.#named(provider, signal);
      if (!known) throw notFound(`No provider with id "${provider}".`);
      return this.#route(known, model === undefined ? await this.#firstModel(known, signal) : withoutPrefix(known, model));
    }
    if (model === undefined || model === GUIDE_MODEL) return this.#route(this.#guide, GUIDE_MODEL.slice(GUIDE_MODEL.indexOf('/') + 1));
    const slash = model.indexOf('/');
    if (slash > 0 && slash < model.length - 1) {
      const known = await this.#named(model.slice(0, slash), signal);
      if (known) return this.#route(known, model.slice(slash + 1));
    }
    const entry = (await this.list({ signal })).find((each) => each.model_id === model);
    const known = entry && this.#all().find((each) => each.provider.id === entry.provider);
    if (!known) throw notFound(`No model with key "${model}". Call models.list to list the available models.`);
    return this.#route(known, model);
  }

  /** The first configured provider of these kinds. */
  findKind(kinds: readonly ProviderKind[]): Provider | undefined {
    return this.#configured.find(({ vendor }) => vendor !== undefined && kinds.includes(vendor))?.provider;
  }

  #resting({ breaker }: Known): Pick<ProviderEntry, 'resting'> {
    const rest = breaker?.rest;
    return rest ? { resting: { failures: rest.failures, until: this.#options.clock.now() + rest.leftMs } } : {};
  }

  #all(): Known[] {
    const urls = new Set(this.#configured.map((known) => known.baseUrl));
    const ids = new Set(this.#configured.map((known) => known.provider.id));
    // A configured provider hides a discovered one with the same server or name.
    const found = this.#found.filter((known) => !ids.has(known.provider.id) && !urls.has(known.baseUrl));
    const own = this.#own.filter(({ provider, models }) => models.length > 0 && !ids.has(provider.id));
    return [this.#guide, ...this.#configured, ...own, ...found];
  }

  #byId(id: string): Known | undefined {
    return [...this.#all(), ...this.#own].find(({ provider }) => provider.id === id);
  }

  #route(known: Known, model: string): Route {
    if (known === this.#guide && `${known.provider.id}/${model}` !== GUIDE_MODEL) throw notFound(`The guide has no model "${model}".`);
    return { provider: known.provider, model, key: `${known.provider.id}/${model}` };
  }

  async #named(id: string, signal: AbortSignal | undefined): Promise<Known | undefined> {
    // Runs discovery only for the name of a local server.
    if (!this.#byId(id) && this.#locals().some((server) => server.id === id)) await this.#look(false, signal);
    return this.#byId(id);
  }

  async #firstModel(known: Known, signal: AbortSignal | undefined): Promise<string> {
    await this.#ask(known, false, signal);
    const first = known.models[0];
    if (!first) throw notFound(`${known.provider.name} has no models${known.message ? `: ${known.message}` : '.'}`);
    return first.model_id;
  }

  async #update({ refresh = false, signal }: { refresh?: boolean | undefined; signal?: AbortSignal | undefined }): Promise<void> {
    const known = [this.#guide, ...this.#configured];
    await Promise.all([
      ...known.map((each) => this.#ask(each, refresh, signal)),
      // Always refreshed: reads the bridge's disk and the browser's storage, where models come and go.
      ...this.#own.map((each) => this.#ask(each, true, signal)),
      this.#look(refresh, signal).then(() => Promise.all(this.#found.map((each) => this.#ask(each, refresh, signal)))),
    ]);
  }

  #locals(): readonly LocalServer[] {
    return this.#options.localServers ?? LOCAL_SERVERS;
  }

  #fresh(at: number | undefined): boolean {
    return at !== undefined && this.#options.clock.monotonic() - at < FRESH_MS;
  }

  async #look(refresh: boolean, signal: AbortSignal | undefined): Promise<void> {
    if (this.#locals().length === 0 || (!refresh && this.#fresh(this.#lookedAt))) return;
    // Shared by concurrent callers, so one caller's abort must not end it.
    this.#looking ??= discover(this.#options.fetch, this.#options.clock, this.#locals(), new AbortController().signal)
      .then((found) => this.#take(found))
      .finally(() => (this.#looking = undefined));
    await this.#looking;
    signal?.throwIfAborted();
  }

  #take(found: readonly FoundServer[]): void {
    this.#lookedAt = this.#options.clock.monotonic();
    for (const server of found) {
      if (!this.#found.some((known) => known.provider.id === server.id))
        this.#found.push(this.#make({ ...server, kind: providerKind.safeParse(server.id).data }, true));
    }
  }

  async #ask(known: Known, refresh: boolean, signal: AbortSignal | undefined): Promise<void> {
    if (!refresh && this.#fresh(known.askedAt)) return;
    known.asking ??= this.#fetchModels(known).finally(() => delete known.asking);
    await known.asking;
    signal?.throwIfAborted();
  }

  async #fetchModels(known: Known): Promise<void> {
    const { clock, onstate } = this.#options;
    const before = known.state;
    const way = this.#way;
    try {
      const listed = await withTimeout(clock, LIST_TIMEOUT_MS, new AbortController().signal, (signal) => known.provider.models(signal));
      known.models = await Promise.all(listed.map((model) => this.#entry(known, model)));
      known.state = 'ready';
      known.message = undefined;
    } catch (error) {
      const status = error instanceof ProviderError ? error.status : undefined;
      known.state = status === 401 || status === 403 ? 'needs_key' : 'unreachable';
      known.message =
        error instanceof ProviderError || error instanceof RpcError ? error.message : `${known.provider.name} did not respond in time.`;
    }
    if (known.state === 'unreachable' && way !== this.#way) delete known.askedAt;
    else known.askedAt = clock.monotonic();
    if (known.state !== before)
      onstate?.({ id: known.provider.id, state: known.state, ...(known.message ? { message: known.message } : {}) });
  }

  async #entry({ provider, vendor }: Known, listed: ListedModel): Promise<ModelEntry> {
    const free = vendor === undefined;
    const known = free || vendor === 'openai-compatible' ? undefined : (await loadedTable())?.findModel(vendor, listed.id);
    return modelEntry(provider.id, listed, known, free);
  }

  #make(config: ProviderConfig & { baseUrl: string }, discovered: boolean): Known {
    const { fetch, clock, limits = () => UPSTREAM_LIMITS } = this.#options;
    const { kind = 'openai-compatible' } = config;
    const baseUrl = config.baseUrl.trim().replace(/\/+$/, '');
    const breaker = new Breaker(config.name, clock, limits);
    const provider = makeProvider({ ...config, baseUrl, fetch, clock, limits, breaker });
    const vendor = discovered || isLocal(kind) ? undefined : vendorAt(kind, baseUrl);
    return { provider, breaker, kind, vendor, baseUrl, made: makeKey(config), discovered, models: [], state: 'ready' };
  }
}

/** Without the table, only prices are missing. */
const loadedTable = () => table().catch(() => undefined);

function withoutPrefix(known: Known, model: string): string {
  const prefix = `${known.provider.id}/`;
  return model.startsWith(prefix) && !known.models.some((entry) => entry.model_id === model) ? model.slice(prefix.length) : model;
}

function notFound(message: string): RpcError {
  return new RpcError('NOT_FOUND', message, { details: { resource: 'model' } });
}
