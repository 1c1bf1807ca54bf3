import type { RpcError } from '#shared/rpc/errors.ts';
import { type Clock, every } from '../clock.ts';
import type { LogWriter } from '../log/log.ts';
import { pause } from '../providers/watchdog.ts';
import type { Runs } from '../runs/runs.ts';
import type { Settings } from '../settings.ts';
import type { SyncPort } from '../sync.ts';
import type { Vault } from '../vault.ts';
import type { Approvals } from '../approvals/approvals.ts';
import type { ChannelAdapter } from './adapter.ts';
import { Answering } from './answering.ts';
import { backOff } from './back-off.ts';
import { Inbox, TakenOver } from './inbox.ts';
import { PlatformError } from './platform.ts';
import { accessTo, createCodes, mayWrite } from './senders.ts';

/** Duration of the channel's lease: a live host renews it, and a dead one loses it after this time. */
const LEASE_MS = 20_000;
const RENEW_MS = 8_000;
/** Delay before trying again while another host holds the lease. */
const WAIT_MS = 5_000;
/** Time for the previous host's last writes to arrive. */
const SETTLE_MS = 4_000;
/** Number of waiting messages at which no more are fetched: the platform keeps them. */
const FULL = 200;

export interface RunningChannelDeps {
  id: string;
  /** Creates an adapter for each new connection. */
  adapter(): ChannelAdapter;
  vault: Pick<Vault, 'collection' | 'messages'>;
  runs: Pick<Runs, 'send' | 'abort' | 'abortRun'>;
  approvals(): Promise<Pick<Approvals, 'hold'>>;
  clock: Clock;
  sync: SyncPort | undefined;
  settings(): Settings;
  log: LogWriter;
  fault(error: unknown): RpcError;
}

/** A channel run by this host: polls for messages, has them answered, and recovers from errors. */
export class RunningChannel {
  readonly #deps: RunningChannelDeps;
  readonly #ends = new AbortController();
  /** Aborts when nothing new may be started. */
  readonly #closing = new AbortController();
  readonly #problems: { looking?: string | undefined; answering?: string | undefined } = {};
  #connectedSince: number | null = null;
  #inbox: Inbox | undefined;
  #answering: Answering | undefined;
  readonly #work: Promise<void>;

  constructor(deps: RunningChannelDeps) {
    this.#deps = deps;
    this.#work = this.#run();
  }

  /** Whether the platform was reached; a part of the channel may still fail. */
  get connected(): boolean {
    return this.#connectedSince !== null;
  }

  get problem(): string | undefined {
    return this.#problems.looking ?? this.#problems.answering;
  }

  /** Stops the channel; resolves when another host may take it over. `finish`: whether to finish answers in progress first. */
  async stop({ finish = false } = {}): Promise<void> {
    this.#closing.abort();
    if (finish) await this.#answering?.idle();
    this.#ends.abort();
    await this.#work;
  }

  async #run(): Promise<void> {
    const { clock, adapter } = this.#deps;
    for (let failures = 0; !this.#ends.signal.aborted;) {
      const lost = new AbortController();
      const signal = AbortSignal.any([this.#ends.signal, lost.signal]);
      const leased = { fence: 0, stop: (): void => {} };
      try {
        await this.#lease(leased, signal, lost);
        await this.#serve(adapter(), signal, lost, () => (failures = 0));
      } catch (error) {
        if (this.#ends.signal.aborted) break;
        // The connection was cut, or another host was faster: start over.
        if (!lost.signal.aborted && !(error instanceof TakenOver)) this.#deps.fault(error);
      } finally {
        leased.stop();
        await this.#close(leased.fence);
      }
      await pause(clock, backOff(++failures, WAIT_MS), this.#ends.signal).catch(() => {});
    }
  }

  /**
   * Waits until this host holds the channel's lease, and keeps renewing it. `leased` is filled in also if the wait is aborted, since a
   * lease that is not released stays with this host.
   */
  async #lease(leased: { fence: number; stop: () => void }, signal: AbortSignal, lost: AbortController): Promise<void> {
    const { id, sync, clock } = this.#deps;
    const isShared = (): boolean => sync?.state().state === 'synced';
    if (!sync || !isShared()) return;
    const take = (): Promise<number | null> => sync.lease(leaseOf(id), LEASE_MS);
    let fence = await take();
    for (; fence === null; fence = await take()) await pause(clock, WAIT_MS, signal);
    leased.fence = fence;
    // With the first fence there was no previous host.
    if (fence > 1) await pause(clock, SETTLE_MS, signal);
    leased.stop = every(clock, RENEW_MS, () => {
      void take().then((renewed) => {
        if (renewed !== fence && isShared()) lost.abort(new TakenOver('The lease of the channel was lost'));
      });
    });
  }

  async #serve(adapter: ChannelAdapter, signal: AbortSignal, lost: AbortController, worked: () => void): Promise<void> {
    const { id, vault, runs, approvals, clock, settings, log, fault } = this.#deps;
    const inbox = await Inbox.open(vault.collection('channelStates'), id);
    const note = (message: string, fields: Record<string, unknown>): void => log.write('warn', 'channels', `${id}: ${message}`, fields);
    this.#inbox = inbox;
    const answering = new Answering({
      ...{ channelId: id, adapter, inbox, vault, runs, approvals, clock, settings, signal, note, fault },
      closing: () => this.#closing.signal.aborted,
      lost: () => lost.abort(new TakenOver('Another gateway has taken over the channel')),
      tell: (problem) => this.#tell('answering', problem),
    });
    this.#answering = answering;
    answering.look();
    const looks = AbortSignal.any([signal, this.#closing.signal]);
    for (let failures = 0; ;) {
      let wait: number;
      try {
        if (inbox.state.pending.filter(({ held }) => !held).length >= FULL) wait = WAIT_MS;
        else {
          const { cursors, budget } = inbox.state;
          const look = await adapter.look({ cursors, budget, signal: looks, spend: (spent) => inbox.spend(spent) });
          const access = settings().channels[id];
          const strangers = look.messages.filter((message) => !mayWrite(access, message));
          const codes = access && accessTo(access) === 'ask' ? await createCodes(strangers, inbox.state, clock.now()) : new Map();
          if (codes.size > 0) note('Unknown senders got a code to pair with', { count: codes.size });
          const messages = look.messages.filter((message) => codes.has(message.id) || !strangers.includes(message));
          await inbox.take({ cursors: look.cursors, messages, codes }, clock.now());
          answering.look();
          this.#connectedSince ??= clock.now();
          this.#tell('looking', look.problem);
          wait = look.nextMs;
        }
        failures = 0;
        worked();
      } catch (error) {
        looks.throwIfAborted();
        if (error instanceof TakenOver) throw error;
        failures++;
        const ofPlatform = error instanceof PlatformError;
        this.#connectedSince = null;
        this.#tell('looking', ofPlatform ? error.message : fault(error).message);
        wait = (ofPlatform ? error.retryAfterMs : undefined) ?? backOff(failures, adapter.leastWaitMs);
      }
      await pause(clock, wait, looks);
    }
  }

  async #close(fence: number): Promise<void> {
    const { id, sync } = this.#deps;
    // On a handover, answers in progress finish under the lease.
    this.#connectedSince = null;
    await this.#answering?.idle();
    this.#answering = undefined;
    this.#inbox = undefined;
    if (fence > 0) await sync?.release(leaseOf(id), fence);
  }

  #tell(what: 'looking' | 'answering', problem: string | undefined): void {
    const { log, id } = this.#deps;
    const before = this.problem;
    this.#problems[what] = problem;
    const now = this.problem;
    if (now !== before)
      log.write(now === undefined ? 'info' : 'warn', 'channels', now === undefined ? `${id}: connected` : `${id}: ${now}`);
    this.#inbox?.tell(now, this.#connectedSince).catch((error: unknown) => {
      if (!(error instanceof TakenOver) && !this.#ends.signal.aborted) this.#deps.fault(error);
    });
  }
}

const leaseOf = (id: string): string => `channel:${id}`;
