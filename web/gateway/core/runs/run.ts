import { RpcError } from '#shared/rpc/errors.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import type { RunUnder } from '#shared/rpc/methods/chat.ts';
import type { RecalledMemory, Usage } from '#shared/rpc/records.ts';
import type { Agent } from '../agents.ts';
import { isChannel } from '../approvals/person.ts';
import { sinceSummary, type Told, withSummary } from '../compaction/since-summary.ts';
import { estimateUsage } from '../providers/estimate.ts';
import { notLoaded } from '../lazy.ts';
import type { ModelMessage } from '../providers/provider.ts';
import type { Picture, SentFile } from '../tools/registry.ts';
import { RunTaint } from '../trust/run-taint.ts';
import { getMessageSources, mergeSources } from '../trust/sources.ts';
import { getQuotedText } from '../trust/verbatim-urls.ts';
import { plainText, sessionChanged } from '../sessions.ts';
import type { MessageRecord, RunOutcome, UsageRecord } from '../vault.ts';
import type { Share } from './generate.ts';
import { toInterruptedReplyId, withSharedIds } from './interrupted.ts';
import { LeftMessages } from './left-messages.ts';
import { senderOf } from './once.ts';
import { toDefaultInstructions } from './instructions.ts';
import { isCutOff, isRefusal } from './refusal.ts';
import { usageOf } from './run-usage.ts';
import { type Chosen, type Completed, offeredTo, type Place, type Recalled, type RunRequest, type RunsDeps } from './deps.ts';
import { toCacheKey } from '../providers/cache-key.ts';
import { createSystemText, inSession, promptOf } from './prompt.ts';
import { ReplyFiles } from './reply-files.ts';
import { buildRunContext, timeContext, toShownFiles } from './run-context.ts';
import { Said } from './said.ts';
import { savePartials } from './save-partials.ts';

/** Maximum number of messages of the branch in a prompt. */
const CONTEXT_MESSAGES = 400;

type RunDeps = RunsDeps & {
  /** Whether a steering message is queued, which this run has to yield to. */
  steered(): boolean;
};

/** One generation, from its place in the queue to its terminal event. */
export class Run {
  readonly id: string;
  started = false;

  readonly #key: string;
  readonly #request: RunRequest;
  readonly #agent: Agent;
  #chosen!: Chosen;
  /** Key of the answering model: the chosen one, or the fallback that has taken over. */
  #model = '';
  readonly #place: (at: number) => Promise<Place | Completed>;
  readonly #deps: RunDeps;
  readonly #abort = new AbortController();
  /** Messages of complete steps: tool calls and their results. */
  readonly #left: LeftMessages;
  /** Usage of the models so far. */
  readonly #shares: Share[] = [];
  readonly #files = new ReplyFiles();
  readonly #said: Said;
  /** Memories recalled for the message. */
  #recalled: RecalledMemory[] | undefined;
  #startedAt = 0;
  #contextTokens: number | undefined;
  /** Tools of a step are running, or about to. */
  #inTools = false;
  /** Abort reason, if the run was ended for a steering message. */
  #way: RpcError | undefined;
  /** The outside content in the model's context. */
  readonly #taint: RunTaint;
  /** Removes the notices that this run received from the queue. */
  #told = async (): Promise<void> => {};

  constructor(key: string, request: RunRequest, agent: Agent, place: (at: number) => Promise<Place | Completed>, deps: RunDeps) {
    this.id = request.runId ?? crypto.randomUUID();
    this.#key = key;
    this.#request = request;
    this.#agent = agent;
    this.#place = place;
    this.#deps = deps;
    this.#said = new Said({ ids: this.ids, emit: (event) => this.#emit(event), now: () => deps.clock.now() });
    this.#taint = new RunTaint([], { grant: request.outsideGrant, principal: request.actsFor ?? request.principal });
    this.#left = new LeftMessages({ sessionKey: key, runId: this.id, now: () => deps.clock.now(), sources: () => this.#taint.sources });
  }

  abort(reason: RpcError): void {
    this.#abort.abort(reason);
  }

  /** Whether the principal started the run. */
  isOf(principal: string): boolean {
    return this.#request.principal === principal;
  }

  /** Whether the run belongs to the call with this idempotency key. */
  isBy(sender: string, idempotencyKey: string): boolean {
    return senderOf(this.#request.principal) === sender && this.#request.idempotencyKey === idempotencyKey;
  }

  /** Yields to a steering message: ends text generation immediately, but lets running tools finish. */
  makeWay(): void {
    if (this.started && !this.#inTools) this.abort((this.#way = new RpcError('ABORTED', 'The run was stopped for the next message.')));
  }

  /** Runs to the end. The single terminal event is emitted after the outcome is stored, and before this settles. */
  async execute(chosen: Chosen): Promise<Completed> {
    const { companion } = this.#deps;
    this.#chosen = chosen;
    this.#model = chosen.key;
    let place: Place | undefined;
    let gone = false;
    try {
      // Waits for another host's run in this session. If aborted during that time, the run has not started and leaves nothing.
      await this.#deps.foreign.ended(this.#key, this.#abort.signal);
      const at = this.#deps.clock.now();
      this.#startedAt = at;
      const found = await this.#place(at);
      if ('completed' in found) return found;
      place = await this.#begin(found, at);
      const usage = await this.#answer(place);
      const { messages, replyId: messageId } = this.#leaves(place, { content: this.#said.stepText, usage });
      await this.#store('done', messages);
      // Only after success: after a failed run, the next one receives the same notices.
      await this.#told().catch((error: unknown) => this.#deps.fault(error));
      await companion.ended({ id: this.id, sessionKey: this.#key });
      this.#emit({ event: 'chat.done', payload: { ...this.ids, usage, messageId } });
      this.#deps.titles?.replied({ key: this.#key, agent: this.#agent, model: this.#model, principal: this.#request.principal });
      return { completed: true, sessionId: this.#request.sessionId, runId: this.id, messageId, usage };
    } catch (thrown) {
      const error = this.#deps.fault(thrown);
      const withdrawn = place && (await this.#withdraw(error));
      const messageId = place && !withdrawn ? await this.#keepPartial(place, error) : undefined;
      gone = withdrawn === 'session';
      await companion.ended({ id: this.id, sessionKey: this.#key, reason: error.message });
      // If there is nothing to answer, there was no run: only the caller gets the error.
      if (!place && error.code === 'NOT_FOUND') throw error;
      this.#emit({
        event: 'chat.error',
        payload: { ...this.ids, error: error.toShape(), ...(messageId === undefined ? {} : { messageId }) },
      });
      throw error;
    } finally {
      if (place) this.#changed(gone);
    }
  }

  /** Progress of the run. */
  get underWay(): RunUnder {
    return this.#said.underWay;
  }

  /** The reply's text so far, over all steps. */
  get text(): string {
    return this.#said.text;
  }

  get ids(): { sessionId: string; agentId: string; runId: string } {
    return { sessionId: this.#request.sessionId, agentId: this.#request.agentId, runId: this.id };
  }

  /** Stores the user's message and the run in one transaction: from here on, nothing can be lost. */
  async #begin(place: Place, at: number): Promise<Place> {
    const { vault } = this.#deps;
    await vault.runs.begin({
      session: place.session,
      message: place.message,
      run: {
        id: this.id,
        sessionKey: this.#key,
        status: 'running',
        userMessageId: place.user.id,
        model: this.#chosen.key,
        startedAt: at,
        partial: '',
      },
    });
    this.started = true;
    this.#request.onbegin?.();
    if (place.message) {
      const { id, parentId, content, timestamp } = place.message;
      this.#emit({ event: 'chat.message', payload: { ...this.ids, messageId: id, parentId, content: plainText(content), timestamp } });
    }
    this.#changed();
    return place;
  }

  /**
   * If a steering message follows, or the run was stopped before any text was visible, the message is answered together with the next one.
   */
  async #answer(place: Place): Promise<Usage> {
    try {
      this.#abort.signal.throwIfAborted();
      return this.#deps.steered() ? estimateUsage([], '', this.#model) : await this.#generate(place);
    } catch (error) {
      if (this.#way === undefined || this.#abort.signal.reason !== this.#way || this.#said.stepText !== '') throw error;
      return estimateUsage([place.user], this.text, this.#model);
    }
  }

  async #generate(place: Place): Promise<Usage> {
    const { vault, clock, tools, timeZone, silenceMs, maxSteps, companion, events } = this.#deps;
    const { user } = place;
    // On resend, the session's head is still the earlier reply: the branch is what precedes the answered message.
    const [above, waiting, { generate, toResultContent }] = await Promise.all([
      vault.messages.branch(this.#key, { limit: CONTEXT_MESSAGES, before: user.id }),
      events.waiting(this.#key),
      import('./generate.ts').catch((cause: unknown) => Promise.reject(notLoaded(cause))),
    ]);
    const { agentId, principal, wishes, exact, tools: only, actsFor, scopes, systemPrompt = this.#agent.systemPrompt } = this.#request;
    this.#noteContext(above.messages, user, waiting);
    const offered = await offeredTo(principal, tools, this.#agent, this.#chosen, only, actsFor, scopes);
    const usable = [...offered.tools, ...offered.deferred];
    const [notes, recalled] = await Promise.all([
      companion.notes(this.#agent, this.#key, usable, plainText(user.content)),
      this.#recall(place, above.messages),
    ]);
    const send = (file: SentFile): void => this.#files.add(file);
    if (waiting) this.#told = () => waiting.told();
    const system = createSystemText(systemPrompt ?? toDefaultInstructions(offered.tools), notes.system);
    const time = timeContext(clock.now(), timeZone());
    const context = buildRunContext({ time, events: waiting, notes, recalled }, sinceSummary(above.messages).messages);
    const files = toShownFiles(user, usable, exact ? this.#chosen.key : undefined);
    const runContext = { ...context, ...(files ? { files } : {}) };
    this.#taint.add(context.outside ?? []);
    const asked = { ...user, runContext };
    // If the context cannot be stored, the next prompt lacks it and is not served from the cache.
    await vault.messages.setRunContext(user.id, runContext).catch(this.#deps.fault);
    const beside = [system, context.text, JSON.stringify(offered.tools)];
    const asker = { key: this.#key, agent: this.#agent, chosen: this.#chosen, principal };
    const { compaction } = this.#deps;
    const told = await compaction.before({ ...asker, above, user, beside }, this.#abort.signal);
    const cacheKey = await toCacheKey(place.session);
    const prompt = (about: Told): ModelMessage[] =>
      inSession(withSummary(promptOf(system, [...about.messages, asked], this.#chosen.key), about));
    let usage: Usage | undefined;
    let refused = false;
    // The text is on screen and in memory; a failing store is reported at the run's end.
    const save = (shared: string | undefined): unknown => vault.runs.savePartial(this.id, this.#said.stepText, shared).catch(() => {});
    if (this.#taint.isTainted) this.#saveProgress();
    const stopSaving = savePartials(clock, () => this.text, save);
    try {
      for await (const event of generate({
        chosen: this.#chosen,
        fallbacks: this.#agent.fallbacks,
        models: this.#deps.models,
        stranger: isChannel(principal),
        ...{ agentId: this.#agent.id, cacheKey, exact },
        messages: prompt(told),
        shorter: async (tokens, signal) => prompt(await compaction.shortened({ ...asker, above, user, beside, told }, tokens, signal)),
        ...offered,
        wishes,
        temperature: this.#agent.temperature,
        ...(silenceMs ? { silenceMs: silenceMs() } : {}),
        ...(maxSteps ? { maxSteps: maxSteps() } : {}),
        endsHere: () => {
          this.#inTools = false;
          return this.#deps.steered();
        },
        signal: this.#abort.signal,
        clock,
        shares: this.#shares,
        runTool: (call, signal, show) =>
          tools.run(call, {
            agentId,
            sessionKey: this.#key,
            runId: this.id,
            toolCallId: call.id,
            principal,
            actsFor,
            scopes,
            only,
            signal,
            send,
            show,
            taint: this.#taint,
          }),
      })) {
        if (event.type !== 'reasoning') this.#said.pause();
        switch (event.type) {
          case 'text':
            this.#said.write(event.text);
            this.#request.onwritten?.(event);
            break;
          case 'refusal':
            // In a chat, a refusal becomes text after the previous text.
            this.#said.write(refused || this.#said.stepText === '' ? event.text : `\n\n${event.text}`);
            refused = true;
            this.#request.onwritten?.(event);
            break;
          case 'reasoning':
            this.#said.think(event.text);
            this.#request.onwritten?.(event);
            break;
          case 'picture':
            this.#addPicture(event.picture);
            break;
          case 'model':
            this.#model = event.key;
            // Previous thoughts are from another model.
            this.#said.otherModel();
            break;
          case 'calling':
            this.#said.calling(event.tools);
            break;
          case 'step':
            this.#left.step(place.user, {
              ...{ content: event.text, toolCalls: event.calls, model: this.#model },
              ...this.#said.thoughts,
              ...(event.kept ? { providerState: event.kept } : {}),
            });
            this.#inTools = event.calls.length > 0;
            if (this.#inTools) this.#said.nextStep();
            // Before its tools have effects that the next host would not know of.
            await this.#saveStep();
            this.#saveProgress();
            break;
          case 'tool_call':
            this.#said.call(event.call);
            break;
          case 'tool_result': {
            const { call, result, pictures, isError } = event;
            const content = typeof result === 'string' ? result : JSON.stringify(result);
            this.#taint.addText(getQuotedText(call, content));
            const kept = this.#left.result(call.id, toResultContent(result, pictures));
            this.#said.result(call, { result, content, isError });
            if (kept) await this.#deps.vault.runs.saveResult(kept).catch(() => {});
            this.#saveProgress();
            break;
          }
          case 'end':
            usage = event.usage;
            this.#contextTokens = event.contextTokens;
            this.#request.onend?.(event);
        }
        await this.#deps.hub.ready(this.#key);
      }
    } finally {
      stopSaving();
    }
    return usage ?? estimateUsage([], this.text, this.#model);
  }

  /** Records the outside sources and the URLs of the conversation in the prompt. */
  #noteContext(
    branch: readonly MessageRecord[],
    user: MessageRecord,
    events: { text: string; sources: readonly string[] } | undefined,
  ): void {
    const { summary, messages } = sinceSummary(branch);
    const contexts = messages.map(({ runContext }) => runContext?.outside);
    this.#taint.add(mergeSources(summary?.outside, ...[...messages, user].map(getMessageSources), ...contexts, events?.sources));
    const calls = new Map(messages.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => [call.id, call])));
    for (const { role, content, toolCallId = '' } of [...messages, user]) {
      const call = role === 'tool' ? calls.get(toolCallId) : undefined;
      if (role === 'user') this.#taint.addText(plainText(content));
      else if (call) this.#taint.addText(getQuotedText(call, plainText(content)));
    }
    this.#taint.addText(this.#agent.systemPrompt ?? '');
    if (events) this.#taint.addText(events.text);
  }

  /** An image that does not fit is mentioned in the text. */
  #addPicture({ mimeType, data }: Picture): void {
    const [, extension = 'png'] = /^image\/(\w+)/.exec(mimeType) ?? [];
    try {
      this.#files.add({ filename: `picture.${extension}`, mimeType, data, size: Math.floor((data.length * 3) / 4) });
    } catch (error) {
      this.#said.write(`\n\n[${this.#deps.fault(error).message}]`);
    }
  }

  /** Recalls memories for the message, and reports them to readers before the reply. */
  async #recall({ session, user }: Place, above: readonly MessageRecord[]): Promise<Recalled | undefined> {
    const about = {
      isTainted: this.#taint.isTainted,
      agent: this.#agent,
      session,
      user,
      above,
      principal: this.#request.principal,
      provider: this.#chosen.provider,
    };
    const found = await this.#deps.recall.before(about, this.#abort.signal);
    if (!found) return undefined;
    const { memories, elapsedMs } = found;
    this.#recalled = memories;
    this.#emit({ event: 'chat.recalled', payload: { ...this.ids, memories, elapsedMs } });
    return found;
  }

  /** All messages of the run, ending with its reply. */
  #leaves({ user }: Place, fields: Parameters<LeftMessages['with']>[1]): ReturnType<LeftMessages['with']> {
    const recalled = this.#recalled ? { recalled: this.#recalled } : {};
    const elapsedMs = this.#deps.clock.now() - this.#startedAt;
    const context = this.#contextTokens === undefined ? {} : { contextTokens: this.#contextTokens };
    const quotedUrls = this.#taint.isTainted ? this.#taint.findQuotedUrls(plainText(fields.content)) : [];
    return this.#left.with(user, {
      ...(quotedUrls.length > 0 ? { quotedUrls } : {}),
      model: this.#model,
      elapsedMs,
      ...context,
      ...recalled,
      ...this.#said.thoughts,
      ...fields,
      ...this.#files.with(fields.content),
    });
  }

  /** Removes the message if it was refused before any output and the sender requested that. Resolves with what was removed. */
  async #withdraw(error: RpcError): Promise<'message' | 'session' | undefined> {
    const { vault, clock, fault } = this.#deps;
    if (!this.#request.withdraws || !isRefusal(error) || this.text !== '' || this.#left.count > 0) return undefined;
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
  async #keepPartial(place: Place, error: RpcError): Promise<string | undefined> {
    const status = error.code === 'ABORTED' ? 'aborted' : isCutOff(error) ? 'interrupted' : 'failed';
    const marks = {
      aborted: { aborted: true },
      // Another host may be ending it too: this host's browser may be closing.
      interrupted: { id: toInterruptedReplyId(this.id), interrupted: true },
      failed: { error: { code: error.code, message: error.message } },
    };
    const { messages, replyId } = this.#leaves(place, {
      content: this.#said.stepText,
      usage: estimateUsage([place.user], this.text, this.#model),
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
    return usageOf(this.id, this.#shares, { at, sessionKey: this.#key, principal: this.#request.principal });
  }

  async #store(status: RunOutcome['status'], messages: MessageRecord[]): Promise<void> {
    const { vault, clock } = this.#deps;
    const endedAt = clock.now();
    const records = this.#usage(endedAt);
    const last = records.pop();
    await vault.runs.finish({ runId: this.id, status, endedAt, messages, ...(last ? { usage: last } : {}) });
    // Usage of the models before the last one.
    for (const record of records) vault.usage.add(record);
  }

  /** Saves the current step to disk, in case the host dies; its results follow one by one. */
  async #saveStep(): Promise<void> {
    const step = this.#left.underWay;
    // As with the text, a failing store is reported at the run's end.
    if (step) await this.#deps.vault.runs.saveStep(step).catch(() => {});
  }

  /** Shares the run's outside sources and steps, in case another host has to end it. */
  #saveProgress(): void {
    const progress = this.#left.progress(this.text.length - this.#said.stepText.length);
    this.#deps.vault.runs.saveProgress(this.id, progress).catch(() => {});
  }

  #changed(gone = false): void {
    this.#emit(sessionChanged(this.#key, gone));
  }

  #emit(event: AnyEvent): void {
    this.#deps.hub.emit(event, this.#key);
  }
}
