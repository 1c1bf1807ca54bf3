import { toClause } from '#shared/clause.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Usage } from '#shared/rpc/records.ts';
import type { Clock } from '../clock.ts';
import { countUsage, estimateUsage } from '../providers/estimate.ts';
import {
  type Kept,
  type ModelEvent,
  type ModelMessage,
  type Provider,
  ProviderError,
  type ToolSpec,
  type Wishes,
} from '../providers/provider.ts';
import { plainText } from '../providers/parts.ts';
import { retriedStream } from '../providers/retry.ts';
import { sumOptional, sumUsage } from '../providers/usage.ts';
import type { TooLong } from '../providers/too-long.ts';
import type { Picture } from '../tools/registry.ts';
import { type RoutedCall, TOOL_CALL, toWritten } from '../tools/routed-call.ts';
import type { Chosen, Models } from './deps.ts';
import { addText, inlineContext } from './run-context.ts';
import { MAX_STEPS } from './max-steps.ts';
import { ModelChain } from './model-chain.ts';
import { type AskedCall, distinct, type Done, resultsOf, routed } from './tool-calls.ts';

/** A silent provider ends the run after this (decisions, "Chat"). */
export const SILENCE_MS = 60_000;
const MAX_REPLY_CHARS = 16 * 1024 * 1024;

export interface Generation {
  /** Who is asked. */
  chosen: Chosen;
  /** Keys of the models that take over, in this order, where the one before fails before it has shown anything. */
  fallbacks: readonly string[];
  models: Models;
  messages: ModelMessage[];
  /**
   * Other messages in their place, where the model finds the prompt too long; `contextTokens`, where its server says how many it takes. Asked once. Rejects with an Error that says why there are none.
   */
  shorter?: (contextTokens: number | undefined, signal: AbortSignal) => Promise<ModelMessage[]>;
  tools: ToolSpec[];
  /** Tools that the model finds by search, for providers that load them then. */
  deferred?: ToolSpec[];
  /** What is wanted of every answer. */
  wishes?: Wishes | undefined;
  /** The agent's own, where the wishes have none. */
  temperature?: number | undefined;
  /** As a request's: what a program sends is honoured or refused. */
  exact?: boolean | undefined;
  /** Somebody else than the owner asks. */
  stranger?: boolean;
  /** The agent that asks, where one does. */
  agentId?: string;
  /** As a request's. */
  cacheKey?: string;
  signal: AbortSignal;
  clock: Clock;
  silenceMs?: number;
  /** Provider calls that it may take; the last of them is offered no tools. */
  maxSteps?: number;
  /** Asked when a step's tools have ended: whether what has come is all, and the model is not asked again. */
  endsHere?: () => boolean;
  /** For the length of the waits between tries; chance where left out. */
  random?: () => number;
  /** `show` adds a picture to the call's result. */
  runTool(call: RoutedCall, signal: AbortSignal, show: (picture: Picture) => void): Promise<unknown>;
  /** Filled with what the models have used, however the generation ends. */
  shares?: Share[];
}

/** What a model has used, by its key; the one that was asked last is the last. */
export interface Share {
  key: string;
  usage: Usage;
}

export type GenerationEvent =
  | { type: 'text'; text: string }
  | { type: 'refusal'; text: string }
  | { type: 'reasoning'; text: string }
  /** From here on another model answers. */
  | { type: 'model'; key: string }
  /** A picture that the model made. */
  | { type: 'picture'; picture: Picture }
  /** The tools of the calls that the model is writing; told anew when they change. */
  | { type: 'calling'; tools: string[] }
  | { type: 'tool_call'; call: RoutedCall }
  | { type: 'tool_result'; call: RoutedCall; result: unknown; pictures: readonly Picture[]; isError: boolean }
  /** One provider call has ended: its text, the calls that it asks for, and what its provider wants back with them. */
  | { type: 'step'; text: string; calls: RoutedCall[]; kept?: Kept }
  /** `usage` and `reasoningTokens` are of all calls, `contextTokens` is of the last one. */
  | {
      type: 'end';
      usage: Usage;
      contextTokens: number;
      reasoningTokens: number | undefined;
      reason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
    };

/**
 * The agent loop: provider call, tool calls (in parallel where the model asks so), results, until done or the step limit. A call that fails
 * before its first event is tried again; one that has shown nothing goes to the next model. Throws what stopped it: the signal's reason, or an
 * `RpcError` that says what the provider did.
 */
export async function* generate(run: Generation): AsyncGenerator<GenerationEvent> {
  const messages = [...run.messages];
  /** How many of them were given; what steps have left stands behind. */
  let given = messages.length;
  const { maxSteps = MAX_STEPS } = run;
  const chain = new ModelChain(run.chosen, run.fallbacks, run.models);
  const shares = run.shares ?? [];
  let reasoningTokens: number | undefined;
  let contextTokens = 0;
  /** Of the calls so far. */
  const ids = new Set<string>();
  /** Results that came with pictures. */
  const shown = new Set<ModelMessage>();
  /** What a model is asked with: the server of one that sees no pictures would refuse those that tools took. */
  const visibleTo = async (key: string, all: ModelMessage[]): Promise<ModelMessage[]> => {
    const own = all.map((message) => (message.model === undefined || message.model === key ? message : { ...message, kept: undefined }));
    // The guide answers the person's own words.
    const told = key.startsWith('guide/') ? own : inlineContext(own);
    const hasPictures = all.map((message) => shown.has(message) || (message.inSession === 'earlier' && isPictured(message)));
    return !hasPictures.includes(true) || (await run.models.sees(key))
      ? told
      : told.map((message, index) => (hasPictures[index] ? { ...message, content: plainText(message.content) } : message));
  };
  let shortened = false;
  const shorten = async ({ contextTokens }: TooLong, failure: RpcError): Promise<void> => {
    if (shortened) throw explained(failure, STILL_TOO_LONG);
    shortened = true;
    try {
      const shorter = (await run.shorter?.(contextTokens, run.signal)) ?? run.messages;
      messages.splice(0, given, ...shorter);
      given = shorter.length;
    } catch (error) {
      run.signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      // A summary that failed is the model's failure, and no word on what was asked.
      const cause = error instanceof Error && error.cause !== undefined ? new ProviderError(why, { cause: error }) : failure.cause;
      throw explained(failure, `${toClause(why)}. All messages are kept.`, cause);
    }
  };
  const count = async (key: string, usage: Usage): Promise<void> => {
    contextTokens = usage.totalTokens;
    const priced = await run.models.priced(key, usage);
    const share = shares.findIndex((each) => each.key === key);
    const [before] = share === -1 ? [] : shares.splice(share, 1);
    shares.push({ key, usage: before ? sumUsage(before.usage, priced) : priced });
  };
  const total = (): Usage => shares.map((each) => each.usage).reduce(sumUsage);
  for (let step = 1; ; step++) {
    const last = step >= maxSteps;
    const asked = last ? { messages: lastWord(messages, step), tools: [], spent: run.tools } : { messages, tools: run.tools, spent: [] };
    const answer = yield* answered({ ...run, ...asked }, chain, { count, visibleTo, shorten });
    const { text, kept, reason } = answer;
    reasoningTokens = sumOptional(reasoningTokens, answer.reasoningTokens);
    // Some models call tools that they were not offered: those calls nobody answers.
    const wanted = last ? [] : distinct(answer.calls, ids).map(routed);
    const calls = wanted.map(({ call }) => call);
    yield { type: 'step', text, calls, ...(kept ? { kept } : {}) };
    if (calls.length === 0) {
      if (last && text === '')
        throw new RpcError('INTERNAL_ERROR', `The model did not reply within ${step} steps. To allow more, raise chat.maxSteps.`);
      yield { type: 'end', usage: total(), contextTokens, reasoningTokens, reason };
      return;
    }
    messages.push({
      role: 'assistant',
      content: text,
      toolCalls: calls.map(toWritten),
      ...(kept ? { kept, model: chain.current.key } : {}),
    });
    for (const call of calls) yield { type: 'tool_call', call };
    const results = new Map<string, Done>();
    for await (const done of resultsOf(wanted, run, reason === 'length')) {
      results.set(done.call.id, done);
      yield { type: 'tool_result', call: done.call, result: done.result, pictures: done.pictures, isError: done.isError };
    }
    run.signal.throwIfAborted();
    if (run.endsHere?.()) {
      yield { type: 'end', usage: total(), contextTokens, reasoningTokens, reason: 'stop' };
      return;
    }
    for (const { id } of calls) {
      const done = results.get(id);
      if (!done) continue;
      const { call, result, pictures } = done;
      const message: ModelMessage = {
        role: 'tool',
        toolCallId: call.id,
        name: toWritten(call).tool,
        content: toResultContent(result, pictures),
      };
      if (pictures.length > 0) shown.add(message);
      messages.push(message);
    }
  }
}

/** Whether a tool's result has pictures. */
const isPictured = ({ role, content }: ModelMessage): boolean => role === 'tool' && typeof content !== 'string';

/** A tool's result as its message has it. */
export function toResultContent(result: unknown, pictures: readonly Picture[]): ModelMessage['content'] {
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  return pictures.length === 0 ? text : [{ type: 'text', text }, ...pictures.map((picture) => ({ type: 'image' as const, ...picture }))];
}

/** The messages for the last step. The last message says so, as the beginning of a prompt should stay the same. */
function lastWord(messages: readonly ModelMessage[], steps: number): ModelMessage[] {
  const told = `[This turn has taken all of its ${steps} steps. Answer now, without tools: what was done, and what is left to do.]`;
  const last = messages.at(-1);
  return last ? [...messages.slice(0, -1), addText(last, told, 'after')] : [];
}

interface Answer {
  text: string;
  calls: AskedCall[];
  kept: Kept | undefined;
  reasoningTokens: number | undefined;
  reason: Extract<ModelEvent, { type: 'finish' }>['reason'];
}

interface Answering {
  count(key: string, usage: Usage): Promise<void>;
  /** The messages as that model is shown them. */
  visibleTo(key: string, messages: ModelMessage[]): Promise<ModelMessage[]>;
  /** Makes the messages fewer. Throws the failure, with why, where they cannot be. */
  shorten(tooLong: TooLong, failure: RpcError): Promise<void>;
}

/** One provider call, by the first model of the chain that can answer. Its text and thoughts come as events. */
async function* answered(
  run: Generation & { spent: readonly ToolSpec[] },
  chain: ModelChain,
  { count, visibleTo, shorten }: Answering,
): AsyncGenerator<GenerationEvent, Answer> {
  const { messages, tools } = run;
  let calling = '';
  for (;;) {
    const { provider, model, key } = chain.current;
    const answer: Answer = { text: '', calls: [], kept: undefined, reasoningTokens: undefined, reason: 'stop' };
    let usage: Usage | undefined;
    let thoughts = '';
    let whole = false;
    const request = {
      model,
      messages: await visibleTo(key, messages),
      ...(tools.length > 0 ? { tools } : {}),
      ...(run.spent.length > 0 ? { spentTools: [...run.spent] } : {}),
      ...(run.deferred?.length ? { deferredTools: run.deferred } : {}),
      ...run.wishes,
      ...(run.wishes?.temperature === undefined ? { temperature: run.temperature, ownTemperature: true } : {}),
      exact: run.exact,
      ...(run.stranger ? { stranger: true } : {}),
      agentId: run.agentId,
      cacheKey: run.cacheKey,
      tellsUnread: true,
    };
    try {
      for await (const event of retriedStream(() => watched(run, provider, (signal) => provider.stream(request, signal)), run)) {
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
          const told = tools.join();
          if (told !== calling) yield { ...event, tools };
          calling = told;
        } else if (event.type === 'tool_call') answer.calls.push(event);
        else if (event.type === 'keep') answer.kept = event.kept;
        else if (event.type === 'usage') [usage, answer.reasoningTokens] = [event.usage, event.reasoningTokens];
        else if (event.type === 'finish') answer.reason = event.reason;
      }
      whole = true;
      return answer;
    } catch (error) {
      run.signal.throwIfAborted();
      const failure = visible(error, provider);
      if (answer.text !== '' || !(error instanceof ProviderError)) throw failure;
      if (error.tooLong && run.shorter) {
        await shorten(error.tooLong, failure);
        continue;
      }
      if (error.ofRequest) throw failure;
      await chain.next(failure);
    } finally {
      // Also of one that was left, or failed midway.
      const written = thoughts + answer.text + (answer.calls.length > 0 ? JSON.stringify(answer.calls.map(({ call }) => call)) : '');
      if (whole || usage || written !== '') {
        // Whoever has stopped it does not wait for a long prompt to be counted.
        const counted = run.signal.aborted ? estimateUsage : countUsage;
        await count(key, usage ?? (await counted(request.messages, written, key)));
      }
    }
    yield { type: 'model', key: chain.current.key };
  }
}

/** The provider's events, ended by the run's signal even where the provider does not listen, and by silence. */
async function* watched(
  run: Generation,
  provider: Provider,
  start: (signal: AbortSignal) => AsyncIterable<ModelEvent>,
): AsyncGenerator<ModelEvent> {
  const silence = new AbortController();
  const signal = AbortSignal.any([run.signal, silence.signal]);
  const silenceMs = run.silenceMs ?? SILENCE_MS;
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const onabort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onabort, { once: true });
  if (signal.aborted) onabort();
  const iterator = start(signal)[Symbol.asyncIterator]();
  const tooLong = (): void =>
    silence.abort(new ProviderError(`${provider.name} sent nothing for ${silenceMs / 1000} s.`, { retryable: true, silent: true }));
  try {
    // A try before this one may have begun some.
    yield { type: 'calling', tools: [] };
    for (;;) {
      const cancel = run.clock.after(silenceMs, tooLong);
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
    // Not awaited: a provider that hangs must not hold up the end of the run.
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}

const STILL_TOO_LONG =
  'It is still too long after summarising. Choose a model with a larger context window, send less at once, or start a new chat.';

/** That the conversation is too long, what the provider said of it, and why nothing helps. */
const explained = ({ code, message, extra, cause: refusal }: RpcError, why: string, cause = refusal): RpcError =>
  new RpcError(code, `The conversation is too long for the model. ${toClause(message)}. ${why}`, extra, { cause });

/** What a provider did wrong, as the caller may see it. */
function visible(error: unknown, provider: Provider): RpcError {
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
