import type { RpcError } from '#shared/rpc/rpc-error.ts';
import { type Clock, every } from '#shared/async/clock.ts';
import type { LogWriter } from '../../system/log/log.ts';
import { sleep } from '#shared/async/watchdog.ts';
import type { Runs } from '../../agent/runs/runs.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { Approvals } from '../../agent/approvals/approvals.ts';
import { Mutex } from '#shared/async/mutex.ts';
import type { ButtonPress, ChannelAdapter, SentReceipt } from './channel-adapter.ts';
import { ChannelResponder } from './channel-responder.ts';
import { computeBackoff } from '#shared/async/backoff.ts';
import { Inbox, TakenOverError } from './inbox.ts';
import type { ChannelMedia } from './media/channel-media.ts';
import { PlatformError } from './platform-request.ts';
import { Admission } from './admission.ts';
import type { Lazy } from '../../system/modules.ts';

/** Duration of the channel's lease: a live host renews it, and a dead one loses it after this time. */
const LEASE_MS = 20_000;
const RENEW_MS = 8_000;
/** Delay before trying again while another host holds the lease. */
const RETRY_MS = 5_000;
/** Time for the previous host's last writes to arrive. */
const SETTLE_MS = 4_000;
/** Number of waiting messages at which no more are fetched: the platform keeps them. */
const MAX_PENDING = 200;

export interface RunningChannelDeps {
  id: string;
  /** Creates an adapter for each new connection. */
  adapter(): Promise<ChannelAdapter>;
  vault: Pick<Vault, 'collection' | 'messages'>;
  runs: Pick<Runs, 'send' | 'abort' | 'abortRun'>;
  media: ChannelMedia;
  approvalService: Lazy<{ approvals: Pick<Approvals, 'hold'> }>;
  /** Handles a press of a button; undefined if it is of no use any more. */
  handlePress(channelId: string, press: ButtonPress): Promise<{ message: string } | undefined>;
  clock: Clock;
  sync: SyncPort | undefined;
  settings(): Settings;
  log: LogWriter;
  onReceipts(receipts: readonly SentReceipt[]): void;
  fault(error: unknown): RpcError;
}

/** A channel run by this host: polls for messages, has them answered, and recovers from errors. */
export class RunningChannel {
  readonly #deps: RunningChannelDeps;
  readonly #stopping = new AbortController();
  /** Aborts when nothing new may be started. */
  readonly #closing = new AbortController();
  readonly #admission: Admission;
  readonly #problems: { looking?: string | undefined; answering?: string | undefined } = {};
  #connectedSince: number | null = null;
  #inbox: Inbox | undefined;
  #responder: ChannelResponder | undefined;
  /** The connection that posts use. */
  #connection: { adapter: ChannelAdapter; signal: AbortSignal } | undefined;
  readonly #posts = new Mutex();
  readonly #work: Promise<void>;

  constructor(deps: RunningChannelDeps) {
    this.#deps = deps;
    const { clock, log, id } = deps;
    this.#admission = new Admission({ clock, warn: (message, fields) => log.write('warn', 'channels', `${id}: ${message}`, fields) });
    this.#work = this.#run();
  }

  /** Whether the platform was reached; a part of the channel may still fail. */
  get isConnected(): boolean {
    return this.#connectedSince !== null;
  }

  get problem(): string | undefined {
    return this.#problems.looking ?? this.#problems.answering;
  }

  /**
   * Uses the channel's connection for a message that answers none; one task after another. Throws `PlatformError` if the channel is not
   * connected, or is stopped meanwhile.
   */
  async usePosts<T>(signal: AbortSignal, task: (adapter: ChannelAdapter, signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#posts.take(signal, async () => {
      const connection = this.#connection;
      if (!connection || !this.isConnected || this.#closing.signal.aborted)
        throw new PlatformError(this.problem ?? 'The channel is not connected.', { isUnsent: true });
      try {
        return await task(connection.adapter, AbortSignal.any([signal, connection.signal]));
      } catch (error) {
        if (signal.aborted || !connection.signal.aborted) throw error;
        throw new PlatformError('The channel was stopped while sending.', { cause: error });
      }
    });
  }

  /** Answers a call of the platform; undefined if the channel takes none, or is not connected. */
  async receiveCall(request: Request): Promise<Response | undefined> {
    const connection = this.#closing.signal.aborted ? undefined : this.#connection;
    return connection?.adapter.receiveCall?.(request);
  }

  /** Stops the channel; resolves when another host may take it over. `finish`: whether to finish answers in progress first. */
  async stop({ finish = false } = {}): Promise<void> {
    this.#closing.abort();
    if (finish) await this.#responder?.whenIdle();
    this.#stopping.abort();
    await this.#work;
  }

  async #run(): Promise<void> {
    const { clock, adapter } = this.#deps;
    for (let failures = 0; !this.#stopping.signal.aborted;) {
      const leaseLost = new AbortController();
      const signal = AbortSignal.any([this.#stopping.signal, leaseLost.signal]);
      const leased = { fence: 0, stop: (): void => {} };
      let platform: ChannelAdapter | undefined;
      try {
        await this.#lease(leased, signal, leaseLost);
        platform = await adapter();
        await this.#serve(platform, signal, leaseLost, () => (failures = 0));
      } catch (error) {
        if (this.#stopping.signal.aborted) break;
        // The connection was cut, or another host was faster: start over.
        if (!leaseLost.signal.aborted && !(error instanceof TakenOverError)) this.#deps.fault(error);
      } finally {
        leased.stop();
        await this.#close(leased.fence);
        platform?.close?.();
      }
      await sleep(clock, computeBackoff(++failures, RETRY_MS), this.#stopping.signal).catch(() => {});
    }
  }

  /**
   * Waits until this host holds the channel's lease, and keeps renewing it. `leased` is filled in also if the wait is aborted, since a
   * lease that is not released stays with this host.
   */
  async #lease(leased: { fence: number; stop: () => void }, signal: AbortSignal, leaseLost: AbortController): Promise<void> {
    const { id, sync, clock } = this.#deps;
    const isShared = (): boolean => sync?.state().state === 'synced';
    if (!sync || !isShared()) return;
    const acquire = (): Promise<number | null> => sync.lease(toLeaseName(id), LEASE_MS);
    let fence = await acquire();
    for (; fence === null; fence = await acquire()) await sleep(clock, RETRY_MS, signal);
    leased.fence = fence;
    // With the first fence there was no previous host.
    if (fence > 1) await sleep(clock, SETTLE_MS, signal);
    leased.stop = every(clock, RENEW_MS, () => {
      void acquire().then((renewed) => {
        if (renewed !== fence && isShared()) leaseLost.abort(new TakenOverError('The lease of the channel was lost'));
      });
    });
  }

  async #serve(adapter: ChannelAdapter, signal: AbortSignal, leaseLost: AbortController, onSuccess: () => void): Promise<void> {
    const { id, vault, runs, media, approvalService, clock, settings, log, onReceipts, fault } = this.#deps;
    const inbox = await Inbox.open(vault.collection('channelStates'), id);
    const note = (message: string, fields: Record<string, unknown>): void => log.write('warn', 'channels', `${id}: ${message}`, fields);
    this.#inbox = inbox;
    const responder = new ChannelResponder({
      ...{ channelId: id, adapter, inbox, vault, runs, media, approvalService, clock, settings, signal, warn: note, fault },
      isClosing: () => this.#closing.signal.aborted,
      onTakenOver: () => leaseLost.abort(new TakenOverError('Another gateway has taken over the channel')),
      reportProblem: (problem) => this.#setProblem('answering', problem),
    });
    this.#responder = responder;
    this.#connection = { adapter, signal };
    responder.startPending();
    const pollSignal = AbortSignal.any([signal, this.#closing.signal]);
    for (let failures = 0; ;) {
      let wait: number;
      let isStoring = false;
      try {
        if (inbox.state.pending.filter(({ held }) => !held).length >= MAX_PENDING) wait = RETRY_MS;
        else {
          const { cursors, budget } = inbox.state;
          const result = await adapter.poll({ cursors, budget, signal: pollSignal, spend: (spent) => inbox.setBudget(spent) });
          isStoring = true;
          // Before the read position is stored: a press that was read must have its effect, and has none the second time.
          for (const press of result.presses ?? []) await this.#handlePress(press, adapter, pollSignal);
          const admitted = await this.#admission.admit(result.messages, inbox.state, settings().channels[id]);
          const { cursors: positions, deleted = [] } = result;
          await inbox.add({ cursors: positions, deleted, ...admitted }, clock.now());
          responder.startPending();
          if (result.receipts) onReceipts(result.receipts);
          this.#connectedSince ??= clock.now();
          this.#setProblem('looking', result.problem);
          wait = result.nextMs;
        }
        failures = 0;
        onSuccess();
      } catch (error) {
        pollSignal.throwIfAborted();
        // What the adapter has returned is not stored: a new one begins at the stored positions.
        if (error instanceof TakenOverError || isStoring) throw error;
        failures++;
        const isPlatformError = error instanceof PlatformError;
        this.#connectedSince = null;
        this.#setProblem('looking', isPlatformError ? error.message : fault(error).message);
        wait = (isPlatformError ? error.retryAfterMs : undefined) ?? computeBackoff(failures, adapter.minRetryMs);
      }
      await sleep(clock, wait, pollSignal);
    }
  }

  async #handlePress(press: ButtonPress, adapter: ChannelAdapter, signal: AbortSignal): Promise<void> {
    const { id, handlePress, fault } = this.#deps;
    let text = 'This button is not valid any more.';
    try {
      text = (await handlePress(id, press))?.message ?? text;
    } catch (error) {
      text = fault(error).message;
    }
    // Not awaited: polling goes on, and a failure only leaves the button spinning for a while.
    adapter.answerPress?.(press, text, signal).catch(() => {});
  }

  async #close(fence: number): Promise<void> {
    const { id, sync } = this.#deps;
    // On a handover, answers in progress finish under the lease.
    this.#connectedSince = null;
    await this.#responder?.whenIdle();
    this.#responder = undefined;
    this.#connection = undefined;
    this.#inbox = undefined;
    if (fence > 0) await sync?.release(toLeaseName(id), fence);
  }

  #setProblem(task: 'looking' | 'answering', problem: string | undefined): void {
    const { log, id } = this.#deps;
    const before = this.problem;
    this.#problems[task] = problem;
    const now = this.problem;
    if (now !== before)
      log.write(now === undefined ? 'info' : 'warn', 'channels', now === undefined ? `${id}: connected` : `${id}: ${now}`);
    this.#inbox?.setStatus(now, this.#connectedSince).catch((error: unknown) => {
      if (!(error instanceof TakenOverError) && !this.#stopping.signal.aborted) this.#deps.fault(error);
    });
  }
}

const toLeaseName = (id: string): string => `channel:${id}`;
