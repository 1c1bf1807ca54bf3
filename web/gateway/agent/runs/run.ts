import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import type { RunningRun } from '#shared/rpc/methods/chat-contracts.ts';
import { readModelParameters } from '#shared/rpc/model-parameters.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { type Agent, withSwitches } from '../agents.ts';
import { withCollections } from '../collections/attached-collections.ts';
import { isChannel } from '../../system/person.ts';
import { toPromptHistory, type PromptHistory, addSummary } from '../compaction/prompt-history.ts';
import { estimateUsage } from '../../providers/estimate-usage.ts';
import { sumUsage } from '../../providers/sum-usage.ts';
import { createNotLoadedError } from '#shared/async/lazy.ts';
import type { ModelMessage } from '../../providers/provider.ts';
import type { SentFile } from '../tools/tool-registry.ts';
import { getBudgetScopes } from '../budgets/budget-scopes.ts';
import { RunTaint } from '../trust/run-taint.ts';
import { getMessageSources, mergeSources } from '../trust/content-sources.ts';
import { getQuotedText } from '../trust/verbatim-urls.ts';
import { toPlainText, createSessionChangedEvent } from '../../storage/session-views.ts';
import type { UsageRecord } from '../../storage/vault-interface.ts';
import type { MessageRecord, RunOutcome } from '../../storage/chat-records.ts';
import { toInterruptedReplyId, withSharedIds } from './interrupted-run.ts';
import { toSender } from './idempotent-send.ts';
import { toDefaultInstructions } from '../../config/default-instructions.ts';
import { isDisconnected, isRefusal, toStoredError } from './run-errors.ts';
import { mergeParameters, toGenerationOptions, toInstructions, toParameterLayer } from './run-parameters.ts';
import { toUsageRecords } from './run-usage.ts';
import {
  type SelectedModel,
  type RunResult,
  getOfferedTools,
  type RunPosition,
  type RecallResult,
  type RunRequest,
  type RunsDeps,
} from './run-types.ts';
import { findProject } from '../projects/chat-workspaces.ts';
import type { ProjectRecord } from '../../storage/records/project-record.ts';
import { toCacheKey } from '../../providers/cache-key.ts';
import { createSystemText, markSession, createPrompt } from './prompt.ts';
import { buildRunContext, formatTimeContext, toVisibleFiles } from './run-context.ts';
import { RunOutput } from './run-output.ts';
import { RunTreeNode } from './run-tree.ts';
import { savePartials } from './save-partials.ts';

/** Maximum number of messages of the branch in a prompt. */
const CONTEXT_MESSAGES = 400;

type RunDeps = RunsDeps & {
  /** Whether a steering message is queued, which this run has to yield to. */
  hasSteering(): boolean;
};

/** One generation, from its place in the queue to its terminal event. */
export class Run {
  readonly id: string;
  isStarted = false;

  readonly #key: string;
  readonly #request: RunRequest;
  readonly #agent: Agent;
  #chosen!: SelectedModel;
  readonly #getPosition: (at: number) => Promise<RunPosition | RunResult>;
  readonly #deps: RunDeps;
  readonly #abort = new AbortController();
  readonly #output: RunOutput;
  /** The run and its sub-agents. */
  readonly #node: RunTreeNode;
  #startedAt = 0;
  /** Abort reason, if the run was ended for a steering message. */
  #yieldReason: RpcError | undefined;
  /** The outside content in the model's context. */
  readonly #taint: RunTaint;
  /** Removes the notices that this run received from the queue. */
  #markDelivered = async (): Promise<void> => {};

  constructor(key: string, request: RunRequest, agent: Agent, position: (at: number) => Promise<RunPosition | RunResult>, deps: RunDeps) {
    this.id = request.runId ?? crypto.randomUUID();
    this.#key = key;
    this.#request = request;
    this.#agent = agent;
    this.#getPosition = position;
    this.#deps = deps;
    this.#taint = new RunTaint([], { grant: request.outsideGrant, principal: request.actsFor ?? request.principal });
    const { subAgent } = request;
    this.#node = new RunTreeNode({ scopes: getBudgetScopes(this.#caller), ...(subAgent ? { parent: subAgent } : {}) });
    this.#output = new RunOutput({
      ...{ sessionKey: key, ids: this.ids, request, taint: this.#taint, deps, shares: this.#node.shares },
      emit: (event) => this.#emit(event),
    });
  }

  abort(reason: RpcError): void {
    this.#abort.abort(reason);
  }

  /** Whether the principal started the run. */
  isStartedBy(principal: string): boolean {
    return this.#request.principal === principal;
  }

  /** Whether the run belongs to the call with this idempotency key. */
  isSentWith(sender: string, idempotencyKey: string): boolean {
    return toSender(this.#request.principal) === sender && this.#request.idempotencyKey === idempotencyKey;
  }

  /** Yields to a steering message: ends text generation immediately, but lets running tools finish. */
  yieldToSteering(): void {
    if (this.isStarted && !this.#output.isRunningTools)
      this.abort((this.#yieldReason = new RpcError('ABORTED', 'The run was stopped for the next message.')));
  }

  /** Runs to the end. The single terminal event is emitted after the outcome is stored, and before this settles. */
  async execute(chosen: SelectedModel): Promise<RunResult> {
    const { lifecycleHooks } = this.#deps;
    this.#chosen = chosen;
    this.#output.model = chosen.key;
    let position: RunPosition | undefined;
    let isSessionDeleted = false;
    try {
      // Waits for another host's run in this session. If aborted during that time, the run has not started and leaves nothing.
      await this.#deps.remoteRuns.waitUntilEnded(this.#key, this.#abort.signal);
      const now = this.#deps.clock.now();
      this.#startedAt = now;
      const found = await this.#getPosition(now);
      if ('completed' in found) return found;
      position = await this.#start(found, now);
      const usage = this.#addUsageBelow(await this.#answer(position));
      const settled = await this.#output.settle(this.#output.transcript.stepText, position.user);
      const { messages, replyId: messageId } = this.#buildMessages(position, { ...settled, usage });
      await this.#store('done', messages);
      if (settled.citations) this.#request.onCitations?.({ ...settled, start: this.#output.visibleStepStart });
      // Only after success: after a failed run, the next one receives the same notices.
      await this.#markDelivered().catch((error: unknown) => this.#deps.fault(error));
      await lifecycleHooks.onRunEnded({ id: this.id, sessionKey: this.#key });
      this.#emit({ event: 'chat.done', payload: { ...this.ids, usage, messageId } });
      if (!this.#request.subAgent)
        this.#deps.titles?.onReply({ key: this.#key, agent: this.#agent, model: this.#output.model, principal: this.#request.principal });
      return { completed: true, sessionId: this.#request.sessionId, runId: this.id, messageId, usage };
    } catch (thrown) {
      const error = this.#deps.fault(thrown);
      const withdrawn = position && (await this.#withdraw(error));
      const messageId = position && !withdrawn ? await this.#storePartial(position, error) : undefined;
      isSessionDeleted = withdrawn === 'session';
      await lifecycleHooks.onRunEnded({ id: this.id, sessionKey: this.#key, reason: error.message });
      // If there is nothing to answer, there was no run: only the caller gets the error.
      if (!position && error.code === 'NOT_FOUND') throw error;
      this.#emit({
        event: 'chat.error',
        payload: { ...this.ids, error: error.toShape(), ...(messageId === undefined ? {} : { messageId }) },
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

  get ids(): { sessionId: string; agentId: string; runId: string } {
    return { sessionId: this.#request.sessionId, agentId: this.#request.agentId, runId: this.id };
  }

  /** Stores the user's message and the run in one transaction: from here on, nothing can be lost. */
  async #start(position: RunPosition, at: number): Promise<RunPosition> {
    const { vault } = this.#deps;
    await vault.runs.begin({
      session: position.session,
      message: position.message,
      run: {
        id: this.id,
        sessionKey: this.#key,
        status: 'running',
        userMessageId: position.user.id,
        model: this.#chosen.key,
        startedAt: at,
        partial: '',
      },
    });
    this.isStarted = true;
    this.#request.onbegin?.();
    if (position.message) {
      const { id, parentId, content, timestamp } = position.message;
      this.#emit({ event: 'chat.message', payload: { ...this.ids, messageId: id, parentId, content: toPlainText(content), timestamp } });
    }
    this.#emitChange();
    return position;
  }

  /**
   * If a steering message follows, or the run was stopped before any text was visible, the message is answered together with the next one.
   */
  async #answer(position: RunPosition): Promise<Usage> {
    try {
      this.#abort.signal.throwIfAborted();
      return this.#deps.hasSteering() ? estimateUsage([], '', this.#output.model) : await this.#generate(position);
    } catch (error) {
      if (this.#yieldReason === undefined || this.#abort.signal.reason !== this.#yieldReason || this.#output.transcript.stepText !== '')
        throw error;
      return estimateUsage([position.user], this.text, this.#output.model);
    }
  }

  async #generate(position: RunPosition): Promise<Usage> {
    const { vault, clock, models, tools, timeZone, silenceMs, limits, lifecycleHooks, events } = this.#deps;
    const { user } = position;
    // On resend, the session's head is still the earlier reply: the branch is what precedes the answered message.
    const [earlierMessages, waiting, project, { generate, toResultContent }] = await Promise.all([
      vault.messages.branch(this.#key, { limit: CONTEXT_MESSAGES, before: user.id }),
      events.getQueued(this.#key),
      findProject(vault, position.session),
      import('./generate.ts').catch((cause: unknown) => Promise.reject(createNotLoadedError(cause))),
    ]);
    const { agentId, principal, wishes, exact, tools: only, actsFor, scopes, systemPrompt = this.#agent.systemPrompt } = this.#request;
    const { jobId, outsideGrant } = this.#request;
    const parameters = mergeParameters(
      this.#request.parameters,
      readModelParameters(position.session.parameters),
      this.#request.sourceParameters,
      toParameterLayer(project),
      this.#agent.parameters,
    );
    this.#taint.addText(parameters.instructions ?? '');
    this.#taint.add(project?.outside ?? []);
    this.#addContextToTaint(earlierMessages.messages, user, waiting);
    this.#output.sources.addEarlier(earlierMessages.messages);
    const { web, browser, collections = [] } = position.session;
    const switches = { web, browser };
    const agent = withSwitches(withCollections(this.#agent, [...collections, ...(project?.collections ?? [])]), switches);
    const offered = await getOfferedTools(principal, tools, agent, this.#chosen, only, actsFor, scopes);
    const usable = [...offered.tools, ...offered.deferred];
    const [notes, recalled] = await Promise.all([
      lifecycleHooks.getNotes(agent, this.#key, usable, toPlainText(user.content)),
      this.#recall(position, earlierMessages.messages, project),
    ]);
    const send = (file: SentFile): void => this.#output.files.add(file);
    if (waiting) this.#markDelivered = () => waiting.markDelivered();
    const instructions = [systemPrompt ?? toDefaultInstructions(offered.tools), toInstructions(parameters, wishes)];
    const system = createSystemText(instructions.filter(Boolean).join('\n\n'), notes.system);
    const time = formatTimeContext(clock.now(), timeZone());
    const context = buildRunContext({ time, events: waiting, notes, recalled }, toPromptHistory(earlierMessages.messages).messages);
    const files = toVisibleFiles(user, usable, exact ? this.#chosen.key : undefined);
    const runContext = { ...context, ...(files ? { files } : {}) };
    this.#taint.add(context.outside ?? []);
    const userMessage = { ...user, runContext };
    // If the context cannot be stored, the next prompt lacks it and is not served from the cache.
    await vault.messages.setRunContext(user.id, runContext).catch(this.#deps.fault);
    const extraTexts = [system, context.text, JSON.stringify(offered.tools)];
    const caller = { key: this.#key, agent: this.#agent, chosen: this.#chosen, principal };
    const { compaction } = this.#deps;
    const history = await compaction.prepare({ ...caller, above: earlierMessages, user, extraTexts }, this.#abort.signal);
    const cacheKey = await toCacheKey(position.session);
    const prompt = (promptHistory: PromptHistory): ModelMessage[] =>
      markSession(addSummary(createPrompt(system, [...promptHistory.messages, userMessage], this.#chosen.key), promptHistory));
    const output = this.#output;
    // The text is on screen and in memory; a failing store is reported at the run's end.
    const save = (shared: string | undefined): unknown =>
      vault.runs.savePartial(this.id, this.#output.transcript.stepText, shared).catch(() => {});
    if (this.#taint.isTainted) this.#output.saveProgress();
    const stopSaving = savePartials(clock, () => this.text, save);
    try {
      for await (const event of generate({
        chosen: this.#chosen,
        fallbacks: this.#agent.fallbacks,
        models: { ...models, checkBudgets: (key) => this.#node.checkBudgets(key, models.checkBudgets) },
        stranger: isChannel(principal),
        ...{ agentId: this.#agent.id, cacheKey, exact },
        messages: prompt(history),
        shortenMessages: async (tokens, signal) =>
          prompt(await compaction.shorten({ ...caller, above: earlierMessages, user, extraTexts, told: history }, tokens, signal)),
        ...offered,
        wishes,
        ownOptions: toGenerationOptions(parameters),
        ...(this.#deps.onRefusedField ? { onRefusedField: this.#deps.onRefusedField } : {}),
        ...(silenceMs ? { silenceMs: silenceMs() } : {}),
        ...limits?.(),
        wrapUpReason: () => this.#node.wrapUpReason,
        shouldEnd: () => {
          this.#output.isRunningTools = false;
          return this.#deps.hasSteering();
        },
        signal: this.#abort.signal,
        clock,
        shares: this.#output.shares,
        runTool: (call, signal, show) =>
          tools.run(call, {
            agentId,
            sessionKey: this.#key,
            runId: this.id,
            project,
            toolCallId: call.id,
            principal,
            actsFor,
            scopes,
            only,
            collections: agent.config.collections,
            ...switches,
            signal,
            send,
            show,
            taint: this.#taint,
            cite: (sources) => this.#output.sources.cite(sources, call.id),
            delegation: { node: this.#node, model: output.model, jobId, outsideGrant },
          }),
      })) {
        await output.apply(event, position.user, toResultContent);
        await this.#deps.hub.ready(this.#key);
      }
    } finally {
      stopSaving();
    }
    return output.usage ?? estimateUsage([], this.text, output.model);
  }

  /** Records the outside sources and the URLs of the conversation in the prompt. */
  #addContextToTaint(
    branch: readonly MessageRecord[],
    user: MessageRecord,
    events: { text: string; sources: readonly string[] } | undefined,
  ): void {
    const { summary, messages } = toPromptHistory(branch);
    const contexts = messages.map(({ runContext }) => runContext?.outside);
    this.#taint.add(mergeSources(summary?.outside, ...[...messages, user].map(getMessageSources), ...contexts, events?.sources));
    const calls = new Map(messages.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => [call.id, call])));
    for (const { role, content, toolCallId = '', quotedUrls } of [...messages, user]) {
      const call = role === 'tool' ? calls.get(toolCallId) : undefined;
      // The agent that wrote a sub-agent's task may have composed addresses.
      if (role === 'user') this.#taint.addText(quotedUrls?.join('\n') ?? toPlainText(content));
      else if (call) this.#taint.addText(getQuotedText(call, toPlainText(content)));
    }
    this.#taint.addText(this.#agent.systemPrompt ?? '');
    if (events) this.#taint.addText(events.text);
  }

  /** Recalls memories for the message, and reports them to readers before the reply. */
  async #recall(
    { session, user }: RunPosition,
    earlierMessages: readonly MessageRecord[],
    project: ProjectRecord | undefined,
  ): Promise<RecallResult | undefined> {
    const about = {
      isTainted: this.#taint.isTainted,
      agent: this.#agent,
      session,
      project,
      user,
      above: earlierMessages,
      principal: this.#request.principal,
      provider: this.#chosen.provider,
    };
    const found = await this.#deps.recall.recall(about, this.#abort.signal);
    if (!found) return undefined;
    const { memories, elapsedMs } = found;
    this.#output.recalled = memories;
    this.#emit({ event: 'chat.recalled', payload: { ...this.ids, memories, elapsedMs } });
    return found;
  }

  /** All messages of the run, ending with its reply. */
  #buildMessages({ user }: RunPosition, fields: Parameters<RunOutput['buildMessages']>[2]): ReturnType<RunOutput['buildMessages']> {
    return this.#output.buildMessages(user, this.#startedAt, fields);
  }

  /** Removes the message if it was refused before any output and the sender requested that. Resolves with what was removed. */
  async #withdraw(error: RpcError): Promise<'message' | 'session' | undefined> {
    const { vault, clock, fault } = this.#deps;
    if (!this.#request.withdraws || !isRefusal(error) || this.text !== '' || this.#output.steps.count > 0) return undefined;
    try {
      const withdrawn = await vault.runs.withdraw(this.id);
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
      interrupted: { id: toInterruptedReplyId(this.id), interrupted: true },
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
      await this.#store(status, status === 'interrupted' ? withSharedIds(this.id, messages) : messages);
      return replyId;
    } catch (failure) {
      this.#deps.fault(failure);
      return undefined;
    }
  }

  #usage(at: number): UsageRecord[] {
    return toUsageRecords(this.id, this.#output.shares, { at, ...this.#caller });
  }

  /** Usage of the reply: its own and that of its sub-agents, whose records are stored with their own runs. */
  #addUsageBelow(usage: Usage): Usage {
    const { usageBelow } = this.#node;
    return usageBelow ? sumUsage(usage, usageBelow) : usage;
  }

  get #caller(): Pick<UsageRecord, 'sessionKey' | 'principal' | 'jobId' | 'parentScopes'> {
    const { principal, jobId, subAgent } = this.#request;
    return {
      ...{ sessionKey: this.#key, principal },
      ...(jobId === undefined ? {} : { jobId }),
      ...(subAgent ? { parentScopes: [...subAgent.scopes] } : {}),
    };
  }

  async #store(status: RunOutcome['status'], messages: MessageRecord[]): Promise<void> {
    const { vault, clock } = this.#deps;
    const endedAt = clock.now();
    const records = this.#usage(endedAt);
    const last = records.pop();
    await vault.runs.finish({ runId: this.id, status, endedAt, messages, ...(last ? { usage: last } : {}) });
    // Usage of the models before the last one.
    for (const record of records) vault.usage.add(record);
    this.#node.setRecorded();
  }

  #emitChange(isDeleted = false): void {
    this.#emit(createSessionChangedEvent(this.#key, isDeleted));
  }

  #emit(event: AnyEvent): void {
    this.#deps.hub.emit(event, this.#key);
  }
}
