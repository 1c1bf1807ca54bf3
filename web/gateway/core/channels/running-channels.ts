import { RpcError } from '#shared/rpc/errors.ts';
import { sha256 } from '#shared/sha256.ts';
import type { Bridge } from '../bridge.ts';
import { canonical } from '../canonical.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { Turn } from '../cron/turn.ts';
import type { Fetch } from '../fetch.ts';
import type { LogWriter } from '../log/log.ts';
import type { Authorizations } from '../oauth/authorizations.ts';
import { repeated } from '../repeated.ts';
import type { Runs } from '../runs/runs.ts';
import type { Settings } from '../settings.ts';
import type { SyncPort } from '../sync.ts';
import type { Vault } from '../vault.ts';
import { heldBack, tokenOf } from './held-back.ts';
import { apiBaseOf, STARTABLE, type StartableChannel } from './settings.ts';
import { RunningChannel, type RunningChannelDeps } from './running-channel.ts';
import { TelegramAdapter } from './telegram/telegram.ts';
import type { ChannelAdapter } from './adapter.ts';
import { XAuthorization } from './x/authorization.ts';
import { XAdapter } from './x/x.ts';

export interface RunningChannelsDeps {
  config: Pick<Config, 'settings' | 'secret' | 'reference'>;
  vault: Pick<Vault, 'collection' | 'messages' | 'secrets'>;
  runs: Pick<Runs, 'send' | 'abort' | 'abortRun'>;
  approvals: RunningChannelDeps['approvals'];
  bridge: Bridge;
  clock: Clock;
  fetch: Fetch;
  sync: SyncPort | undefined;
  log: LogWriter & { hide(secrets: Iterable<string>): void };
  fault(error: unknown): RpcError;
}

interface Running {
  /** Hash of the settings and token that it was started with: a different one causes a restart. */
  key: string;
  channel: RunningChannel;
}

/** Runs the enabled channels, on the active host only, while a bridge provides egress. */
export class RunningChannels {
  readonly #deps: RunningChannelsDeps;
  readonly #turn: Turn;
  readonly #running = new Map<StartableChannel, Running>();
  readonly #account: XAuthorization;
  readonly #unwatch: () => void;
  readonly #look = repeated(() => this.#lookOnce());
  #stopped = false;

  constructor(deps: RunningChannelsDeps) {
    this.#deps = deps;
    this.#turn = new Turn(deps.sync, deps.clock);
    const { config, vault, fetch, clock, log, fault } = deps;
    this.#account = new XAuthorization({
      ...{ fetch, clock, secrets: vault.secrets },
      settings: () => config.settings.channels.x,
      clientSecret: () => config.secret('channels.x.clientSecret'),
      hide: (secrets) => log.hide(secrets),
      granted: () => void this.restart('x').catch(fault),
    });
    const again = (): void => void this.look().catch(deps.fault);
    const stops = [deps.bridge.watch(again), deps.sync?.watch(again) ?? (() => {})];
    this.#unwatch = () => stops.forEach((stop) => stop());
  }

  /** Called when the settings, the bridge or the active host may have changed. */
  look(): Promise<void> {
    return this.#look();
  }

  /** State of a channel that this host runs; undefined if it does not. */
  state(id: string): { connected: boolean; problem: string | undefined } | undefined {
    const channel = STARTABLE.find((each) => each === id);
    const running = channel && this.#running.get(channel);
    return running && { connected: running.channel.connected, problem: running.channel.problem };
  }

  /** Retries at once instead of after the delay. */
  async restart(id: string): Promise<void> {
    const channel = STARTABLE.find((each) => each === id);
    if (channel) await this.#end(channel, false);
    await this.look();
  }

  /**
   * The address where the owner of the channel's account authorizes access. Throws `INVALID_PARAMS` if the channel needs no authorization,
   * or lacks a setting for it.
   */
  async authorize(id: string, authorizations: Authorizations): Promise<string> {
    if (id !== 'x') throw new RpcError('INVALID_PARAMS', `Channel "${id}" needs no authorization beyond its token.`);
    return this.#account.begin(authorizations);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unwatch();
    this.#turn.stop();
    await Promise.all([...this.#running.keys()].map((id) => this.#end(id, false)));
  }

  async #lookOnce(): Promise<void> {
    for (const id of STARTABLE) {
      if (this.#stopped) return;
      const settings = this.#deps.config.settings.channels[id];
      const token = tokenOf(id, this.#deps);
      const can = settings?.enabled === true && heldBack(id, this.#deps) === undefined;
      const wanted = can && token !== undefined && this.#serves();
      const key = wanted ? await sha256(canonical([settings, token])) : '';
      const current = this.#running.get(id);
      if (current && current.key !== key) {
        // If another host is active, answers in progress finish here while the lease is still held. Not awaited, since other channels are
        // waiting.
        const ended = this.#end(id, !wanted && settings?.enabled === true && this.#deps.sync?.state().state === 'synced');
        if (wanted) await ended;
      }
      if (!wanted || this.#stopped || this.#running.has(id)) continue;
      this.#running.set(id, { key, channel: this.#start(id, token) });
    }
  }

  /** While disconnected from the bridge, another host may have taken the lease, whichever was active before. */
  #serves(): boolean {
    return this.#deps.sync?.state().state !== 'away' && this.#turn.serves();
  }

  async #end(id: StartableChannel, finish: boolean): Promise<void> {
    const current = this.#running.get(id);
    if (!current) return;
    await current.channel.stop({ finish });
    if (this.#running.get(id) === current) this.#running.delete(id);
    // The channel may be enabled again by now.
    if (!this.#stopped) void this.look().catch(this.#deps.fault);
  }

  #start(id: StartableChannel, token: string): RunningChannel {
    const { vault, runs, approvals, clock, sync, config, log, fault } = this.#deps;
    return new RunningChannel({
      ...{ id, vault, runs, approvals, clock, sync, log, fault },
      settings: (): Settings => config.settings,
      adapter: () => this.#adapter(id, token),
    });
  }

  #adapter(id: StartableChannel, token: string): ChannelAdapter {
    const { fetch, clock, config } = this.#deps;
    const { x, telegram } = config.settings.channels;
    if (id === 'telegram') return new TelegramAdapter({ fetch, clock, token, apiBase: apiBaseOf(id, telegram) });
    if (!x) throw new Error('Channel "x" has no settings.');
    return new XAdapter({
      ...{ fetch, clock, token, settings: x, apiBase: apiBaseOf(id, x) },
      accountToken: (signal) => this.#account.token(signal),
    });
  }
}
