import { toClause } from '#shared/clause.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import type { Clock } from '#shared/async/clock.ts';
import { countUsage, estimateUsage } from '../../providers/estimate-usage.ts';
import {
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  type Provider,
  ProviderError,
  type ToolSpec,
  type GenerationOptions,
} from '../../providers/provider.ts';
import type { ProviderState } from '../../storage/records/provider-state.ts';
import { toPlainText } from '../../providers/content-parts.ts';
import { retryStream } from '../../providers/retry.ts';
import { sumOptional, sumUsage } from '../../providers/sum-usage.ts';
import type { ContextOverflow } from '../../providers/context-overflow.ts';
import type { Picture } from '../tools/tool-registry.ts';
import { type RoutedCall, TOOL_CALL, toOriginalCall } from '../../storage/records/routed-call.ts';
import type { SelectedModel, Models } from './run-types.ts';
import { inlineContext } from './run-context.ts';
import { ModelChain } from './model-chain.ts';
import { type Limits, RunLimits, toFinalStepMessages } from './run-limits.ts';
import { type RequestedCall, withUniqueIds, type CallResult, runCalls, toRoutedCall } from './tool-calls.ts';

/** Time-out for a silent provider, in milliseconds. */
const SILENCE_TIMEOUT_MS = 60_000;
const MAX_REPLY_CHARS = 16 * 1024 * 1024;

export interface Generation extends Limits {
  /** Model and provider to call. */
  chosen: SelectedModel;
  /** Keys of the fallback models, in order. Each is used if the previous one fails before it has shown anything. */
  fallbacks: readonly string[];
  models: Models;
  messages: ModelMessage[];
  /**
   * Returns a shorter list of messages if the model finds the prompt too long. `contextTokens`: the model's limit, if its server reports
   * it. Called once. Rejects with an Error that states why there is none.
   */
  shortenMessages?: (contextTokens: number | undefined, signal: AbortSignal) => Promise<ModelMessage[]>;
  tools: ToolSpec[];
  /** Tools that the model finds by search, for providers that support deferred loading. */
  deferred?: ToolSpec[];
  /** Options for every provider call. */
  wishes?: GenerationOptions | undefined;
  /** Options from settings, used where `wishes` has none. They are omitted if the model does not support them. */
  ownOptions?: GenerationOptions;
  /** Called with the model's key and the field if a server refuses a field of `ownOptions`. */
  onRefusedField?: (key: string, field: string) => void;
  /** See `ModelRequest`. */
  exact?: boolean | undefined;
  /** The caller is not the owner. */
  stranger?: boolean;
  /** Agent that sends the request, if any. */
  agentId?: string;
  /** See `ModelRequest`. */
  cacheKey?: string;
  signal: AbortSignal;
  clock: Clock;
  silenceMs?: number;
  /** Called when a step's tools have ended: returns true to end without calling the model again. */
  shouldEnd?: () => boolean;
  /** Scales the waits between attempts; default: `Math.random`. */
  random?: () => number;
  /** `show` adds an image to the call's result. */
  runTool(call: RoutedCall, signal: AbortSignal, show: (picture: Picture) => void): Promise<unknown>;
  /** Receives the usage of each model, even if the generation fails. */
  shares?: ModelUsage[];
  /** Scopes of the budgets that are checked before each step; default: that of the vault. */
  budgets?: readonly string[];
}

/** Usage of a model, by its key. The last entry is the model called last. */
export interface ModelUsage {
  key: string;
  usage: Usage;
}

export type GenerationEvent =
  | { type: 'text'; text: string }
  | { type: 'refusal'; text: string }
  | { type: 'reasoning'; text: string }
  /** Another model takes over. */
  | { type: 'model'; key: string }
  /** An image that the model generated. */
  | { type: 'picture'; picture: Picture }
  /** Names of the tools that the model is calling, sent again on each change. */
  | { type: 'calling'; tools: string[] }
  | { type: 'tool_call'; call: RoutedCall }
  | { type: 'tool_result'; call: RoutedCall; result: unknown; pictures: readonly Picture[]; isError: boolean }
  /** A provider call has ended: its text, its tool calls, and data that its provider requires back with them. */
  | { type: 'step'; text: string; calls: RoutedCall[]; kept?: ProviderState }
  /** `usage` and `reasoningTokens` are totals of all calls; `contextTokens` is from the last one. */
  | {
      type: 'end';
      usage: Usage;
      contextTokens: number;
      reasoningTokens: number | undefined;
      reason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
    };

/**
 * The agent loop: provider call, tool calls (in parallel if the model requests it), results, until done or a limit of the run. A call that
 * fails before its first event is retried; one that has shown nothing falls back to the next model. Throws the signal's reason, or an
 * `RpcError` that explains the provider's failure.
 */
export async function* generate(run: Generation): AsyncGenerator<GenerationEvent> {
  const messages = [...run.messages];
  /** Number of messages from the request; messages of later steps follow. */
  let requestCount = messages.length;
  const limits = new RunLimits(run, run.clock.now());
  const chain = new ModelChain(run.chosen, run.fallbacks, run.models);
  const shares = run.shares ?? [];
  let reasoningTokens: number | undefined;
  let contextTokens = 0;
  /** Ids of the calls so far. */
  const ids = new Set<string>();
  /** Results that contain images. */
  const withPictures = new Set<ModelMessage>();
  /** Messages for a model: if it does not support images, those from tools are removed, as its server would reject them. */
  const visibleTo = async (key: string, all: ModelMessage[]): Promise<ModelMessage[]> => {
    const own = all.map((message) => (message.model === undefined || message.model === key ? message : { ...message, kept: undefined }));
    // The guide answers the user's message without context.
    const inlined = key.startsWith('guide/') ? own : inlineContext(own);
    const hasPictures = all.map((message) => withPictures.has(message) || (message.inSession === 'earlier' && hasImages(message)));
    return !hasPictures.includes(true) || (await run.models.supportsImages(key))
      ? inlined
      : inlined.map((message, index) => (hasPictures[index] ? { ...message, content: toPlainText(message.content) } : message));
  };
  let shortened = false;
  const shorten = async ({ contextTokens }: ContextOverflow, failure: RpcError): Promise<void> => {
    if (shortened) throw createTooLongError(failure, STILL_TOO_LONG);
    shortened = true;
    try {
      const shorter = (await run.shortenMessages?.(contextTokens, run.signal)) ?? run.messages;
      messages.splice(0, requestCount, ...shorter);
      requestCount = shorter.length;
    } catch (error) {
      run.signal.throwIfAborted();
      const message = error instanceof Error ? error.message : String(error);
      // A failed summary is the model's failure, not one of the request.
      const cause = error instanceof Error && error.cause !== undefined ? new ProviderError(message, { cause: error }) : failure.cause;
      throw createTooLongError(failure, `${toClause(message)}. All messages are kept.`, cause);
    }
  };
  const count = async (key: string, usage: Usage): Promise<void> => {
    contextTokens = usage.totalTokens;
    const priced = await run.models.addCost(key, usage);
    const share = shares.findIndex((share) => share.key === key);
    const [before] = share === -1 ? [] : shares.splice(share, 1);
    shares.push({ key, usage: before ? sumUsage(before.usage, priced) : priced });
  };
  const total = (): Usage => shares.map((share) => share.usage).reduce(sumUsage);
  for (let step = 1; ; step++) {
    await run.models.checkBudgets?.(chain.current.key, run.budgets, shares);
    const last = limits.getReason(step, run.clock.now());
    const stepInput = last
      ? { messages: toFinalStepMessages(messages, last), tools: [], spent: run.tools }
      : { messages, tools: run.tools, spent: [] };
    const answer = yield* runStep({ ...run, ...stepInput }, chain, { count, toVisibleMessages: visibleTo, shorten });
    const { text, kept, reason } = answer;
    reasoningTokens = sumOptional(reasoningTokens, answer.reasoningTokens);
    // Some models call tools that they were not offered: such calls get no result.
    const requestedCalls = last ? [] : withUniqueIds(answer.calls, ids).map(toRoutedCall);
    const calls = requestedCalls.map(({ call }) => call);
    yield { type: 'step', text, calls, ...(kept ? { kept } : {}) };
    if (calls.length === 0) {
      if (last && text === '') throw new RpcError('INTERNAL_ERROR', last.error);
      yield { type: 'end', usage: total(), contextTokens, reasoningTokens, reason };
      return;
    }
    messages.push({
      role: 'assistant',
      content: text,
      toolCalls: calls.map(toOriginalCall),
      ...(kept ? { kept, model: chain.current.key } : {}),
    });
    for (const call of calls) yield { type: 'tool_call', call };
    const results = new Map<string, CallResult>();
    for await (const done of runCalls(requestedCalls, run, reason === 'length')) {
      results.set(done.call.id, done);
      yield { type: 'tool_result', call: done.call, result: done.result, pictures: done.pictures, isError: done.isError };
    }
    run.signal.throwIfAborted();
    if (run.shouldEnd?.()) {
      yield { type: 'end', usage: total(), contextTokens, reasoningTokens, reason: 'stop' };
      return;
    }
    const done = calls.flatMap(({ id }) => results.get(id) ?? []);
    const contents = done.map(({ result, pictures }) => toResultContent(result, pictures));
    limits.addStep(
      done.map(({ call }) => call),
      contents,
    );
    for (const [index, { call, pictures }] of done.entries()) {
      const message: ModelMessage = {
        role: 'tool',
        toolCallId: call.id,
        name: toOriginalCall(call).tool,
        content: contents[index] ?? '',
      };
      if (pictures.length > 0) withPictures.add(message);
      messages.push(message);
    }
  }
}

/** Whether a tool's result contains images. */
const hasImages = ({ role, content }: ModelMessage): boolean => role === 'tool' && typeof content !== 'string';

/** Converts a tool's result to message content. */
export function toResultContent(result: unknown, pictures: readonly Picture[]): ModelMessage['content'] {
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  return pictures.length === 0 ? text : [{ type: 'text', text }, ...pictures.map((picture) => ({ type: 'image' as const, ...picture }))];
}

interface StepOutput {
  text: string;
  calls: RequestedCall[];
  kept: ProviderState | undefined;
  reasoningTokens: number | undefined;
  reason: Extract<ModelEvent, { type: 'finish' }>['reason'];
}

interface StepHooks {
  count(key: string, usage: Usage): Promise<void>;
  /** The messages as this model may see them. */
  toVisibleMessages(key: string, messages: ModelMessage[]): Promise<ModelMessage[]>;
  /** Shortens the messages. Throws the failure with the reason if that is impossible. */
  shorten(overflow: ContextOverflow, failure: RpcError): Promise<void>;
}

/** One provider call, by the first model of the chain that can answer. Yields its text and thoughts. */
async function* runStep(
  run: Generation & { spent: readonly ToolSpec[] },
  chain: ModelChain,
  { count, toVisibleMessages, shorten }: StepHooks,
): AsyncGenerator<GenerationEvent, StepOutput> {
  const { messages, tools } = run;
  let calling = '';
  for (;;) {
    const { provider, model, key } = chain.current;
    const answer: StepOutput = { text: '', calls: [], kept: undefined, reasoningTokens: undefined, reason: 'stop' };
    let usage: Usage | undefined;
    let thoughts = '';
    let isComplete = false;
    const request = {
      model,
      messages: await toVisibleMessages(key, messages),
      ...(tools.length > 0 ? { tools } : {}),
      ...(run.spent.length > 0 ? { spentTools: [...run.spent] } : {}),
      ...(run.deferred?.length ? { deferredTools: run.deferred } : {}),
      ...(await mergeOptions(run, key)),
      onRefusedField: (field: string) => run.onRefusedField?.(key, field),
      exact: run.exact,
      ...(run.stranger ? { stranger: true } : {}),
      agentId: run.agentId,
      cacheKey: run.cacheKey,
      reportsUnread: true,
    };
    try {
      for await (const event of retryStream(() => watchStream(run, provider, (signal) => provider.stream(request, signal)), run)) {
        if (event.type === 'text' || event.type === 'refusal') {
          if (event.text === '') continue;
          answer.text += event.text;
          if (answer.text.length > MAX_REPLY_CHARS)
            throw new ProviderError(`${provider.name} sent more than ${MAX_REPLY_CHARS} characters.`);
          yield event;
        } else if (event.type === 'picture') yield event;
        else if (event.type === 'reasoning') {
          thoughts += event.text;
          yield event;
        } else if (event.type === 'calling') {
          const tools = event.tools.filter((tool) => tool !== TOOL_CALL);
          const names = tools.join();
          if (names !== calling) yield { ...event, tools };
          calling = names;
        } else if (event.type === 'tool_call') answer.calls.push(event);
        else if (event.type === 'keep') answer.kept = event.kept;
        else if (event.type === 'usage') [usage, answer.reasoningTokens] = [event.usage, event.reasoningTokens];
        else if (event.type === 'finish') answer.reason = event.reason;
      }
      isComplete = true;
      return answer;
    } catch (error) {
      run.signal.throwIfAborted();
      const failure = toCallerError(error, provider);
      if (answer.text !== '' || !(error instanceof ProviderError)) throw failure;
      if (error.contextOverflow && run.shortenMessages) {
        await shorten(error.contextOverflow, failure);
        continue;
      }
      if (error.isRequestFault) throw failure;
      await chain.next(failure);
    } finally {
      // Also counts a call that was aborted or failed.
      const written = thoughts + answer.text + (answer.calls.length > 0 ? JSON.stringify(answer.calls.map(({ call }) => call)) : '');
      if (isComplete || usage || written !== '') {
        // After an abort, nobody waits for the count of a long prompt.
        const computeUsage = run.signal.aborted ? estimateUsage : countUsage;
        await count(key, usage ?? (await computeUsage(request.messages, written, key)));
      }
    }
    yield { type: 'model', key: chain.current.key };
  }
}

/** The options for a model. Thinking from settings is left out for a model that is known not to think. */
async function mergeOptions(
  { wishes, ownOptions, models }: Generation,
  key: string,
): Promise<GenerationOptions & Pick<ModelRequest, 'ownOptions'>> {
  const requested = getDefined(wishes ?? {});
  const own = getDefined(ownOptions ?? {});
  if (own.reasoningEffort !== undefined && (await models.lacksReasoning(key))) delete own.reasoningEffort;
  const names = Object.keys(own).filter((name) => !(name in requested));
  return { ...own, ...requested, ...(names.length > 0 ? { ownOptions: new Set(names) } : {}) };
}

const getDefined = (options: GenerationOptions): GenerationOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** The provider's events. Ends when the run is aborted, even if the provider ignores the signal, and after a silence. */
async function* watchStream(
  run: Generation,
  provider: Provider,
  start: (signal: AbortSignal) => AsyncIterable<ModelEvent>,
): AsyncGenerator<ModelEvent> {
  const silence = new AbortController();
  const signal = AbortSignal.any([run.signal, silence.signal]);
  const silenceMs = run.silenceMs ?? SILENCE_TIMEOUT_MS;
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const onabort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onabort, { once: true });
  if (signal.aborted) onabort();
  const iterator = start(signal)[Symbol.asyncIterator]();
  const onSilence = (): void =>
    silence.abort(new ProviderError(`${provider.name} sent nothing for ${silenceMs / 1000} s.`, { retryable: true, silent: true }));
  try {
    // A previous attempt may have started some calls.
    yield { type: 'calling', tools: [] };
    for (;;) {
      const cancel = run.clock.after(silenceMs, onSilence);
      let next;
      try {
        next = await Promise.race([iterator.next(), aborted.promise]);
      } finally {
        cancel();
      }
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onabort);
    silence.abort();
    // Not awaited: a provider that hangs must not delay the end of the run.
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}

const STILL_TOO_LONG =
  'It is still too long after summarising. Choose a model with a larger context window, send less at once, or start a new chat.';

/** Error for a conversation that is too long, with the provider's message and the reason why it could not be shortened. */
const createTooLongError = ({ code, message, extra, cause: refusal }: RpcError, detail: string, cause = refusal): RpcError =>
  new RpcError(code, `The conversation is too long for the model. ${toClause(message)}. ${detail}`, extra, { cause });

/** Converts a provider's failure to an error that the caller may see. */
function toCallerError(error: unknown, provider: Provider): RpcError {
  if (error instanceof RpcError) return error;
  if (!(error instanceof ProviderError)) {
    return new RpcError(
      'INTERNAL_ERROR',
      `${provider.name} failed: ${error instanceof Error ? error.message : String(error)}`,
      {},
      { cause: error },
    );
  }
  const extra = {
    ...(error.status === undefined ? {} : { details: { status: error.status } }),
    ...(error.retryable ? { retryable: true } : {}),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  };
  return new RpcError(error.status === 429 ? 'RATE_LIMITED' : 'INTERNAL_ERROR', error.message, extra, { cause: error });
}
