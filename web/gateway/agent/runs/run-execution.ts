import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import type { RunningRun } from '#shared/rpc/methods/chat-contracts.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { estimateUsage } from '../../providers/estimate-usage.ts';
import { sumUsage } from '../../providers/sum-usage.ts';
import { getBudgetScopes } from '../budgets/budget-scopes.ts';
import { RunTaint } from '../trust/run-taint.ts';
import { toPlainText, createSessionChangedEvent } from '../../storage/session-views.ts';
import type { UsageRecord } from '../../storage/vault-interface.ts';
import type { MessageRecord, RunOutcome } from '../../storage/chat-records.ts';
import { toInterruptedReplyId, withSharedIds } from './interrupted-run.ts';
import { isDisconnected, isRefusal, toStoredError } from './run-errors.ts';
import { toUsageRecords } from './run-usage.ts';
import type { QueuedRun, SelectedModel, RunResult, RunPosition, RunIds } from './run-types.ts';
import { RunOutput } from './run-output.ts';
import { RunTreeNode } from './run-tree.ts';
import { RunGeneration } from './run-generation.ts';

interface RunExecutionOptions extends QueuedRun {
  ids: RunIds;
  chosen: SelectedModel;
  signal: AbortSignal;
  /** Abort reason, if the run was ended for a steering message. */
  yieldReason(): RpcError | undefined;
}

/** A run whose turn has come: stores its message, generates the reply, and stores the outcome. */
export class RunExecution {
  isStarted = false;
  readonly #options: RunExecutionOptions;
  readonly #output: RunOutput;
  /** The run and its sub-agents. */
  readonly #node: RunTreeNode;
  readonly #generation: RunGeneration;
  #startedAt = 0;

  constructor(options: RunExecutionOptions) {
    const { ids, key, request, agent, chosen, deps, signal } = options;
    this.#options = options;
    const taint = new RunTaint([], { grant: request.outsideGrant, principal: request.actsFor ?? request.principal });
    const { subAgent } = request;
    const node = new RunTreeNode({ scopes: getBudgetScopes(this.#caller), ...(subAgent ? { parent: subAgent } : {}) });
    const emit = (event: AnyEvent): void => this.#emit(event);
    const output = new RunOutput({ ...{ sessionKey: key, ids, request, taint, deps, shares: node.shares, emit } });
    output.model = chosen.key;
    this.#node = node;
    this.#output = output;
    this.#generation = new RunGeneration({ ids, key, request, agent, chosen, deps, signal, taint, node, output, emit });
  }

  /** Runs to the end. The single terminal event is emitted after the outcome is stored, and before this settles. */
  async execute(): Promise<RunResult> {
    const { ids, key, request, agent, deps, signal } = this.#options;
    const { lifecycleHooks } = deps;
    let position: RunPosition | undefined;
    let isSessionDeleted = false;
    try {
      // Waits for another host's run in this session. If aborted during that time, the run has not started and leaves nothing.
      await deps.remoteRuns.waitUntilEnded(key, signal);
      const now = deps.clock.now();
      this.#startedAt = now;
      const found = await this.#options.getPosition(now);
      if ('completed' in found) return found;
      position = await this.#start(found, now);
      const usage = this.#addUsageBelow(await this.#answer(position));
      const settled = await this.#output.settle(this.#output.transcript.stepText, position.user);
      const { messages, replyId: messageId } = this.#buildMessages(position, { ...settled, usage });
      await this.#store('done', messages);
      if (settled.citations) request.onCitations?.({ ...settled, start: this.#output.visibleStepStart });
      // Only after success: after a failed run, the next one receives the same notices.
      await this.#generation.markDelivered().catch((error: unknown) => deps.fault(error));
      await lifecycleHooks.onRunEnded({ id: ids.runId, sessionKey: key });
      this.#emit({ event: 'chat.done', payload: { ...ids, usage, messageId } });
      if (!request.subAgent) deps.titles?.onReply({ key, agent, model: this.#output.model, principal: request.principal });
      return { completed: true, sessionId: request.sessionId, runId: ids.runId, messageId, usage };
    } catch (thrown) {
      const error = deps.fault(thrown);
      const withdrawn = position && (await this.#withdraw(error));
      const messageId = position && !withdrawn ? await this.#storePartial(position, error) : undefined;
      isSessionDeleted = withdrawn === 'session';
      await lifecycleHooks.onRunEnded({ id: ids.runId, sessionKey: key, reason: error.message });
      // If there is nothing to answer, there was no run: only the caller gets the error.
      if (!position && error.code === 'NOT_FOUND') throw error;
      this.#emit({
        event: 'chat.error',
        payload: { ...ids, error: error.toShape(), ...(messageId === undefined ? {} : { messageId }) },
      });
      throw error;
    } finally {
      if (position) this.#emitChange(isSessionDeleted);
    }
  }

  /** Progress of the run. */
  get progress(): RunningRun {
    return this.#output.transcript.progress;
  }

  /** The reply's text so far, over all steps. */
  get text(): string {
    return this.#output.transcript.text;
  }

  /** Whether tools of a step are running, or about to. */
  get isRunningTools(): boolean {
    return this.#output.isRunningTools;
  }

  /** Stores the user's message and the run in one transaction: from here on, nothing can be lost. */
  async #start(position: RunPosition, at: number): Promise<RunPosition> {
    const { ids, key, request, chosen, deps } = this.#options;
    await deps.vault.runs.begin({
      session: position.session,
      message: position.message,
      run: {
        id: ids.runId,
        sessionKey: key,
        status: 'running',
        userMessageId: position.user.id,
        model: chosen.key,
        startedAt: at,
        partial: '',
      },
    });
    this.isStarted = true;
    request.onbegin?.();
    if (position.message) {
      const { id, parentId, content, timestamp } = position.message;
      this.#emit({ event: 'chat.message', payload: { ...ids, messageId: id, parentId, content: toPlainText(content), timestamp } });
    }
    this.#emitChange();
    return position;
  }

  /**
   * If a steering message follows, or the run was stopped before any text was visible, the message is answered together with the next one.
   */
  async #answer(position: RunPosition): Promise<Usage> {
    const { deps, signal, yieldReason } = this.#options;
    try {
      signal.throwIfAborted();
      return deps.hasSteering() ? estimateUsage([], '', this.#output.model) : await this.#generation.generate(position);
    } catch (error) {
      const reason = yieldReason();
      if (reason === undefined || signal.reason !== reason || this.#output.transcript.stepText !== '') throw error;
      return estimateUsage([position.user], this.text, this.#output.model);
    }
  }

  /** All messages of the run, ending with its reply. */
  #buildMessages({ user }: RunPosition, fields: Parameters<RunOutput['buildMessages']>[2]): ReturnType<RunOutput['buildMessages']> {
    return this.#output.buildMessages(user, this.#startedAt, fields);
  }

  /** Removes the message if it was refused before any output and the sender requested that. Resolves with what was removed. */
  async #withdraw(error: RpcError): Promise<'message' | 'session' | undefined> {
    const { ids, request, deps } = this.#options;
    const { vault, clock, fault } = deps;
    if (!request.withdraws || !isRefusal(error) || this.text !== '' || this.#output.steps.count > 0) return undefined;
    try {
      const withdrawn = await vault.runs.withdraw(ids.runId);
      if (withdrawn) for (const record of this.#usage(clock.now())) vault.usage.add(record);
      return withdrawn;
    } catch (failure) {
      fault(failure);
      return undefined;
    }
  }

  /**
   * Stores the partial output of a run that ended early, marked with the reason. Resolves with its id, or undefined if it could not be
   * stored.
   */
  async #storePartial(position: RunPosition, error: RpcError): Promise<string | undefined> {
    const status = error.code === 'ABORTED' ? 'aborted' : isDisconnected(error) ? 'interrupted' : 'failed';
    const marks = {
      aborted: { aborted: true },
      // Another host may be ending it too: this host's browser may be closing.
      interrupted: { id: toInterruptedReplyId(this.#options.ids.runId), interrupted: true },
      failed: { error: toStoredError(error) },
    };
    const text = this.#output.transcript.stepText;
    const settled = await this.#output.settle(text, position.user).catch(() => ({ content: text }));
    const { messages, replyId } = this.#buildMessages(position, {
      ...settled,
      usage: this.#addUsageBelow(estimateUsage([position.user], this.text, this.#output.model)),
      ...marks[status],
    });
    try {
      await this.#store(status, status === 'interrupted' ? withSharedIds(this.#options.ids.runId, messages) : messages);
      return replyId;
    } catch (failure) {
      this.#options.deps.fault(failure);
      return undefined;
    }
  }

  #usage(at: number): UsageRecord[] {
    return toUsageRecords(this.#options.ids.runId, this.#output.shares, { at, ...this.#caller });
  }

  /** Usage of the reply: its own and that of its sub-agents, whose records are stored with their own runs. */
  #addUsageBelow(usage: Usage): Usage {
    const { usageBelow } = this.#node;
    return usageBelow ? sumUsage(usage, usageBelow) : usage;
  }

  get #caller(): Pick<UsageRecord, 'sessionKey' | 'principal' | 'jobId' | 'parentScopes'> {
    const { key, request } = this.#options;
    const { principal, jobId, subAgent } = request;
    return {
      ...{ sessionKey: key, principal },
      ...(jobId === undefined ? {} : { jobId }),
      ...(subAgent ? { parentScopes: [...subAgent.scopes] } : {}),
    };
  }

  async #store(status: RunOutcome['status'], messages: MessageRecord[]): Promise<void> {
    const { ids, deps } = this.#options;
    const { vault, clock } = deps;
    const endedAt = clock.now();
    const records = this.#usage(endedAt);
    const last = records.pop();
    await vault.runs.finish({ runId: ids.runId, status, endedAt, messages, ...(last ? { usage: last } : {}) });
    // Usage of the models before the last one.
    for (const record of records) vault.usage.add(record);
    this.#node.setRecorded();
  }

  #emitChange(isDeleted = false): void {
    this.#emit(createSessionChangedEvent(this.#options.key, isDeleted));
  }

  #emit(event: AnyEvent): void {
    this.#options.deps.hub.emit(event, this.#options.key);
  }
}
