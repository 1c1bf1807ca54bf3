import { DEFAULT_COMMAND_MS } from '#shared/ports/exec-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { ExecPolicy, ExecRequest } from '#shared/rpc/methods/exec-contracts.ts';
import { APPROVAL_TIMEOUT_MS, sortNewestFirst, DecisionQueue } from '../approvals/decision-queue.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import { type Clock, every } from '#shared/async/clock.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { isExactSource } from '../trust/content-sources.ts';
import type { ExecRecord, Vault } from '../../storage/vault-interface.ts';
import { executeCommand, type CommandOutcome } from './execute.ts';
import { CommandOutput, trimRecord } from './command-output.ts';
import { waitForExecPort, toOrphaned } from './orphaned-command.ts';
import { estimateRisk } from './risk.ts';
import { findPolicy, storePolicy } from './policies.ts';
import { resolveCommand } from './resolve-command.ts';
import { toExecSummary, toExecRequest, withPrevious } from './exec-views.ts';
import { getRecordSessionKey, emitExecEvents } from './exec-events.ts';
import { findUnreviewedFiles } from './unreviewed-files.ts';
import type { CommandRequest } from './command-request.ts';

/** Interval at which output of a running command is stored, in case the host dies. */
const SAVE_INTERVAL_MS = 2000;
export interface ExecRequestsDeps {
  vault: Vault;
  hub: Pick<EventBus, 'emit'>;
  clock: Clock;
  bridge: Bridge;
  labels: Pick<ContentLabels, 'list'>;
  sync: SyncPort | undefined;
  /** Time limit for a command in milliseconds; undefined for the default. */
  timeoutMs(): number | undefined;
  fault(error: unknown): RpcError;
}

/** An open request of this host. */
interface ActiveRequest {
  hasStarted: boolean;
  stop: AbortController;
  output: CommandOutput;
  done: PromiseWithResolvers<ExecRecord>;
}

/**
 * Requests to run a command: pending → approved → running → completed or failed, or denied, expired, cancelled. The host that created a
 * request runs it, once; the answer may come from any host of the vault.
 */
export class ExecRequests {
  readonly #deps: ExecRequestsDeps;
  readonly #queue: DecisionQueue<ExecRecord>;
  readonly #active = new Map<string, ActiveRequest>();
  #stopped = false;

  constructor(deps: ExecRequestsDeps) {
    this.#deps = deps;
    const { vault, clock, sync, fault } = deps;
    this.#queue = new DecisionQueue<ExecRecord>({
      store: vault.collection('execRequests'),
      vault,
      clock,
      sync,
      recordName: 'exec request',
      getId: ({ requestId }) => requestId,
      isOpen: ({ status }) => status === 'pending' || status === 'approved' || status === 'running',
      toExpired: (before, at) => ({ ...before, status: 'expired', resolvedAt: at, reason: 'No response in time' }),
      toOrphaned: (before, at) => toOrphaned(before, at, vault),
      onStatusChange: (record, before) => emitExecEvents(deps.hub, record, before),
      onOwnChange: (record, isClaimed) => this.#handleOwnChange(record, isClaimed),
      fault,
    });
  }

  start(): Promise<void> {
    return this.#queue.start();
  }

  /** Stops running commands; they are reported as failed, now or at the next start. */
  stop(): void {
    this.#stopped = true;
    this.#queue.stop();
    for (const { stop } of this.#active.values()) stop.abort(new RpcError('ABORTED', 'The gateway was closed.'));
  }

  refresh(ids: readonly string[]): Promise<void> {
    return this.#queue.refresh(ids);
  }

  /** All requests, without their output. */
  async list(): Promise<ExecRequest[]> {
    return (await this.listRecords()).map(toExecSummary);
  }

  /** All records, newest first. */
  listRecords(): Promise<ExecRecord[]> {
    return this.#queue.list();
  }

  async get(id: string): Promise<ExecRequest> {
    const record = await this.#queue.get(id);
    const active = this.#active.get(id);
    return withPrevious(toExecRequest(active?.hasStarted ? { ...record, ...active.output.fields } : record), await this.listRecords());
  }

  /** Whether a request with that id exists. */
  async has(id: string): Promise<boolean> {
    return (await this.#deps.vault.collection('execRequests').get(id)) !== undefined;
  }

  /**
   * Creates a request, which waits for approval, or runs at once if a stored policy covers exactly this command. Rejects without a bridge,
   * and with `INVALID_PARAMS` for a command that cannot run.
   */
  async create(
    {
      command,
      args,
      workingDir,
      purpose,
      toolCallId,
      subAgent,
      approved = false,
      outside,
      readOutside,
      isGranted = () => false,
      ...requester
    }: CommandRequest,
    signal: AbortSignal,
  ): Promise<ExecRequest> {
    const { bridge, vault, clock, labels } = this.#deps;
    const written = { command, args: [...args], ...(workingDir === undefined ? {} : { workingDir }) };
    const { asked, resolved: resolution } = await resolveCommand(bridge, written, signal);
    const { earlierHash, workspaces = [], ...resolved } = resolution;
    const policy = await findPolicy(vault, { ...resolved, ...requester, earlierHash });
    const { paths, sources } = await findUnreviewedFiles(labels, workspaces);
    const isAccepted = sources.length === 0 || isGranted(sources);
    const covered = policy !== undefined && (outside ?? []).every((source) => isExactSource(source) && policy.outside?.includes(source));
    const now = clock.now();
    const record: ExecRecord = {
      ...asked,
      ...resolved,
      ...requester,
      ...(purpose === undefined ? {} : { purpose }),
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(subAgent === undefined ? {} : { subAgent }),
      ...(outside === undefined ? {} : { outside }),
      // Further files that arrive before it runs are accepted too.
      ...(workspaces.length === 0 || (isAccepted && paths.length > 0) ? {} : { workspaces }),
      ...(isAccepted ? {} : { unreviewed: paths }),
      ...(readOutside === undefined ? {} : { readOutside }),
      requestId: crypto.randomUUID(),
      status: 'pending',
      createdAt: now,
      expiresAt: now + APPROVAL_TIMEOUT_MS,
      riskLevel: estimateRisk({ ...asked, realPath: resolved.realPath }),
      origin: vault.origin,
      replica: vault.replica,
    };
    const reason = !isAccepted
      ? undefined
      : covered
        ? 'Allowed by a saved policy for exactly this command'
        : approved
          ? 'Allowed by policy: exec is set to auto'
          : undefined;
    const created: ExecRecord = reason === undefined ? record : { ...record, status: 'approved', resolvedAt: now, reason };
    this.#active.set(created.requestId, createActiveRequest());
    try {
      await this.#queue.add(created);
    } catch (error) {
      this.#active.delete(created.requestId);
      throw error;
    }
    return toExecRequest(created);
  }

  /** Creates a request and waits for its end; the signal cancels it. */
  async perform(command: CommandRequest, signal: AbortSignal): Promise<ExecRequest> {
    const { requestId } = await this.create(command, signal);
    const ended = this.#active.get(requestId)?.done.promise;
    const cancel = (): void => void this.cancel(requestId, 'The run that requested it was stopped').catch(this.#deps.fault);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      return ended ? toExecRequest(await ended) : await this.get(requestId);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  async approve(id: string, always: boolean, resolvedVia = 'app'): Promise<ExecRequest> {
    const { vault, clock } = this.#deps;
    const { record, changed } = await this.#queue.answer(id, (before, at) => ({
      ...before,
      status: 'approved',
      resolvedAt: at,
      resolvedVia,
    }));
    if (changed && always && record.status === 'approved') {
      await storePolicy(vault, record, clock.now());
    }
    return toExecRequest(record);
  }

  async deny(id: string, reason?: string, resolvedVia = 'app'): Promise<ExecRequest> {
    const reasonField = reason === undefined ? {} : { reason };
    const denied = { status: 'denied', resolvedVia, ...reasonField } as const;
    const { record } = await this.#queue.answer(id, (before, at) => ({ ...before, ...denied, resolvedAt: at }));
    return toExecRequest(record);
  }

  /** Cancels a waiting request, or stops a running one, here or on another host. */
  async cancel(id: string, reason = 'Cancelled'): Promise<ExecRequest> {
    const { record, changed } = await this.#queue.answer(id, (before, at) => ({
      ...before,
      status: 'cancelled',
      resolvedAt: at,
      reason,
    }));
    if (changed || (record.status !== 'approved' && record.status !== 'running')) return toExecRequest(record);
    const active = this.#active.get(id);
    if (!active) {
      await this.#deps.sync?.signal(record.origin, { type: 'exec.cancel', requestId: id }).catch(() => false);
      return toExecRequest(record);
    }
    active.stop.abort(new RpcError('ABORTED', reason));
    return toExecRequest(await active.done.promise);
  }

  async listPolicies(): Promise<ExecPolicy[]> {
    return sortNewestFirst(await this.#deps.vault.collection('execPolicies').list());
  }

  async removePolicy(hash: string): Promise<void> {
    if (!(await this.#deps.vault.collection('execPolicies').remove(hash)))
      throw new RpcError('NOT_FOUND', `No policy with hash "${hash}".`);
  }

  /** Handles a change of one of this host's requests: starts or ends it. `isAdopted`: it belonged to another host until now. */
  #handleOwnChange(record: ExecRecord, isAdopted: boolean): void {
    const { requestId: id, status } = record;
    const active = this.#active.get(id);
    if (status === 'pending' && !active) return void this.#active.set(id, createActiveRequest());
    if (!active && isAdopted && status === 'approved') return void this.#takeOver(record).catch(this.#deps.fault);
    if (!active) {
      // The request has already ended here, which the other host did not know: an approval is used once, so it must not run.
      if (status === 'approved') this.#markEnded(id, 'Approved too late').catch(this.#deps.fault);
      return;
    }
    if (active.hasStarted || status === 'pending') return;
    if (status !== 'approved') return this.#finish(id, active, record);
    void this.#start(record, active);
  }

  /** Runs a request that was approved for a host that died before it started, once the bridge is attached. */
  async #takeOver(record: ExecRecord): Promise<void> {
    const { bridge, clock, fault } = this.#deps;
    const { requestId: id, expiresAt } = record;
    const active = { ...createActiveRequest(), begun: true };
    this.#active.set(id, active);
    try {
      await waitForExecPort(bridge, clock, expiresAt, active.stop.signal);
    } catch (error) {
      // The next host continues with it.
      if (this.#stopped) return;
      const status = active.stop.signal.aborted ? 'cancelled' : 'failed';
      await this.#markEnded(id, fault(error).message, status);
      return this.#finish(id, active, await this.#queue.get(id));
    }
    await this.#start(record, active);
  }

  #start(record: ExecRecord, active: ActiveRequest): Promise<void> {
    active.hasStarted = true;
    return this.#run(record, active).catch((error: unknown) =>
      this.#finish(record.requestId, active, { ...record, status: 'failed', reason: this.#deps.fault(error).message }),
    );
  }

  #finish(id: string, active: ActiveRequest, record: ExecRecord): void {
    this.#active.delete(id);
    active.done.resolve(record);
    this.#queue.prune(trimRecord).catch(this.#deps.fault);
  }

  async #markEnded(id: string, reason: string, status: 'failed' | 'cancelled' = 'failed'): Promise<void> {
    const now = this.#deps.clock.now();
    await this.#queue.change(id, (before) => ({ ...before, status, endedAt: now, reason }));
  }

  async #run(record: ExecRecord, active: ActiveRequest): Promise<void> {
    const { bridge, hub, clock, timeoutMs, vault } = this.#deps;
    const { requestId: id } = record;
    const started = await this.#queue.change(id, (before) =>
      before.status === 'approved' && before.origin === vault.origin ? { ...before, status: 'running' } : undefined,
    );
    if (!started.changed) return this.#finish(id, active, started.record);
    const stopSaving = this.#saveOutput(id, active);
    let outcome: CommandOutcome;
    try {
      const limit = timeoutMs() ?? DEFAULT_COMMAND_MS;
      await this.#requireReviewedFiles(record);
      outcome = await executeCommand(bridge, record, limit, active.stop.signal, (stream, text) => {
        const offset = active.output.add(stream, text);
        if (offset !== null)
          hub.emit({ event: 'exec.output', payload: { requestId: id, stream, text, offset } }, getRecordSessionKey(record), record.connId);
      });
    } catch (error) {
      const { aborted, reason } = active.stop.signal;
      outcome = { status: aborted && !this.#stopped ? 'cancelled' : 'failed', reason: this.#deps.fault(aborted ? reason : error).message };
    } finally {
      stopSaving();
    }
    const result = { endedAt: clock.now(), ...active.output.fields, ...outcome };
    let final: ExecRecord = { ...record, ...result };
    try {
      final = (await this.#queue.change(id, (before) => ({ ...before, ...result }))).record;
    } catch (error) {
      // Callers that wait still get the result; the record is closed as failed at the next start.
      this.#deps.fault(error);
    }
    this.#finish(id, active, final);
  }

  /** Throws if outside files have appeared since a person was shown those that the command could load. */
  async #requireReviewedFiles({ command, workspaces = [], unreviewed = [] }: ExecRecord): Promise<void> {
    const { paths } = await findUnreviewedFiles(this.#deps.labels, workspaces);
    const added = paths.filter((path) => !unreviewed.includes(path));
    if (added.length > 0) throw new RpcError('INTERNAL_ERROR', `${command} could load files that nobody has reviewed: ${added.join(', ')}`);
  }

  #saveOutput(id: string, active: ActiveRequest): () => void {
    let saved = 0;
    return every(this.#deps.clock, SAVE_INTERVAL_MS, () => {
      if (active.output.length <= saved) return;
      saved = active.output.length;
      // Best effort: the output is in memory too, and the final write reports a failing store.
      this.#queue
        .change(id, (before) => (before.status === 'running' ? { ...before, ...active.output.fields } : undefined))
        .catch(() => {});
    });
  }
}

const createActiveRequest = (): ActiveRequest => ({
  hasStarted: false,
  stop: new AbortController(),
  output: new CommandOutput(),
  done: Promise.withResolvers(),
});
