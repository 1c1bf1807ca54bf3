import { hasPolicy } from '#shared/approval-tool.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Approval } from '#shared/rpc/methods/approvals.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { ExecRequests } from '../exec/requests.ts';
import { approvalOf, commandApproval } from '../exec/shown.ts';
import { sessionOf } from '../exec/tell.ts';
import type { Hub } from '../hub.ts';
import { mergePatch } from '../merge.ts';
import type { Settings } from '../settings.ts';
import type { SyncPort } from '../sync.ts';
import type { ToolContext, ToolQuestion } from '../tools/registry.ts';
import type { ApprovalRecord, Vault } from '../vault.ts';
import { APPROVED_ELSEWHERE } from './approved-elsewhere.ts';
import { type HeldReply, isHeldReply } from './held-reply.ts';
import { refusal } from './refusal.ts';
import { EXPIRES_MS, newestFirst, Questions } from './questions.ts';

export interface ApprovalsDeps {
  vault: Vault;
  hub: Pick<Hub, 'emit'>;
  clock: Clock;
  sync: SyncPort | undefined;
  config: Pick<Config, 'edit' | 'settings'>;
  exec: ExecRequests;
  fault(error: unknown): RpcError;
}

export interface Decision {
  decision: 'approve' | 'deny';
  always: boolean;
  reason?: string | undefined;
}

/** Settings that let a tool run without approval from now on, also after reading from the sources of this approval. */
function alwaysFor({ tool, outside }: ApprovalRecord, { afterReading = {} }: Settings['tools']): Partial<Settings['tools']> {
  const policies = isHeldReply(tool) ? {} : { [tool]: 'auto' as const };
  return outside ? { policies, afterReading: { [tool]: [...new Set([...(afterReading[tool] ?? []), ...outside])] } } : { policies };
}

/** Tool calls that wait for a person's approval, and held replies. Commands, which are stored as requests, are listed among them. */
export class Approvals {
  readonly #deps: ApprovalsDeps;
  readonly #questions: Questions<ApprovalRecord>;
  /** Resolvers for calls of this host's runs, by approval id. */
  readonly #waiting = new Map<string, (record: ApprovalRecord) => void>();

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
    const { vault, clock, sync, fault } = deps;
    this.#questions = new Questions<ApprovalRecord>({
      store: vault.collection('approvals'),
      vault,
      clock,
      sync,
      what: 'approval',
      idOf: ({ id }) => id,
      groupOf: ({ tool }) => (isHeldReply(tool) ? 'replies' : 'calls'),
      isOpen: ({ status }) => status === 'pending',
      expired: (before, at) => ({ ...before, status: 'expired', resolvedAt: at, reason: 'No response in time' }),
      orphaned: (before, at) =>
        isHeldReply(before.tool)
          ? { ...before, origin: vault.origin, replica: vault.replica }
          : { ...before, status: 'cancelled', resolvedAt: at, reason: 'The run that requested it ended' },
      told: (record) => {
        this.#tell(record);
        // Whichever host asked, another one may serve the channel by now.
        if (record.status !== 'pending' && isHeldReply(record.tool)) this.#waiting.get(record.id)?.(record);
      },
      own: (record) => {
        if (record.status !== 'pending') this.#waiting.get(record.id)?.(record);
      },
      fault,
    });
  }

  start(): Promise<void> {
    return this.#questions.start();
  }

  stop(): void {
    this.#questions.stop();
  }

  heard(ids: readonly string[]): Promise<void> {
    return this.#questions.heard(ids);
  }

  /** Resolves when a person has approved; rejects with a message for the model if not, and with the signal's reason. */
  async ask(
    { tool, args, summary, outside }: ToolQuestion,
    { agentId, sessionKey, runId, toolCallId, signal }: ToolContext,
  ): Promise<void> {
    const { vault, clock, fault } = this.#deps;
    const at = clock.now();
    const id = crypto.randomUUID();
    const over = Promise.withResolvers<ApprovalRecord>();
    this.#waiting.set(id, over.resolve);
    const cancel = (): void => {
      over.reject(signal.reason);
      const end =
        signal.reason === APPROVED_ELSEWHERE
          ? { status: 'approved' as const }
          : { status: 'cancelled' as const, reason: 'The run was stopped' };
      this.#questions.answer(id, (before, now) => ({ ...before, ...end, resolvedAt: now })).catch(fault);
    };
    try {
      await this.#questions.add({
        id,
        tool,
        args,
        summary,
        agentId,
        sessionId: sessionKey === null ? null : (sessionKey.split('/')[1] ?? null),
        runId,
        ...(toolCallId === undefined ? {} : { toolCallId }),
        ...(outside === undefined ? {} : { outside: [...outside] }),
        status: 'pending',
        createdAt: at,
        expiresAt: at + EXPIRES_MS,
        origin: vault.origin,
        replica: vault.replica,
      });
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) cancel();
      const record = await over.promise;
      if (record.status !== 'approved') throw refusal(tool, record);
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#waiting.delete(id);
      this.#questions.prune().catch(fault);
    }
  }

  /**
   * Waits for a decision about a held reply, which stays open if this host ends: it is asked once, by its id, and `signal` ends only the
   * wait. Resolves with whether the reply may be sent; rejects with `RATE_LIMITED` if too many wait.
   */
  async hold({ id, ...held }: HeldReply, signal: AbortSignal): Promise<boolean> {
    const { vault, clock, fault } = this.#deps;
    const over = Promise.withResolvers<ApprovalRecord>();
    const stop = (): void => over.reject(signal.reason);
    signal.throwIfAborted();
    this.#waiting.set(id, over.resolve);
    signal.addEventListener('abort', stop, { once: true });
    try {
      const known = await vault.collection('approvals').get(id);
      if (known && known.status !== 'pending') return known.status === 'approved';
      if (!known)
        await this.#questions.add({
          ...{ id, ...held, status: 'pending', createdAt: clock.now() },
          ...{ origin: vault.origin, replica: vault.replica },
        });
      return (await over.promise).status === 'approved';
    } finally {
      signal.removeEventListener('abort', stop);
      this.#waiting.delete(id);
      this.#questions.prune().catch(fault);
    }
  }

  /** Pending or all stored approvals, newest first. */
  async list(status: 'pending' | 'all'): Promise<Approval[]> {
    const [asked, commands] = await Promise.all([this.#questions.list(), this.#deps.exec.records()]);
    const all = newestFirst([...asked.map(approvalOf), ...commands.map(commandApproval)]);
    return status === 'all' ? all : all.filter((each) => each.status === 'pending');
  }

  /** Decides about an approval. A decision about a command is passed to its request. */
  async resolve(id: string, { decision, always, reason }: Decision): Promise<Approval> {
    const { exec, config } = this.#deps;
    if (await exec.has(id)) return commandApproval(await (decision === 'approve' ? exec.approve(id, always) : exec.deny(id, reason)));
    const said = reason === undefined ? {} : { reason };
    const status = decision === 'approve' ? 'approved' : 'denied';
    const { record, changed } = await this.#questions.answer(id, (before, at) => ({ ...before, status, resolvedAt: at, ...said }));
    if (changed && always && record.status === 'approved' && hasPolicy(record.tool)) {
      await config.edit((document) => mergePatch(document, { tools: alwaysFor(record, config.settings.tools) }));
    }
    return approvalOf(record);
  }

  #tell(record: ApprovalRecord): void {
    const approval = approvalOf(record);
    const event = record.status === 'pending' ? 'approval.requested' : 'approval.resolved';
    this.#deps.hub.emit({ event, payload: { approval } }, sessionOf(record));
  }
}
