import type { AnyEvent } from '#shared/rpc/events.ts';
import { readModelParameters } from '#shared/rpc/model-parameters.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import { type Agent, withSwitches } from '../agents.ts';
import { withCollections } from '../collections/attached-collections.ts';
import { isChannel } from '../../system/person.ts';
import { toPromptHistory, type PromptHistory, addSummary } from '../compaction/prompt-history.ts';
import { estimateUsage } from '../../providers/estimate-usage.ts';
import type { ModelMessage } from '../../providers/provider.ts';
import type { SentFile } from '../tools/tool-registry.ts';
import type { RunTaint } from '../trust/run-taint.ts';
import { getMessageSources, mergeSources } from '../trust/content-sources.ts';
import { getQuotedText } from '../trust/verbatim-urls.ts';
import { toPlainText } from '../../storage/session-views.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';
import { toDefaultInstructions } from '../../config/default-instructions.ts';
import { mergeParameters, toGenerationOptions, toInstructions, toParameterLayer } from './run-parameters.ts';
import {
  type SelectedModel,
  getOfferedTools,
  type RunPosition,
  type RecallResult,
  type RunRequest,
  type RunDeps,
  type RunIds,
} from './run-types.ts';
import { findProject } from '../projects/chat-workspaces.ts';
import type { ProjectRecord } from '../../storage/records/project-record.ts';
import { toCacheKey } from '../../providers/cache-key.ts';
import { createSystemText, markSession, createPrompt } from './prompt.ts';
import { buildRunContext, formatTimeContext, toVisibleFiles } from './run-context.ts';
import type { RunOutput } from './run-output.ts';
import type { RunTreeNode } from './run-tree.ts';
import { generate, toResultContent } from './generate.ts';
import { savePartials } from './save-partials.ts';

/** Maximum number of messages of the branch in a prompt. */
const CONTEXT_MESSAGES = 400;

interface RunGenerationOptions {
  ids: RunIds;
  key: string;
  request: RunRequest;
  agent: Agent;
  chosen: SelectedModel;
  deps: RunDeps;
  signal: AbortSignal;
  /** The outside content in the model's context. */
  taint: RunTaint;
  node: RunTreeNode;
  output: RunOutput;
  emit(event: AnyEvent): void;
}

/** Gathers the context of a run's prompt, and generates its output. */
export class RunGeneration {
  readonly #options: RunGenerationOptions;
  /** Removes the notices that the run received from the queue. */
  markDelivered = async (): Promise<void> => {};

  constructor(options: RunGenerationOptions) {
    this.#options = options;
  }

  /** Generates the reply to `position.user`. Resolves with the usage of the models. */
  async generate(position: RunPosition): Promise<Usage> {
    const { ids, key, request, agent: ownAgent, chosen, deps, signal, taint, node, output } = this.#options;
    const { vault, clock, models, tools, timeZone, silenceMs, limits, lifecycleHooks, events } = deps;
    const { user } = position;
    // On resend, the session's head is still the earlier reply: the branch is what precedes the answered message.
    const [earlierMessages, waiting, project] = await Promise.all([
      vault.messages.branch(key, { limit: CONTEXT_MESSAGES, before: user.id }),
      events.getQueued(key),
      findProject(vault, position.session),
    ]);
    const { agentId, principal, wishes, exact, tools: only, actsFor, scopes, systemPrompt = ownAgent.systemPrompt } = request;
    const { jobId, outsideGrant } = request;
    const parameters = mergeParameters(
      request.parameters,
      readModelParameters(position.session.parameters),
      request.sourceParameters,
      toParameterLayer(project),
      ownAgent.parameters,
    );
    taint.addText(parameters.instructions ?? '');
    taint.add(project?.outside ?? []);
    this.#addContextToTaint(earlierMessages.messages, user, waiting);
    output.sources.addEarlier(earlierMessages.messages);
    const { web, browser, collections = [] } = position.session;
    const switches = { web, browser };
    const agent = withSwitches(withCollections(ownAgent, [...collections, ...(project?.collections ?? [])]), switches);
    const offered = await getOfferedTools(principal, tools, agent, chosen, only, actsFor, scopes);
    const usable = [...offered.tools, ...offered.deferred];
    const [notes, recalled] = await Promise.all([
      lifecycleHooks.getNotes(agent, key, usable, toPlainText(user.content)),
      this.#recall(position, earlierMessages.messages, project),
    ]);
    const send = (file: SentFile): void => output.files.add(file);
    if (waiting) this.markDelivered = () => waiting.markDelivered();
    const instructions = [systemPrompt ?? toDefaultInstructions(offered.tools), toInstructions(parameters, wishes)];
    const system = createSystemText(instructions.filter(Boolean).join('\n\n'), notes.system);
    const time = formatTimeContext(clock.now(), timeZone());
    const context = buildRunContext({ time, events: waiting, notes, recalled }, toPromptHistory(earlierMessages.messages).messages);
    const files = toVisibleFiles(user, usable, exact ? chosen.key : undefined);
    const runContext = { ...context, ...(files ? { files } : {}) };
    taint.add(context.outside ?? []);
    const userMessage = { ...user, runContext };
    // If the context cannot be stored, the next prompt lacks it and is not served from the cache.
    await vault.messages.setRunContext(user.id, runContext).catch(deps.fault);
    const extraTexts = [system, context.text, JSON.stringify(offered.tools)];
    const caller = { key, agent: ownAgent, chosen, principal };
    const { compaction } = deps;
    const history = await compaction.prepare({ ...caller, above: earlierMessages, user, extraTexts }, signal);
    const cacheKey = await toCacheKey(position.session);
    const prompt = (promptHistory: PromptHistory): ModelMessage[] =>
      markSession(addSummary(createPrompt(system, [...promptHistory.messages, userMessage], chosen.key), promptHistory));
    // The text is on screen and in memory; a failing store is reported at the run's end.
    const save = (shared: string | undefined): unknown =>
      vault.runs.savePartial(ids.runId, output.transcript.stepText, shared).catch(() => {});
    if (taint.isTainted) output.saveProgress();
    const stopSaving = savePartials(clock, () => output.transcript.text, save);
    try {
      for await (const event of generate({
        chosen,
        fallbacks: ownAgent.fallbacks,
        models: { ...models, checkBudgets: (model) => node.checkBudgets(model, models.checkBudgets) },
        stranger: isChannel(principal),
        ...{ agentId: ownAgent.id, cacheKey, exact },
        messages: prompt(history),
        shortenMessages: async (tokens, shortenSignal) =>
          prompt(await compaction.shorten({ ...caller, above: earlierMessages, user, extraTexts, told: history }, tokens, shortenSignal)),
        ...offered,
        wishes,
        ownOptions: toGenerationOptions(parameters),
        ...(deps.onRefusedField ? { onRefusedField: deps.onRefusedField } : {}),
        ...(silenceMs ? { silenceMs: silenceMs() } : {}),
        ...limits?.(),
        wrapUpReason: () => node.wrapUpReason,
        shouldEnd: () => {
          output.isRunningTools = false;
          return deps.hasSteering();
        },
        signal,
        clock,
        shares: output.shares,
        runTool: (call, toolSignal, show) =>
          tools.run(call, {
            agentId,
            sessionKey: key,
            runId: ids.runId,
            project,
            toolCallId: call.id,
            principal,
            actsFor,
            scopes,
            only,
            collections: agent.config.collections,
            ...switches,
            signal: toolSignal,
            send,
            show,
            taint,
            cite: (sources) => output.sources.cite(sources, call.id),
            delegation: { node, model: output.model, jobId, outsideGrant },
          }),
      })) {
        await output.apply(event, position.user, toResultContent);
        await deps.hub.ready(key);
      }
    } finally {
      stopSaving();
    }
    return output.usage ?? estimateUsage([], output.transcript.text, output.model);
  }

  /** Records the outside sources and the URLs of the conversation in the prompt. */
  #addContextToTaint(
    branch: readonly MessageRecord[],
    user: MessageRecord,
    events: { text: string; sources: readonly string[] } | undefined,
  ): void {
    const { agent, taint } = this.#options;
    const { summary, messages } = toPromptHistory(branch);
    const contexts = messages.map(({ runContext }) => runContext?.outside);
    taint.add(mergeSources(summary?.outside, ...[...messages, user].map(getMessageSources), ...contexts, events?.sources));
    const calls = new Map(messages.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => [call.id, call])));
    for (const { role, content, toolCallId = '', quotedUrls } of [...messages, user]) {
      const call = role === 'tool' ? calls.get(toolCallId) : undefined;
      // The agent that wrote a sub-agent's task may have composed addresses.
      if (role === 'user') taint.addText(quotedUrls?.join('\n') ?? toPlainText(content));
      else if (call) taint.addText(getQuotedText(call, toPlainText(content)));
    }
    taint.addText(agent.systemPrompt ?? '');
    if (events) taint.addText(events.text);
  }

  /** Recalls memories for the message, and reports them to readers before the reply. */
  async #recall(
    { session, user }: RunPosition,
    earlierMessages: readonly MessageRecord[],
    project: ProjectRecord | undefined,
  ): Promise<RecallResult | undefined> {
    const { ids, request, agent, chosen, deps, signal, taint, output, emit } = this.#options;
    const about = {
      isTainted: taint.isTainted,
      agent,
      session,
      project,
      user,
      above: earlierMessages,
      principal: request.principal,
      provider: chosen.provider,
    };
    const found = await deps.recall.recall(about, signal);
    if (!found) return undefined;
    const { memories, elapsedMs } = found;
    output.recalled = memories;
    emit({ event: 'chat.recalled', payload: { ...ids, memories, elapsedMs } });
    return found;
  }
}
