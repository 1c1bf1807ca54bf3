import type { ChannelEntry, ChannelKind } from '#shared/rpc/methods/channel-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { EventBus } from '../../system/event-bus.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { isChannelSession } from '../../system/channel-session.ts';
import type { ChannelBlockerDeps } from './channel-blocker.ts';
import type { Loadable } from '../../system/modules.ts';
import type { RunningChannels } from './running-channels.ts';
import type { Senders, SendersDeps } from './senders.ts';
import { isStartable } from '../../config/sections/channel-settings.ts';

/** The built-in channel: the app, and clients that chat by RPC. */
const WEBCHAT = 'webchat';

interface ChannelRegistryDeps extends ChannelBlockerDeps, SendersDeps {
  config: ChannelBlockerDeps['config'] & SendersDeps['config'];
  hub: EventBus;
  clock: Clock;
  vault: Pick<Vault, 'collection'>;
  settings(): Settings;
  runningChannels: Pick<Loadable<RunningChannels>, 'loaded'>;
}

/** All channels: connected ones merged with configured ones. */
export class ChannelRegistry {
  /** Senders that wait or were let in; their code is loaded with the first use. */
  readonly senders: () => Promise<Senders>;
  readonly #deps: ChannelRegistryDeps;
  readonly #catalog = lazy(async () => (await import('./channel-catalog.ts')).channelCatalog);
  readonly #metrics: NonNullable<ChannelEntry['metrics']>;

  constructor(deps: ChannelRegistryDeps) {
    const { hub, clock } = deps;
    this.#deps = deps;
    this.senders = lazy(async () => new (await import('./senders.ts')).Senders(deps));
    this.#metrics = { messages_received: 0, messages_sent: 0, messages_failed: 0, last_message_at: null, connected_since: clock.now() };
    hub.add({
      all: false,
      // Messages of other channels count towards those.
      follows: (key) => !isChannelSession(key),
      push: ({ event }) => {
        const counted = METRIC_BY_EVENT[event];
        if (!counted) return;
        this.#metrics[counted]++;
        this.#metrics.last_message_at = clock.now();
      },
    });
  }

  async listKinds(): Promise<ChannelKind[]> {
    return [...(await this.#catalog())];
  }

  /** Connected channels first, then channels that are only configured. */
  async list(): Promise<ChannelEntry[]> {
    const kinds = await this.#catalog();
    const configured = this.#deps.settings().channels;
    const entries = kinds.map((kind): Promise<ChannelEntry> | ChannelEntry | null => {
      const section = configured[kind.id];
      if (kind.id === WEBCHAT) return this.#getWebchat(kind);
      if (!section) return null;
      return isStartable(kind.id) ? this.#getStartable(kind, section.enabled === true) : toChannelEntry(kind, section.enabled === true);
    });
    const found = (await Promise.all(entries)).filter((entry) => entry !== null);
    return [...found.filter(({ source }) => source === 'runtime'), ...found.filter(({ source }) => source === 'config')];
  }

  /** Throws `NOT_FOUND` if it is neither connected nor configured. */
  async get(id: string): Promise<ChannelEntry> {
    const found = (await this.list()).find((channel) => channel.id === id);
    if (found) return found;
    const isKnown = (await this.#catalog()).some((kind) => kind.id === id);
    throw new RpcError(
      'NOT_FOUND',
      isKnown
        ? `Channel "${id}" is not configured. Set channels.${id} first.`
        : `No channel with id "${id}". Call channels.catalog to list the available channels.`,
    );
  }

  #getWebchat(kind: ChannelKind): ChannelEntry {
    return { ...toMetadata(kind), name: kind.id, running: true, status: 'running', source: 'runtime', metrics: { ...this.#metrics } };
  }

  /** State of a channel according to the host that runs it, this one or another. */
  async #getStartable(kind: ChannelKind, enabled: boolean): Promise<ChannelEntry> {
    const { vault, runningChannels, settings, clock } = this.#deps;
    const state = await vault.collection('channelStates').get(kind.id);
    const { x } = settings().channels;
    const channelSettings = settings().channels[kind.id];
    const { getAccessMode, getPendingRequests } = await import('./senders.ts');
    const access = channelSettings && getAccessMode(channelSettings);
    const pendingCount = state && access === 'ask' ? getPendingRequests(state, clock.now()).length : 0;
    const { pending = [] } = state ?? {};
    const heldReplies = pending.filter(({ held }) => held).length;
    const unheldCount = pending.length - heldReplies;
    const extra = {
      ...(access ? { access } : {}),
      asks_access: access === 'everyone' && channelSettings?.allowEveryone !== true,
      ...(pendingCount > 0 ? { senders_waiting: pendingCount } : {}),
      ...(state ? { metrics: state.metrics } : {}),
      ...(kind.id === 'x' && x ? { budget: (await import('./x/search-budget.ts')).toBudgetStatus(state?.budget, x, clock.now()) } : {}),
      ...(unheldCount > 0 ? { waiting: unheldCount } : {}),
      ...(heldReplies > 0 ? { replies_held: heldReplies } : {}),
    };
    const entry = { ...toMetadata(kind), name: kind.id, ...extra };
    const idle = { ...entry, ...(state ? { metrics: { ...state.metrics, connected_since: null } } : {}), running: false } as const;
    if (!enabled) return { ...idle, source: 'config', status: 'stopped' };
    const localState = runningChannels.loaded?.getState(kind.id);
    const { findBlocker } = await import('./channel-blocker.ts');
    const blocker = isStartable(kind.id) ? findBlocker(kind.id, this.#deps) : undefined;
    if (!localState && blocker !== undefined) return { ...idle, source: 'config', status: 'configured', problem: blocker };
    // The stored state of another host, if this one does not run the channel.
    const connected = localState ? localState.connected : (state?.metrics.connected_since ?? null) !== null;
    const problem = localState ? localState.problem : state?.problem;
    if (problem !== undefined) return { ...entry, running: connected, source: 'runtime', status: 'error', problem };
    if (connected) return { ...entry, running: true, source: 'runtime', status: 'running' };
    return { ...idle, source: 'config', status: 'configured' };
  }
}

const METRIC_BY_EVENT: Partial<Record<string, 'messages_received' | 'messages_sent' | 'messages_failed'>> = {
  'chat.message': 'messages_received',
  'chat.done': 'messages_sent',
  'chat.error': 'messages_failed',
};

function toChannelEntry(kind: ChannelKind, enabled: boolean): ChannelEntry {
  const entry = { ...toMetadata(kind), name: kind.id, running: false, source: 'config' } as const;
  if (!enabled) return { ...entry, status: 'stopped' };
  return { ...entry, status: 'configured', ...(kind.reason === undefined ? {} : { problem: kind.reason }) };
}

function toMetadata({ startable: _startable, reason: _reason, settings: _settings, ...metadata }: ChannelKind) {
  return metadata;
}
