import type { ProviderKindEntry, ModelEntry, ProviderEntry, ProviderKind } from '#shared/rpc/record-schemas.ts';
import { type Problem, toProblem } from '#kit/problems.ts';
import { createFreeId } from './create-free-id.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { safeLocalStorage } from './safe-local-storage.ts';
import { readSetting } from './read-setting.ts';

/** Key of the built-in guide, the default until a model is chosen. */
export const GUIDE_MODEL = 'guide/guide';

interface ProviderFields {
  name: string;
  kind: ProviderKind;
  /** Empty for the default of the kind. */
  baseUrl: string;
  /** Null keeps the stored one; an empty text removes it. */
  apiKey: string | null;
}

/** Models, and the providers they come from. */
class Models {
  list = $state.raw<ModelEntry[]>([]);
  providers = $state.raw<ProviderEntry[]>([]);
  /** Kinds of providers that can be added. */
  kinds = $state.raw<ProviderKindEntry[]>([]);
  /** The default model's key. */
  defaultModel = $state(GUIDE_MODEL);
  /** Keys of the fallbacks, in the order in which they are tried. */
  fallbacks = $state.raw<readonly string[]>([]);
  /** Model for titles and summaries: `auto`, `chat`, or a model's key. */
  smallModel = $state('auto');
  /** A model names new chats after the first reply. */
  areTitlesGenerated = $state(true);
  /** Date of the built-in prices; null if none of the shown prices is built in. */
  pricesAsOf = $state<string | null>(null);
  /** Keys of the models set for single agents, by agent. */
  #modelByAgent = $state.raw<ReadonlyMap<string, string>>(new Map());
  /** Ids of providers that have a key stored. */
  providersWithKey = $state.raw<ReadonlySet<string>>(new Set());
  isLoading = $state(false);
  isLoaded = $state(false);
  problem = $state<Problem | null>(null);
  #started = false;
  /** Number of loads begun, and the last one whose result was applied. */
  #loadCount = 0;
  #appliedLoad = 0;
  #pendingLoads = 0;

  start(): void {
    if (this.#started) return;
    this.#started = true;
    gateway.on('config.changed', () => void this.load());
  }

  /** Loads models and providers; `refresh` queries the servers again and looks for new ones on this machine. */
  async load(refresh = false): Promise<void> {
    const loadId = ++this.#loadCount;
    this.#pendingLoads++;
    this.isLoading = true;
    try {
      const { providers } = await gateway.call('models.providers', refresh ? { refresh } : {});
      const [{ models, pricesAsOf }, defaultModel, fallbacks, smallModel, titles, stored, { agents }] = await Promise.all([
        gateway.call('models.list', {}),
        readSetting('chat.model'),
        readSetting('chat.fallbacks'),
        readSetting('chat.smallModel'),
        readSetting('chat.titles'),
        readSetting('providers'),
        gateway.call('agents.list', {}),
      ]);
      // A later request is newer, but its discovery may not be complete.
      if (loadId < this.#appliedLoad) return await this.load();
      this.#appliedLoad = loadId;
      // The gateway's name of its guide is English.
      this.providers = providers.map((each) => (each.kind === 'guide' ? { ...each, name: m.model_words_guide_provider() } : each));
      this.list = models.map((each) => (each.key === GUIDE_MODEL ? { ...each, display_name: m.model_words_guide() } : each));
      this.pricesAsOf = pricesAsOf;
      this.defaultModel = typeof defaultModel === 'string' ? defaultModel : GUIDE_MODEL;
      this.fallbacks = Array.isArray(fallbacks) ? fallbacks.filter((key) => typeof key === 'string') : [];
      this.smallModel = typeof smallModel === 'string' ? smallModel : 'auto';
      this.areTitlesGenerated = titles !== false;
      this.#modelByAgent = new Map(agents.flatMap(({ id, config: { model } }) => (model === undefined ? [] : [[id, model]])));
      this.providersWithKey = new Set(
        typeof stored === 'object' && stored !== null ? Object.entries(stored).flatMap(([id, value]) => (isKeySet(value) ? [id] : [])) : [],
      );
      this.problem = null;
      this.isLoaded = true;
    } catch (error) {
      this.problem = toProblem(error, m.model_words_doing_read_list());
    } finally {
      this.isLoading = --this.#pendingLoads > 0;
    }
  }

  /** Loads the kinds of providers, once, as they never change. */
  async loadKinds(): Promise<void> {
    if (this.kinds.length === 0) this.kinds = (await gateway.call('models.catalog', {})).kinds;
  }

  find(key: string): ModelEntry | undefined {
    return this.list.find((model) => model.key === key);
  }

  /** Key of an agent's default model. */
  getDefaultFor(agentId: string): string {
    return this.#modelByAgent.get(agentId) ?? this.defaultModel;
  }

  /** Name of a model on screen, also of one that its server no longer lists. */
  getDisplayName(key: string): string {
    return this.find(key)?.display_name ?? (key === GUIDE_MODEL ? m.model_words_guide() : key.slice(key.indexOf('/') + 1));
  }

  getProviderName(id: string): string {
    return this.providers.find((provider) => provider.id === id)?.name ?? id;
  }

  async setDefault(key: string): Promise<void> {
    await gateway.call('config.set', { key: 'chat.model', value: key });
    this.defaultModel = key;
  }

  async setFallbacks(keys: readonly string[]): Promise<void> {
    await gateway.call('config.patch', { patch: { chat: { fallbacks: keys.length > 0 ? [...keys] : null } } });
    this.fallbacks = keys;
  }

  async setSmall(value: string): Promise<void> {
    await gateway.call('config.set', { key: 'chat.smallModel', value });
    this.smallModel = value;
  }

  async setTitles(value: boolean): Promise<void> {
    await gateway.call('config.set', { key: 'chat.titles', value });
    this.areTitlesGenerated = value;
  }

  /** Milliseconds until a model begins to answer. Rejects with the reason if it does not. */
  async measureLatency(key: string): Promise<number> {
    const { latency, error } = await gateway.call('models.probe', { model: key });
    if (latency === null) throw new Error(error ?? m.model_words_does_not_answer());
    return latency;
  }

  /** Stores a provider, loads its models, and returns its entry. */
  async save(id: string, { name, kind, baseUrl, apiKey }: ProviderFields): Promise<ProviderEntry | undefined> {
    const key = apiKey === null ? {} : { apiKey: apiKey === '' ? null : apiKey };
    await gateway.call('config.patch', {
      patch: { providers: { [id]: { name, kind, baseUrl: baseUrl === '' ? null : baseUrl, ...key } } },
    });
    await this.load(true);
    return this.providers.find((provider) => provider.id === id);
  }

  /** Calls a provider that is paused after failures, through one of its models. Rejects with the reason if it does not answer. */
  async wake(key: string): Promise<void> {
    const { available, error } = await gateway.call('models.probe', { model: key });
    await this.load();
    if (!available) throw new Error(error ?? m.model_words_does_not_answer());
  }

  async remove(id: string): Promise<void> {
    const wasDefault = this.defaultModel.startsWith(`${id}/`);
    await gateway.call('config.patch', { patch: { providers: { [id]: null }, ...(wasDefault ? { chat: { model: null } } : {}) } });
    await this.load();
  }

  /** Creates an unused id for a provider of this name, of the characters that ids may have. */
  createProviderId(name: string): string {
    return createFreeId(name, new Set(this.providers.map(({ id }) => id)), 'provider');
  }

  /** Key of the model chosen for a chat, by the chat's key or `new`; null for the default. */
  getChosen(chat: string): string | null {
    return safeLocalStorage.read(`model.${chat}`);
  }

  choose(chat: string, key: string | null): void {
    safeLocalStorage.write(`model.${chat}`, key);
  }
}

function isKeySet(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'apiKey' in value;
}

export const models = new Models();
