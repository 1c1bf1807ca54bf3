import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import type { ChannelEntry, ChannelKind } from '#shared/rpc/methods/channel-contracts.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import { announcer } from '#app/state/announcer.svelte.ts';
import { readSetting } from '#app/state/read-setting.ts';

/** Interval of polling: no event reports messages, or that a channel has connected. */
const REFRESH_MS = 5_000;
const CONNECTING_REFRESH_MS = 1_000;

type Sender = MethodResult<'channels.confirmSender'>['sender'];

/** Empty lists for hosts of older builds, which have no senders. */
function withoutSenders(error: unknown): MethodResult<'channels.senders'> {
  if (error instanceof RpcError && error.code === 'METHOD_NOT_FOUND') return { waiting: [], paired: [] };
  throw error;
}

/** The channels through which people reach agents outside the app. */
class Channels {
  /** Null before the first answer. */
  list = $state.raw<ChannelEntry[] | null>(null);
  /** All supported channels. */
  kinds = $state.raw<ChannelKind[]>([]);
  /** People on channels who wait to be let in by the owner, and those who were. */
  senders = $state.raw<MethodResult<'channels.senders'>>({ waiting: [], paired: [] });
  problem = $state<Problem | null>(null);
  #loadCount = 0;
  #requestedAt = 0;
  #changedAt = -Infinity;

  /** Loads the channels now, when the configuration changes, and every few seconds while the page is visible. Returns a function that stops it. */
  watch(): () => void {
    void this.load();
    const stop = gateway.on('config.changed', () => {
      this.#changedAt = performance.now();
      void this.load();
    });
    const timer = setInterval(() => {
      const now = performance.now();
      // A channel that restarts reports its old status for a moment.
      const pollSoon =
        now - this.#changedAt < REFRESH_MS || this.list?.some((each) => this.isConnecting(each) && each.problem === undefined);
      if (!document.hidden && now - this.#requestedAt >= (pollSoon ? 0 : REFRESH_MS)) void this.load();
    }, CONNECTING_REFRESH_MS);
    return () => {
      stop();
      clearInterval(timer);
    };
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    this.#requestedAt = performance.now();
    try {
      const [{ channels }, senders, { channels: kinds }] = await Promise.all([
        gateway.call('channels.list', {}),
        gateway.call('channels.senders', {}).catch(withoutSenders),
        this.kinds.length > 0 ? { channels: this.kinds } : gateway.call('channels.catalog', {}),
      ]);
      if (loadId !== this.#loadCount) return;
      this.kinds = kinds;
      this.senders = senders;
      // A fixed order: no row moves when its channel connects.
      const getKindIndex = ({ id }: ChannelEntry): number => kinds.findIndex((kind) => kind.id === id);
      this.list = channels.toSorted((a, b) => getKindIndex(a) - getKindIndex(b));
      this.problem = null;
    } catch (error) {
      if (loadId === this.#loadCount && !isConnectionLost(error)) this.problem = toProblem(error, m.channels_doing_read());
    }
  }

  findKind(id: string): ChannelKind | undefined {
    return this.kinds.find((kind) => kind.id === id);
  }

  /** Whether the channel is enabled and still connecting. */
  isConnecting({ id, status }: ChannelEntry): boolean {
    return status === 'configured' && this.findKind(id)?.startable === true;
  }

  /** Settings of a channel, with secrets as `***`. Rejects if the gateway refuses. */
  async loadSettings(id: string): Promise<Record<string, unknown>> {
    const value = await readSetting(`channels.${id}`);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  }

  /** Saves settings of a channel; null removes one. */
  async save(id: string, settings: Record<string, unknown>): Promise<void> {
    await gateway.call('config.patch', { patch: { channels: { [id]: settings } } });
    announcer.announce(m.channels_was_set_up());
    await this.load();
  }

  async setEnabled({ id, display_name }: ChannelEntry, on: boolean): Promise<void> {
    await gateway.call(on ? 'channels.start' : 'channels.stop', { channelId: id });
    announcer.announce(on ? m.channels_is_on({ name: display_name }) : m.channels_is_off({ name: display_name }));
    await this.load();
  }

  /** Returns the address at which the account's owner authorizes the channel. */
  async authorize({ id }: ChannelEntry): Promise<string> {
    return (await gateway.call('channels.authorize', { channelId: id })).url;
  }

  /** Lets in the sender who received the code. */
  async confirmSender(channelId: string, code: string, nameFor: (sender: Sender) => string): Promise<void> {
    const { sender } = await gateway.call('channels.confirmSender', { channelId, code });
    announcer.announce(m.channels_was_let_in({ name: nameFor(sender) }));
    await this.load();
  }

  async removeSender(channelId: string, userId: string): Promise<void> {
    await gateway.call('channels.removeSender', { channelId, userId });
    await this.load();
  }

  async remove({ id }: ChannelEntry): Promise<void> {
    await gateway.call('config.patch', { patch: { channels: { [id]: null } } });
    announcer.announce(m.channels_was_removed());
    await this.load();
  }
}

export const channels = new Channels();
