import type { ChannelEntry, ChannelKind } from '#shared/rpc/methods/channels.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Clock } from '../clock.ts';
import type { Hub } from '../hub.ts';
import { lazy } from '../lazy.ts';
import type { Settings } from '../settings.ts';

/** The channel that is always there: the app, and whoever chats by RPC. */
const WEBCHAT = 'webchat';

export interface ChannelsDeps {
  hub: Hub;
  clock: Clock;
  settings(): Settings;
}

/** Channels: what is connected here, merged with what is configured (interface document 1, section 2.2). */
export class Channels {
  readonly #settings: ChannelsDeps['settings'];
  readonly #catalog = lazy(async () => (await import('./catalog.ts')).catalog);
  readonly #metrics: NonNullable<ChannelEntry['metrics']>;

  constructor({ hub, clock, settings }: ChannelsDeps) {
    this.#settings = settings;
    this.#metrics = { messages_received: 0, messages_sent: 0, messages_failed: 0, last_message_at: null, connected_since: clock.now() };
    hub.add({
      all: true,
      follows: () => true,
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

  /** What is connected first, then what is only configured. */
  async list(): Promise<ChannelEntry[]> {
    const kinds = await this.#catalog();
    const configured = this.#settings().channels;
    return kinds.flatMap((kind) => {
      const given = configured[kind.id];
      return kind.id === WEBCHAT ? this.#webchat(kind) : given ? entryOf(kind, given.enabled === true) : [];
    });
  }

  /** Throws `NOT_FOUND` where it is neither connected nor configured. */
  async get(id: string): Promise<ChannelEntry> {
    const found = (await this.list()).find((channel) => channel.id === id);
    if (found) return found;
    const known = (await this.#catalog()).some((kind) => kind.id === id);
    throw new RpcError(
      'NOT_FOUND',
      known
        ? `The channel ${id} is not configured: set channels.${id}`
        : `There is no channel ${id}; channels.catalog has those that there are`,
    );
  }

  #webchat(kind: ChannelKind): ChannelEntry {
    return { ...metadataOf(kind), name: kind.id, running: true, status: 'running', source: 'runtime', metrics: { ...this.#metrics } };
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
