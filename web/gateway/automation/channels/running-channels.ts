import { RpcError } from '#shared/rpc/rpc-error.ts';
import { sha256 } from '#shared/sha256.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Config } from '../../config/gateway-config.ts';
import { JobCoordinator } from '../cron/job-coordinator.ts';
import type { Fetch } from '../../ports/fetch.ts';
import type { LogWriter } from '../../system/log/log.ts';
import type { Authorizations } from '../../config/oauth/authorizations.ts';
import { coalesce } from '#shared/async/coalesce.ts';
import type { Runs } from '../../agent/runs/runs.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { findBlocker, getChannelToken } from './channel-blocker.ts';
import { getApiBase, getStartableSpec, STARTABLE_CHANNELS, type StartableChannel } from '../../config/sections/channel-settings.ts';
import { RunningChannel, type RunningChannelDeps } from './running-channel.ts';
import type { DocumentReader } from '../../documents/document-reader.ts';
import { ChannelMedia, type ChannelMediaDeps } from './media/channel-media.ts';
import type { ChannelAdapter, SentReceipt } from './channel-adapter.ts';
import { PlatformError } from './platform-request.ts';
import { XAuthorization } from './x/x-authorization.ts';

export interface RunningChannelsDeps {
  config: Pick<Config, 'settings' | 'getSecret' | 'getReference'>;
  vault: Pick<Vault, 'collection' | 'messages' | 'secrets' | 'usage'>;
  providers: ChannelMediaDeps['providers'];
  documents: DocumentReader;
  runs: Pick<Runs, 'send' | 'abort' | 'abortRun'>;
  approvalService: RunningChannelDeps['approvalService'];
  handlePress: RunningChannelDeps['handlePress'];
  bridge: Bridge;
  clock: Clock;
  fetch: Fetch;
  sync: SyncPort | undefined;
  log: LogWriter & { hide(secrets: Iterable<string>): void };
  fault(error: unknown): RpcError;
}

interface StartedChannel {
  /** Hash of the settings and secrets that it was started with: a different one causes a restart. */
  key: string;
  channel: RunningChannel;
}

/** Runs the enabled channels, on the active host only; those that a browser cannot reach, while a bridge provides egress. */
export class RunningChannels {
  readonly #deps: RunningChannelsDeps;
  readonly #coordinator: JobCoordinator;
  readonly #running = new Map<StartableChannel, StartedChannel>();
  readonly #media: ChannelMedia;
  readonly #authorization: XAuthorization;
  readonly #unwatch: () => void;
  readonly #refresh = coalesce(() => this.#refreshOnce());
  #stopped = false;
  /** Called with receipts for what the channels have posted. */
  onReceipts: (channelId: string, receipts: readonly SentReceipt[]) => void = () => {};

  constructor(deps: RunningChannelsDeps) {
    this.#deps = deps;
    this.#coordinator = new JobCoordinator(deps.sync, deps.clock);
    const { config, vault, fetch, clock, log, fault, providers, documents, bridge } = deps;
    this.#media = new ChannelMedia({ providers, documents, bridge, usage: vault.usage, clock });
    this.#authorization = new XAuthorization({
      ...{ fetch, clock, secrets: vault.secrets },
      settings: () => config.settings.channels.x,
      clientSecret: () => config.getSecret('channels.x.clientSecret'),
      hide: (secrets) => log.hide(secrets),
      onAuthorized: () => void this.restart('x').catch(fault),
    });
    const refresh = (): void => void this.refresh().catch(deps.fault);
    const stops = [deps.bridge.watch(refresh), deps.sync?.watch(refresh) ?? (() => {})];
    this.#unwatch = () => stops.forEach((stop) => stop());
  }

  /** Called when the settings, the bridge or the active host may have changed. */
  refresh(): Promise<void> {
    return this.#refresh();
  }

  /** State of a channel that this host runs; undefined if it does not. */
  getState(id: string): { connected: boolean; problem: string | undefined } | undefined {
    const channel = STARTABLE_CHANNELS.find((channelId) => channelId === id);
    const running = channel && this.#running.get(channel);
    return running && { connected: running.channel.isConnected, problem: running.channel.problem };
  }

  /** Uses a channel's connection for a message that answers none. Throws `PlatformError` if this host does not run the channel. */
  async usePosts<T>(id: string, signal: AbortSignal, task: (adapter: ChannelAdapter, signal: AbortSignal) => Promise<T>): Promise<T> {
    const channel = STARTABLE_CHANNELS.find((channelId) => channelId === id);
    const running = channel && this.#running.get(channel);
    if (running) return running.channel.usePosts(signal, task);
    const problem = channel && findBlocker(channel, this.#deps);
    throw new PlatformError(problem ?? `The channel "${id}" is not running.`, { isUnsent: true });
  }

  /** Answers a call of a platform to `/hooks/channels/<id>`; undefined if this host runs no such channel. */
  async receiveCall(id: string, request: Request): Promise<Response | undefined> {
    const channel = STARTABLE_CHANNELS.find((channelId) => channelId === id);
    return channel && this.#running.get(channel)?.channel.receiveCall(request);
  }

  /** Retries at once instead of after the delay. */
  async restart(id: string): Promise<void> {
    const channel = STARTABLE_CHANNELS.find((channelId) => channelId === id);
    if (channel) await this.#stopChannel(channel, false);
    await this.refresh();
  }

  /**
   * The address where the owner of the channel's account authorizes access. Throws `INVALID_PARAMS` if the channel needs no authorization,
   * or lacks a setting for it.
   */
  async authorize(id: string, authorizations: Authorizations): Promise<string> {
    if (id !== 'x') throw new RpcError('INVALID_PARAMS', `Channel "${id}" needs no authorization beyond its token.`);
    return this.#authorization.begin(authorizations);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unwatch();
    this.#coordinator.stop();
    await Promise.all([...this.#running.keys()].map((id) => this.#stopChannel(id, false)));
  }

  async #refreshOnce(): Promise<void> {
    for (const id of STARTABLE_CHANNELS) {
      if (this.#stopped) return;
      const settings = this.#deps.config.settings.channels[id];
      const token = getChannelToken(id, this.#deps);
      const canRun = settings?.enabled === true && findBlocker(id, this.#deps) === undefined;
      const shouldRun = canRun && token !== undefined && this.#isActive();
      const secrets = [token, ...(getStartableSpec(id).secrets ?? []).map((name) => this.#deps.config.getSecret(`channels.${id}.${name}`))];
      const key = shouldRun ? await sha256(toCanonicalJson([settings, ...secrets.map((secret = '') => secret)])) : '';
      const current = this.#running.get(id);
      if (current && current.key !== key) {
        // If another host is active, answers in progress finish here while the lease is still held. Not awaited, since other channels are
        // waiting.
        const ended = this.#stopChannel(id, !shouldRun && settings?.enabled === true && this.#deps.sync?.state().state === 'synced');
        if (shouldRun) await ended;
      }
      if (!shouldRun || this.#stopped || this.#running.has(id)) continue;
      this.#running.set(id, { key, channel: this.#startChannel(id, token) });
    }
  }

  /** While disconnected from the bridge, another host may have taken the lease, whichever was active before. */
  #isActive(): boolean {
    return this.#deps.sync?.state().state !== 'away' && this.#coordinator.isActive();
  }

  async #stopChannel(id: StartableChannel, finish: boolean): Promise<void> {
    const current = this.#running.get(id);
    if (!current) return;
    await current.channel.stop({ finish });
    if (this.#running.get(id) === current) this.#running.delete(id);
    // The channel may be enabled again by now.
    if (!this.#stopped) void this.refresh().catch(this.#deps.fault);
  }

  #startChannel(id: StartableChannel, token: string): RunningChannel {
    const { vault, runs, approvalService, handlePress, clock, sync, config, log, fault } = this.#deps;
    return new RunningChannel({
      ...{ id, vault, runs, approvalService, handlePress, clock, sync, log, fault, media: this.#media },
      settings: (): Settings => config.settings,
      adapter: () => this.#createAdapter(id, token),
      onReceipts: (receipts) => this.onReceipts(id, receipts),
    });
  }

  /** Each platform's code is loaded when its channel starts. */
  async #createAdapter(id: StartableChannel, token: string): Promise<ChannelAdapter> {
    const { fetch, clock, config, bridge, log } = this.#deps;
    const { x, telegram, matrix, nostr, discord, slack, ntfy, whatsapp, signal, email, irc } = config.settings.channels;
    switch (id) {
      case 'telegram': {
        const { TelegramAdapter } = await import('./telegram/telegram-adapter.ts');
        return new TelegramAdapter({ fetch, clock, token, apiBase: getApiBase(id, telegram) });
      }
      case 'matrix': {
        const { MatrixAdapter } = await import('./matrix/matrix-adapter.ts');
        const homeserver = (matrix?.homeserver ?? '').replace(/\/+$/, '');
        return new MatrixAdapter({ fetch, clock, token, homeserver, access: () => config.settings.channels.matrix ?? {} });
      }
      case 'nostr': {
        const { NostrAdapter } = await import('./nostr/nostr-adapter.ts');
        return new NostrAdapter({ clock, privateKey: token, relays: (nostr?.relays ?? []).map((url) => url.replace(/\/+$/, '')) });
      }
      case 'discord': {
        const { DiscordAdapter } = await import('./discord/discord-adapter.ts');
        return new DiscordAdapter({ fetch, clock, token, apiBase: getApiBase(id, discord), readsAllMessages: discord?.groups === 'all' });
      }
      case 'slack': {
        const { SlackAdapter } = await import('./slack/slack-adapter.ts');
        const appToken = config.getSecret('channels.slack.appToken') ?? '';
        return new SlackAdapter({ fetch, clock, token, appToken, apiBase: getApiBase(id, slack) });
      }
      case 'email': {
        const { EmailAdapter } = await import('./email/email-adapter.ts');
        if (!email) throw new Error('Channel "email" has no settings.');
        return new EmailAdapter({
          ...{ bridge, clock, password: token, settings: () => config.settings.channels.email ?? email },
          note: (message, fields) => log.write('info', 'channels', `email: ${message}`, fields),
        });
      }
      case 'irc': {
        const { IrcAdapter } = await import('./irc/irc-adapter.ts');
        return new IrcAdapter({ bridge, clock, password: token, settings: () => config.settings.channels.irc ?? irc ?? {} });
      }
      case 'ntfy': {
        const { NtfyAdapter } = await import('./ntfy/ntfy-adapter.ts');
        const topics = { topic: ntfy?.topic ?? '', inboxTopic: ntfy?.inboxTopic ?? '' };
        return new NtfyAdapter({ fetch, clock, token, ...topics, apiBase: getApiBase(id, ntfy) });
      }
      case 'whatsapp': {
        const { WhatsAppAdapter } = await import('./whatsapp/whatsapp-adapter.ts');
        const getSecret = (name: string): string => config.getSecret(`channels.whatsapp.${name}`) ?? '';
        return new WhatsAppAdapter({
          ...{ fetch, clock, token, phoneNumberId: whatsapp?.phoneNumberId ?? '', apiBase: getApiBase(id, whatsapp) },
          ...{ appSecret: getSecret('secret'), verifyToken: getSecret('verifyToken') },
        });
      }
      case 'signal': {
        const { SignalAdapter } = await import('./signal/signal-adapter.ts');
        return new SignalAdapter({ fetch, clock, account: signal?.account ?? '', apiBase: getApiBase(id, signal) });
      }
      case 'x': {
        const { XAdapter } = await import('./x/x-adapter.ts');
        if (!x) throw new Error('Channel "x" has no settings.');
        return new XAdapter({
          ...{ fetch, clock, token, settings: x, apiBase: getApiBase(id, x) },
          accountToken: (signal) => this.#authorization.getToken(signal),
        });
      }
    }
  }
}
