import { getBudgetScopes } from '../budgets/budget-scopes.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import type { Agent } from '../agents.ts';
import { withCollections } from '../collections/attached-collections.ts';
import type { HttpAgentRun } from './http-agent-run.ts';
import { toPlainText, getTextParts } from '../../providers/content-parts.ts';
import { type ModelEvent, UnsupportedOptionError } from '../../providers/provider.ts';
import { getOfferedTools, type RunRequest, type RunsDeps } from './run-types.ts';
import { generate } from './generate.ts';
import { RunTreeNode } from './run-tree.ts';
import { toDefaultInstructions } from '../../config/default-instructions.ts';
import { createSystemText, toSystemMessages } from './prompt.ts';
import { buildRunContext, formatTimeContext, withContextAtEnd } from './run-context.ts';
import { RunTaint } from '../trust/run-taint.ts';
import { getAttachmentSources, toSource } from '../trust/content-sources.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { TaintedReplies } from '../trust/tainted-replies.ts';
import { getQuotedText } from '../trust/verbatim-urls.ts';
import { toGenerationOptions, toInstructions } from './run-parameters.ts';
import { CallerTools } from './caller-tools.ts';
import { RunSources } from './run-sources.ts';
import { VisibleText } from './visible-text.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { Runs } from './runs.ts';

type HttpAgentsDeps = RunsDeps & { agents: { list(): Agent[] }; runs: Runs; labels: ContentLabels };

/** Runs agents for `/v1`: stateless with the whole `messages`, or in a persistent session. */
export class HttpAgents {
  readonly #replies: TaintedReplies;
  readonly #deps: HttpAgentsDeps;

  constructor(deps: HttpAgentsDeps) {
    this.#replies = new TaintedReplies(deps.labels);
    this.#deps = deps;
  }

  list(): Agent[] {
    return this.#deps.agents.list();
  }

  /** Throws `RpcError`: `NOT_FOUND` for an unknown agent or model, or the provider's failure. */
  async *run(request: HttpAgentRun): AsyncGenerator<ModelEvent> {
    // Same rule as in chats, whether the message is stored or not.
    if (request.messages.some(({ content }) => toPlainText(getTextParts(content)).includes('\0')))
      throw new UnsupportedOptionError('messages', 'must not contain NUL characters.');
    if (request.sessionId !== undefined) return yield* this.#inSession({ ...request, sessionId: request.sessionId });
    const { clock, tools, models, timeZone, silenceMs, limits, vault, onRefusedField } = this.#deps;
    const { collections = [] } = request;
    const agent = withCollections(this.#deps.agent(request.agentId), collections);
    const { principal, subAgent } = request;
    const { actsFor, scopes, tools: only, outsideGrant } = subAgent ?? {};
    const chosen = await models.resolve(subAgent?.model ?? agent.model);
    const offered = await getOfferedTools(principal, tools, agent, chosen, only, actsFor, scopes);
    const taint = new RunTaint(request.messages.flatMap(getRequestSources), { grant: outsideGrant, principal: actsFor });
    const node = new RunTreeNode({
      scopes: getBudgetScopes({ principal, sessionKey: null, agentId: agent.id }),
      ...(subAgent ? { parent: subAgent.node } : {}),
    });
    const replies: string[] = [];
    for (const { role, content } of request.messages) {
      const text = toPlainText(getTextParts(content));
      // A caller may send a reply back as one text, or as its parts.
      if (role === 'assistant') replies.push(text, ...(typeof content === 'string' ? [] : getTexts(content)));
      else taint.addText(subAgent ? subAgent.quotedUrls.join('\n') : text);
    }
    taint.add((await Promise.all(replies.map((text) => this.#replies.getSources(text)))).flat());
    const question = toPlainText(getTextParts(request.messages.findLast(({ role }) => role === 'user')?.content ?? ''));
    const notes = await this.#deps.lifecycleHooks.getNotes(agent, null, [...offered.tools, ...offered.deferred], question);
    const instructions = [
      agent.systemPrompt ?? toDefaultInstructions(offered.tools),
      toInstructions(agent.parameters, request.generationOptions),
      subAgent?.instructions,
    ];
    const system = createSystemText(instructions.filter(Boolean).join('\n\n'), notes.system);
    const context = buildRunContext({ time: formatTimeContext(clock.now(), timeZone()), notes });
    taint.add(context.outside ?? []);
    let model = chosen.key;
    const sources = new RunSources();
    const visible = new VisibleText(sources);
    /** Text of the current step, with markers. */
    let stepText = '';
    /** Text of each step. */
    const texts = [''];
    const caller = new CallerTools(request.tools ?? []);
    const events = generate({
      chosen,
      fallbacks: agent.fallbacks,
      models: { ...models, checkBudgets: (key) => node.checkBudgets(key, models.checkBudgets) },
      agentId: agent.id,
      messages: [...toSystemMessages(system), ...withContextAtEnd(request.messages, context.text)],
      ...caller.addTo(offered, request.generationOptions.toolChoice),
      wishes: request.generationOptions,
      ownOptions: toGenerationOptions(agent.parameters),
      ...(onRefusedField ? { onRefusedField } : {}),
      exact: isExact(request),
      ...(silenceMs ? { silenceMs: silenceMs() } : {}),
      ...limits?.(),
      wrapUpReason: () => node.wrapUpReason,
      signal: request.signal,
      clock,
      shouldEnd: () => caller.calls.length > 0,
      runTool: async (call, signal, show) => {
        if (caller.has(call)) return caller.record(call);
        const result = await tools.run(call, {
          ...{
            agentId: agent.id,
            sessionKey: null,
            runId: null,
            toolCallId: call.id,
            principal,
            actsFor,
            scopes,
            only,
            signal,
            show,
            taint,
            collections,
          },
          cite: (read) => sources.cite(read, call.id),
          delegation: { node, model, jobId: undefined, outsideGrant },
        });
        taint.addText(getQuotedText(call, JSON.stringify(result) ?? ''));
        return result;
      },
      shares: node.shares,
    });
    const remember = lazy(() => this.#replies.add([texts.join(''), ...texts], taint.sources));
    try {
      for await (const event of events) {
        if (event.type === 'text') stepText += event.text;
        const text = event.type === 'text' ? await visible.push(event.text) : event.type === 'step' ? visible.end() : '';
        texts.push(`${texts.pop() ?? ''}${event.type === 'refusal' ? event.text : text}`);
        if (text !== '') yield { type: 'text', text };
        if (event.type === 'refusal' || event.type === 'reasoning') yield event;
        else if (event.type === 'model') model = event.key;
        else if (event.type === 'step') {
          if (event.calls.length > 0) {
            visible.nextStep();
            stepText = '';
          }
          caller.beginStep(event.calls);
          texts.push('');
        } else if (event.type === 'end') {
          await remember();
          const { citations, sources: cited } = await sources.settle(stepText, question);
          if (citations && cited) yield { type: 'citations', start: visible.stepStart, citations, sources: cited };
          const { reasoningTokens } = event;
          const { usage = event.usage } = node;
          yield { type: 'usage', usage, ...(reasoningTokens === undefined ? {} : { reasoningTokens }) };
          for (const call of caller.calls) yield { type: 'tool_call', call };
          yield { type: 'finish', reason: caller.calls.length > 0 ? 'tool_calls' : event.reason === 'tool_calls' ? 'stop' : event.reason };
        }
      }
    } finally {
      await remember();
      subAgent?.onTaint(taint);
      node.setRecorded();
      for (const { key, usage } of node.shares) {
        const [provider = ''] = key.split('/', 1);
        vault.usage.add({
          id: crypto.randomUUID(),
          at: clock.now(),
          provider,
          model: key,
          sessionKey: null,
          principal,
          usage,
          agentId: agent.id,
          ...(subAgent ? { parentScopes: [...subAgent.node.scopes] } : {}),
        });
      }
    }
  }

  /** Sends the user's last message to the session, and yields the answer. A caller that disconnects aborts the run. */
  async *#inSession({
    agentId,
    sessionId,
    messages,
    principal,
    generationOptions,
    signal,
  }: HttpAgentRun & { sessionId: string }): AsyncGenerator<ModelEvent> {
    const { runs, agent } = this.#deps;
    const last = messages.findLast(({ role }) => role !== 'system');
    if (last?.role !== 'user') throw new UnsupportedOptionError('messages', 'In a session, the last message must have the role "user".');
    const parts: MessagePart[] = typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : last.content;
    const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    const attachments = parts.flatMap((part) =>
      part.type === 'text' ? [] : [{ filename: part.filename ?? part.type, mimeType: part.mimeType, content: part.data }],
    );
    const systemTexts = messages.filter(({ role }) => role === 'system').map(({ content }) => toPlainText(content));
    const systemPrompt = [agent(agentId).systemPrompt, ...systemTexts].filter(Boolean).join('\n\n');
    const queue: ModelEvent[] = [];
    let wake = (): void => {};
    let runId: string | undefined;
    let ended: RunEnd | undefined;
    let isDisconnected = signal.aborted;
    const onabort = (): void => {
      isDisconnected = true;
      if (runId !== undefined) runs.abortRun(runId, 'The client disconnected.');
    };
    const sent = runs.send({
      agentId,
      sessionId,
      message: text,
      ...{ repeats: true, withdraws: true },
      principal,
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(last.outside ? { quotedOutside: last.outside } : {}),
      ...(systemPrompt === '' ? {} : { systemPrompt }),
      wishes: generationOptions,
      exact: isExact({ generationOptions, messages: [last] }),
      onOutput(piece) {
        queue.push(piece);
        wake();
      },
      onCitations: ({ start, citations = [], sources = [] }) => queue.push({ type: 'citations', start, citations, sources }),
      onend: (end) => (ended = end),
      onrun(id) {
        runId = id;
        // Not before it is queued.
        if (isDisconnected) queueMicrotask(onabort);
      },
    });
    let settled = false;
    const end = sent.catch(throwAsUnsupported).finally(() => {
      settled = true;
      wake();
    });
    end.catch(() => {});
    signal.addEventListener('abort', onabort, { once: true });
    try {
      while (!settled || queue.length > 0) {
        const event = queue.shift();
        if (event) yield event;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      const { usage } = await end;
      const { reason = 'stop', reasoningTokens }: Partial<RunEnd> = ended ?? {};
      yield { type: 'usage', usage, ...(reasoningTokens === undefined ? {} : { reasoningTokens }) };
      yield { type: 'finish', reason: reason === 'tool_calls' ? 'stop' : reason };
    } finally {
      signal.removeEventListener('abort', onabort);
      if (!settled) onabort();
    }
  }
}

const getTexts = (parts: readonly MessagePart[]): string[] => parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));

/** Outside sources of a client's message: its own text is trusted, results of its tools, quotations and attachments are not. */
const getRequestSources = ({ role, content, name, outside = [] }: HttpAgentRun['messages'][number]): string[] =>
  role === 'tool' ? [toSource('program', name ?? 'a tool')] : [...outside, ...getAttachmentSources({ content })];

type RunEnd = Parameters<NonNullable<RunRequest['onend']>>[0];

/** Reports content that a session does not accept by its name in the caller's API. */
function throwAsUnsupported(error: unknown): never {
  if (error instanceof RpcError && error.code === 'INVALID_PARAMS')
    throw new UnsupportedOptionError('messages', error.message.replace(/^(`message` |Invalid `attachments\.\d+`: )/, ''));
  throw error;
}

/** Whether the caller's content must be sent exactly. */
const isExact = ({ generationOptions, messages }: Pick<HttpAgentRun, 'generationOptions' | 'messages'>): boolean =>
  generationOptions.temperature !== undefined ||
  messages.some(({ content }) => typeof content !== 'string' && content.some(({ type }) => type !== 'text'));
