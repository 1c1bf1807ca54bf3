import { hasPolicy } from '#shared/approval-tool.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Approval } from '#shared/rpc/methods/approval-contracts.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Config } from '../../config/gateway-config.ts';
import type { ExecRequests } from '../exec/exec-requests.ts';
import { toApproval, toCommandApproval } from '../exec/exec-views.ts';
import { getRecordSessionKey } from '../exec/exec-events.ts';
import type { EventBus } from '../../system/event-bus.ts';
import { mergePatch } from '#shared/merge-patch.ts';
import type { Settings } from '../../config/settings-schema.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { ToolContext, ToolQuestion } from '../tools/tool-registry.ts';
import type { ApprovalRecord, ExecRecord, Vault } from '../../storage/vault-interface.ts';
import { isExactSource } from '../trust/content-sources.ts';
import { APPROVED_ELSEWHERE } from './approved-elsewhere.ts';
import { type HeldReply, isHeldReply } from './held-reply.ts';
import { createRefusalError } from './refusal-error.ts';
import { APPROVAL_TIMEOUT_MS, sortNewestFirst, DecisionQueue } from './decision-queue.ts';

export interface ApprovalsDeps {
  vault: Vault;
  hub: Pick<EventBus, 'emit'>;
  clock: Clock;
  sync: SyncPort | undefined;
  config: Pick<Config, 'edit' | 'settings'>;
  exec: ExecRequests;
  fault(error: unknown): RpcError;
}

interface Decision {
  decision: 'approve' | 'deny';
  always: boolean;
  reason?: string | undefined;
  /** See `Approval.resolvedVia`. */
  via?: string;
}

/** Settings that let a tool run without approval from now on, also after reading from the sources of this approval. */
function toAlwaysAllowSettings({ tool, outside }: ApprovalRecord, { afterReading = {} }: Settings['tools']): Partial<Settings['tools']> {
  const policies = isHeldReply(tool) ? {} : { [tool]: 'auto' as const };
  if (!outside) return { policies };
  return { policies, afterReading: { [tool]: [...new Set([...(afterReading[tool] ?? []), ...outside.filter(isExactSource)])] } };
}

/** Tool calls that wait for a person's approval, and held replies. Commands, which are stored as requests, are listed among them. */
export class Approvals {
  readonly #deps: ApprovalsDeps;
  readonly #queue: DecisionQueue<ApprovalRecord>;
  /** Resolvers for calls of this host's runs, by approval id. */
  readonly #waiters = new Map<string, (record: ApprovalRecord) => void>();

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
    const { vault, clock, sync, fault } = deps;
    this.#queue = new DecisionQueue<ApprovalRecord>({
      store: vault.collection('approvals'),
      vault,
      clock,
      sync,
      recordName: 'approval',
      getId: ({ id }) => id,
      getGroup: ({ tool }) => (isHeldReply(tool) ? 'replies' : 'calls'),
      isOpen: ({ status }) => status === 'pending',
      toExpired: (before, at) => ({ ...before, status: 'expired', resolvedAt: at, reason: 'No response in time' }),
      toOrphaned: (before, at) =>
        isHeldReply(before.tool)
          ? { ...before, origin: vault.origin, replica: vault.replica }
          : { ...before, status: 'cancelled', resolvedAt: at, reason: 'The run that requested it ended' },
      onStatusChange: (record) => {
        this.#emitEvent(record);
        // Whichever host asked, another one may serve the channel by now.
        if (record.status !== 'pending' && isHeldReply(record.tool)) this.#waiters.get(record.id)?.(record);
      },
      onOwnChange: (record) => {
        if (record.status !== 'pending') this.#waiters.get(record.id)?.(record);
      },
      fault,
    });
  }

  start(): Promise<void> {
    return this.#queue.start();
  }

  stop(): void {
    this.#queue.stop();
  }

  refresh(ids: readonly string[]): Promise<void> {
    return this.#queue.refresh(ids);
  }

  /** Resolves when a person has approved; rejects with a message for the model if not, and with the signal's reason. */
  async request(
    { tool, args, summary, outside }: ToolQuestion,
    { agentId, sessionKey, runId, toolCallId, delegation, signal }: ToolContext,
  ): Promise<void> {
    const { vault, clock, fault } = this.#deps;
    const requestedAt = clock.now();
    const id = crypto.randomUUID();
    const settled = Promise.withResolvers<ApprovalRecord>();
    this.#waiters.set(id, settled.resolve);
    const cancel = (): void => {
      settled.reject(signal.reason);
      const end =
        signal.reason === APPROVED_ELSEWHERE
          ? { status: 'approved' as const }
          : { status: 'cancelled' as const, reason: 'The run was stopped' };
      this.#queue.answer(id, (before, now) => ({ ...before, ...end, resolvedAt: now })).catch(fault);
    };
    try {
      await this.#queue.add({
        id,
        tool,
        args,
        summary,
        agentId,
        sessionId: sessionKey === null ? null : (sessionKey.split('/')[1] ?? null),
        runId,
        ...(toolCallId === undefined ? {} : { toolCallId }),
        ...(delegation?.node.label ? { subAgent: delegation.node.label } : {}),
        ...(outside === undefined ? {} : { outside: [...outside] }),
        status: 'pending',
        createdAt: requestedAt,
        expiresAt: requestedAt + APPROVAL_TIMEOUT_MS,
        origin: vault.origin,
        replica: vault.replica,
      });
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) cancel();
      const record = await settled.promise;
      if (record.status !== 'approved') throw createRefusalError(tool, record);
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#waiters.delete(id);
      this.#queue.prune().catch(fault);
    }
  }

  /**
   * Waits for a decision about a held reply, which stays open if this host ends: it is asked once, by its id, and `signal` ends only the
   * wait. Resolves with whether the reply may be sent; rejects with `RATE_LIMITED` if too many wait.
   */
  async hold({ id, ...held }: HeldReply, signal: AbortSignal): Promise<boolean> {
    const { vault, clock, fault } = this.#deps;
    const settled = Promise.withResolvers<ApprovalRecord>();
    const stop = (): void => settled.reject(signal.reason);
    signal.throwIfAborted();
    this.#waiters.set(id, settled.resolve);
    signal.addEventListener('abort', stop, { once: true });
    try {
      const stored = await vault.collection('approvals').get(id);
      if (stored && stored.status !== 'pending') return stored.status === 'approved';
      if (!stored)
        await this.#queue.add({
          ...{ id, ...held, status: 'pending', createdAt: clock.now() },
          ...{ origin: vault.origin, replica: vault.replica },
        });
      return (await settled.promise).status === 'approved';
    } finally {
      signal.removeEventListener('abort', stop);
      this.#waiters.delete(id);
      this.#queue.prune().catch(fault);
    }
  }

  /** Pending or all stored approvals, newest first. */
  async list(status: 'pending' | 'all'): Promise<Approval[]> {
    const [stored, commands] = await Promise.all([this.#queue.list(), this.#deps.exec.listRecords()]);
    const all = sortNewestFirst([...stored.map(toApproval), ...commands.map(toCommandApproval)]);
    return status === 'all' ? all : all.filter((approval) => approval.status === 'pending');
  }

  /** An approval, with the request if it is a command; undefined if there is none. */
  async find(id: string): Promise<{ approval: Approval; request: ExecRecord | undefined } | undefined> {
    const { vault } = this.#deps;
    const request = await vault.collection('execRequests').get(id);
    if (request) return { approval: toCommandApproval(request), request };
    const record = await vault.collection('approvals').get(id);
    return record && { approval: toApproval(record), request };
  }

  /** Decides about an approval. A decision about a command is passed to its request. */
  async resolve(id: string, { decision, always, reason, via = 'app' }: Decision): Promise<Approval> {
    const { exec, config } = this.#deps;
    if (await exec.has(id))
      return toCommandApproval(await (decision === 'approve' ? exec.approve(id, always, via) : exec.deny(id, reason, via)));
    const reasonField = reason === undefined ? {} : { reason };
    const status = decision === 'approve' ? 'approved' : 'denied';
    const end = { status, resolvedVia: via, ...reasonField } as const;
    const { record, changed } = await this.#queue.answer(id, (before, at) => ({ ...before, ...end, resolvedAt: at }));
    if (changed && always && record.status === 'approved' && hasPolicy(record.tool)) {
      await config.edit((document) => mergePatch(document, { tools: toAlwaysAllowSettings(record, config.settings.tools) }));
    }
    return toApproval(record);
  }

  #emitEvent(record: ApprovalRecord): void {
    const approval = toApproval(record);
    const event = record.status === 'pending' ? 'approval.requested' : 'approval.resolved';
    this.#deps.hub.emit({ event, payload: { approval } }, getRecordSessionKey(record));
  }
}
