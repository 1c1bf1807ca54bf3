import type { ChannelEntry, ChannelKind } from '#shared/rpc/methods/channels.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Clock } from '../clock.ts';
import type { Hub } from '../hub.ts';
import { lazy } from '../lazy.ts';
import type { Settings } from '../settings.ts';
import type { Vault } from '../vault.ts';
import { isChannelSession } from './channel-session.ts';
import { heldBack, type HeldBackDeps } from './held-back.ts';
import type { LazyChannels } from './later.ts';
import { accessTo, openRequests, Senders, type SendersDeps } from './senders.ts';
import { isStartable } from './settings.ts';

/** The built-in channel: the app, and clients that chat by RPC. */
const WEBCHAT = 'webchat';

export interface ChannelsDeps extends HeldBackDeps, SendersDeps {
  config: HeldBackDeps['config'] & SendersDeps['config'];
  hub: Hub;
  clock: Clock;
  vault: Pick<Vault, 'collection'>;
  settings(): Settings;
  running: Pick<LazyChannels, 'now'>;
}

/** All channels: connected ones merged with configured ones. */
export class Channels {
  readonly senders: Senders;
  readonly #deps: ChannelsDeps;
  readonly #catalog = lazy(async () => (await import('./catalog.ts')).catalog);
  readonly #metrics: NonNullable<ChannelEntry['metrics']>;

  constructor(deps: ChannelsDeps) {
    const { hub, clock } = deps;
    this.#deps = deps;
    this.senders = new Senders(deps);
    this.#metrics = { messages_received: 0, messages_sent: 0, messages_failed: 0, last_message_at: null, connected_since: clock.now() };
    hub.add({
      all: false,
      // Messages of other channels count towards those.
      follows: (key) => !isChannelSession(key),
      push: ({ event }) => {
        const counted = COUNTED[event];
        if (!counted) return;
        this.#metrics[counted]++;
        this.#metrics.last_message_at = clock.now();
      },
    });
  }

  async catalog(): Promise<ChannelKind[]> {
    return [...(await this.#catalog())];
  }

  /** Connected channels first, then channels that are only configured. */
  async list(): Promise<ChannelEntry[]> {
    const kinds = await this.#catalog();
    const configured = this.#deps.settings().channels;
    const entries = kinds.map((kind): Promise<ChannelEntry> | ChannelEntry | null => {
      const given = configured[kind.id];
      if (kind.id === WEBCHAT) return this.#webchat(kind);
      if (!given) return null;
      return isStartable(kind.id) ? this.#startable(kind, given.enabled === true) : entryOf(kind, given.enabled === true);
    });
    const found = (await Promise.all(entries)).filter((entry) => entry !== null);
    return [...found.filter(({ source }) => source === 'runtime'), ...found.filter(({ source }) => source === 'config')];
  }

  /** Throws `NOT_FOUND` if it is neither connected nor configured. */
  async get(id: string): Promise<ChannelEntry> {
    const found = (await this.list()).find((channel) => channel.id === id);
    if (found) return found;
    const known = (await this.#catalog()).some((kind) => kind.id === id);
    throw new RpcError(
      'NOT_FOUND',
      known
        ? `Channel "${id}" is not configured. Set channels.${id} first.`
        : `No channel with id "${id}". Call channels.catalog to list the available channels.`,
    );
  }

  #webchat(kind: ChannelKind): ChannelEntry {
    return { ...metadataOf(kind), name: kind.id, running: true, status: 'running', source: 'runtime', metrics: { ...this.#metrics } };
  }

  /** State of a channel according to the host that runs it, this one or another. */
  async #startable(kind: ChannelKind, enabled: boolean): Promise<ChannelEntry> {
    const { vault, running, settings, clock } = this.#deps;
    const state = await vault.collection('channelStates').get(kind.id);
    const { x } = settings().channels;
    const given = settings().channels[kind.id];
    const access = given && accessTo(given);
    const asking = state && access === 'ask' ? openRequests(state, clock.now()).length : 0;
    const { pending = [] } = state ?? {};
    const repliesHeld = pending.filter(({ held }) => held).length;
    const waiting = pending.length - repliesHeld;
    const extra = {
      ...(access ? { access } : {}),
      asks_access: access === 'everyone' && given?.allowEveryone !== true,
      ...(asking > 0 ? { senders_waiting: asking } : {}),
      ...(state ? { metrics: state.metrics } : {}),
      ...(kind.id === 'x' && x ? { budget: (await import('./x/budget.ts')).shownBudget(state?.budget, x, clock.now()) } : {}),
      ...(waiting > 0 ? { waiting } : {}),
      ...(repliesHeld > 0 ? { replies_held: repliesHeld } : {}),
    };
    const entry = { ...metadataOf(kind), name: kind.id, ...extra };
    const idle = { ...entry, ...(state ? { metrics: { ...state.metrics, connected_since: null } } : {}), running: false } as const;
    if (!enabled) return { ...idle, source: 'config', status: 'stopped' };
    const here = running.now()?.state(kind.id);
    const held = isStartable(kind.id) ? heldBack(kind.id, this.#deps) : undefined;
    if (!here && held !== undefined) return { ...idle, source: 'config', status: 'configured', problem: held };
    // The stored state of another host, if this one does not run the channel.
    const connected = here ? here.connected : (state?.metrics.connected_since ?? null) !== null;
    const problem = here ? here.problem : state?.problem;
    if (problem !== undefined) return { ...entry, running: connected, source: 'runtime', status: 'error', problem };
    if (connected) return { ...entry, running: true, source: 'runtime', status: 'running' };
    return { ...idle, source: 'config', status: 'configured' };
  }
}

const COUNTED: Partial<Record<string, 'messages_received' | 'messages_sent' | 'messages_failed'>> = {
  'chat.message': 'messages_received',
  'chat.done': 'messages_sent',
  'chat.error': 'messages_failed',
};

function entryOf(kind: ChannelKind, enabled: boolean): ChannelEntry {
  const entry = { ...metadataOf(kind), name: kind.id, running: false, source: 'config' } as const;
  if (!enabled) return { ...entry, status: 'stopped' };
  return { ...entry, status: 'configured', ...(kind.reason === undefined ? {} : { problem: kind.reason }) };
}

function metadataOf({ startable: _startable, reason: _reason, settings: _settings, ...metadata }: ChannelKind) {
  return metadata;
}
