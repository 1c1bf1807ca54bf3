import { RpcError } from '#shared/rpc/errors.ts';
import type { Part } from '#shared/rpc/records.ts';
import type { Agent } from '../agents.ts';
import type { HttpAgentRun } from '../http/deps.ts';
import { plainText, textsOf } from '../providers/parts.ts';
import { type ModelEvent, Unsupported } from '../providers/provider.ts';
import { offeredTo, type RunRequest, type RunsDeps } from './deps.ts';
import { CallerTools } from './caller-tools.ts';
import { generate, type Share } from './generate.ts';
import { toDefaultInstructions } from './instructions.ts';
import { createSystemText, toSystemMessages } from './prompt.ts';
import { buildRunContext, timeContext, withContextAtEnd } from './run-context.ts';
import { RunTaint } from '../trust/run-taint.ts';
import { getAttachmentSources, toSource } from '../trust/sources.ts';
import { TaintedReplies } from '../trust/tainted-replies.ts';
import { getQuotedText } from '../trust/verbatim-urls.ts';
import type { Runs } from './runs.ts';

/** Runs agents for `/v1`: stateless with the whole `messages`, or in a persistent session. */
export class HttpAgents {
  readonly #replies = new TaintedReplies();
  readonly #deps: RunsDeps & { agents: { list(): Agent[] }; runs: Runs };

  constructor(deps: RunsDeps & { agents: { list(): Agent[] }; runs: Runs }) {
    this.#deps = deps;
  }

  list(): Agent[] {
    return this.#deps.agents.list();
  }

  /** Throws `RpcError`: `NOT_FOUND` for an unknown agent or model, or the provider's failure. */
  async *run(request: HttpAgentRun): AsyncGenerator<ModelEvent> {
    // Same rule as in chats, whether the message is stored or not.
    if (request.messages.some(({ content }) => plainText(textsOf(content)).includes('\0')))
      throw new Unsupported('messages', 'must not contain NUL characters.');
    if (request.sessionId !== undefined) return yield* this.#inSession({ ...request, sessionId: request.sessionId });
    const { clock, tools, models, timeZone, silenceMs, maxSteps, vault } = this.#deps;
    const agent = this.#deps.agent(request.agentId);
    const chosen = await models.resolve(agent.model);
    const offered = await offeredTo(request.principal, tools, agent, chosen);
    const taint = new RunTaint(request.messages.flatMap(getRequestSources));
    for (const { role, content } of request.messages) {
      const text = plainText(textsOf(content));
      if (role === 'assistant') taint.add(await this.#replies.getSources(text));
      else taint.addText(text);
    }
    const notes = await this.#deps.companion.notes(
      agent,
      null,
      [...offered.tools, ...offered.deferred],
      plainText(textsOf(request.messages.findLast(({ role }) => role === 'user')?.content ?? '')),
    );
    const system = createSystemText(agent.systemPrompt ?? toDefaultInstructions(offered.tools), notes.system);
    const context = buildRunContext({ time: timeContext(clock.now(), timeZone()), notes });
    taint.add(context.outside ?? []);
    const shares: Share[] = [];
    /** Text of each step. */
    const texts = [''];
    const caller = new CallerTools(request.tools ?? []);
    const events = generate({
      chosen,
      fallbacks: agent.fallbacks,
      models,
      agentId: agent.id,
      messages: [...toSystemMessages(system), ...withContextAtEnd(request.messages, context.text)],
      ...caller.addTo(offered, request.wishes.toolChoice),
      wishes: request.wishes,
      temperature: agent.temperature,
      exact: isExact(request),
      ...(silenceMs ? { silenceMs: silenceMs() } : {}),
      ...(maxSteps ? { maxSteps: maxSteps() } : {}),
      signal: request.signal,
      clock,
      endsHere: () => caller.calls.length > 0,
      runTool: async (call, signal, show) => {
        if (caller.has(call)) return caller.ask(call);
        const context = { agentId: agent.id, sessionKey: null, runId: null, principal: request.principal, signal, show, taint };
        const result = await tools.run(call, context);
        taint.addText(getQuotedText(call, JSON.stringify(result) ?? ''));
        return result;
      },
      shares,
    });
    const remember = (): Promise<void> => this.#replies.add([texts.join(''), ...texts], taint.sources);
    try {
      for await (const event of events) {
        if (event.type === 'text' || event.type === 'refusal') texts.push(`${texts.pop() ?? ''}${event.text}`);
        if (event.type === 'text' || event.type === 'refusal' || event.type === 'reasoning') yield event;
        else if (event.type === 'step') {
          caller.beginStep(event.calls);
          texts.push('');
        } else if (event.type === 'end') {
          await remember();
          const { usage, reasoningTokens } = event;
          yield { type: 'usage', usage, ...(reasoningTokens === undefined ? {} : { reasoningTokens }) };
          for (const call of caller.calls) yield { type: 'tool_call', call };
          yield { type: 'finish', reason: caller.calls.length > 0 ? 'tool_calls' : event.reason === 'tool_calls' ? 'stop' : event.reason };
        }
      }
    } finally {
      await remember();
      const { principal } = request;
      for (const { key, usage } of shares) {
        const [provider = ''] = key.split('/', 1);
        vault.usage.add({ id: crypto.randomUUID(), at: clock.now(), provider, model: key, sessionKey: null, principal, usage });
      }
    }
  }

  /** Sends the user's last message to the session, and yields the answer. A caller that disconnects aborts the run. */
  async *#inSession({
    agentId,
    sessionId,
    messages,
    principal,
    wishes,
    signal,
  }: HttpAgentRun & { sessionId: string }): AsyncGenerator<ModelEvent> {
    const { runs, agent } = this.#deps;
    const last = messages.findLast(({ role }) => role !== 'system');
    if (last?.role !== 'user') throw new Unsupported('messages', 'In a session, the last message must have the role "user".');
    const parts: Part[] = typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : last.content;
    const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    const attachments = parts.flatMap((part) =>
      part.type === 'text' ? [] : [{ filename: part.filename ?? part.type, mimeType: part.mimeType, content: part.data }],
    );
    const asked = messages.filter(({ role }) => role === 'system').map(({ content }) => plainText(content));
    const systemPrompt = [agent(agentId).systemPrompt, ...asked].filter(Boolean).join('\n\n');
    const queue: ModelEvent[] = [];
    let wake = (): void => {};
    let runId: string | undefined;
    let ended: Ended | undefined;
    let gone = signal.aborted;
    const onabort = (): void => {
      gone = true;
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
      wishes,
      exact: isExact({ wishes, messages: [last] }),
      onwritten(piece) {
        queue.push(piece);
        wake();
      },
      onend: (end) => (ended = end),
      onrun(id) {
        runId = id;
        // Not before it is queued.
        if (gone) queueMicrotask(onabort);
      },
    });
    let settled = false;
    const end = sent.catch(refusedMessage).finally(() => {
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
      const { reason = 'stop', reasoningTokens }: Partial<Ended> = ended ?? {};
      yield { type: 'usage', usage, ...(reasoningTokens === undefined ? {} : { reasoningTokens }) };
      yield { type: 'finish', reason: reason === 'tool_calls' ? 'stop' : reason };
    } finally {
      signal.removeEventListener('abort', onabort);
      if (!settled) onabort();
    }
  }
}

/** Outside sources of a client's message: its own text is trusted, results of its tools, quotations and attachments are not. */
const getRequestSources = ({ role, content, name, outside = [] }: HttpAgentRun['messages'][number]): string[] =>
  role === 'tool' ? [toSource('program', name ?? 'a tool')] : [...outside, ...getAttachmentSources({ content })];

type Ended = Parameters<NonNullable<RunRequest['onend']>>[0];

/** Reports content that a session does not accept by its name in the caller's API. */
function refusedMessage(error: unknown): never {
  if (error instanceof RpcError && error.code === 'INVALID_PARAMS')
    throw new Unsupported('messages', error.message.replace(/^(`message` |Invalid `attachments\.\d+`: )/, ''));
  throw error;
}

/** Whether the caller's content must be sent exactly. */
const isExact = ({ wishes, messages }: Pick<HttpAgentRun, 'wishes' | 'messages'>): boolean =>
  wishes.temperature !== undefined ||
  messages.some(({ content }) => typeof content !== 'string' && content.some(({ type }) => type !== 'text'));
