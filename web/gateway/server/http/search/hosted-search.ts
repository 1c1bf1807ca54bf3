import { lazy } from '#shared/async/lazy.ts';
import type { CitableSource } from '#shared/rpc/passage.ts';
import type { ToolCall, Usage } from '#shared/rpc/record-schemas.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { NOT_RUN } from '../../../agent/runs/caller-tools.ts';
import { withUniqueIds } from '../../../agent/runs/tool-calls.ts';
import { RunSources } from '../../../agent/runs/run-sources.ts';
import { VisibleText } from '../../../agent/runs/visible-text.ts';
import { getTextParts, toPlainText } from '../../../providers/content-parts.ts';
import type { GenerationOptions, ModelEvent, ModelMessage, ToolSpec } from '../../../providers/provider.ts';
import { sumOptional, sumUsage } from '../../../providers/sum-usage.ts';
import type { ModelSearches } from './model-searches.ts';

/** A search as clients see it. */
export interface SearchCall {
  id: string;
  query: string;
}

/** A kind of search that Perch runs for the model of an answer. `E`: the events that show it to the client. */
export interface HostedSearch<E> {
  readonly spec: ToolSpec;
  /** The event at the start of a search. */
  toStarted(call: SearchCall): E;
  /** Rejects with `RpcError` if the search fails. */
  search(call: SearchCall, args: ToolCall['args']): Promise<SearchOutcome<E>>;
  /** The event at the end of a search that failed. */
  toFailed(call: SearchCall, failure: string): E;
}

interface SearchOutcome<E> {
  /** The event at the end of the search. */
  event: E;
  /** The result for the model. `cite` numbers what was found. */
  toResult(cite: (sources: readonly CitableSource[]) => number[]): Record<string, unknown>;
  /** Where the found texts come from, as labels name it. */
  outside: readonly string[];
}

/** A provider call of an answer with searches. */
interface SearchStep {
  messages: ModelMessage[];
  tools: ToolSpec[];
  /** Tools that occur in the messages but can no longer be called. */
  spentTools: ToolSpec[];
  options: GenerationOptions;
}

interface SearchedAnswer<E> {
  messages: ModelMessage[];
  /** The caller's own tools. */
  tools: ToolSpec[];
  options: GenerationOptions;
  searches: readonly HostedSearch<E>[];
  /** Maximum number of searches of all kinds. */
  maxSearches: number;
  signal: AbortSignal;
  label: ModelSearches['label'];
  /** Asks the model. */
  run(step: SearchStep): AsyncIterable<ModelEvent>;
}

export const toMessageText = (content: ModelMessage['content']): string => toPlainText(getTextParts(content));

/** Throws `INVALID_PARAMS` with a sentence for the model. */
export function parseSearchArgs<S extends z.ZodType>(schema: S, args: ToolCall['args']): z.output<S> {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  throw new RpcError('INVALID_PARAMS', `The arguments are invalid: ${z.prettifyError(parsed.error)}`);
}

/**
 * The answer of a model that can search: searches run here, and calls of the caller's tools end the answer. Claims that a result supports
 * are cited. The usage is that of all provider calls so far.
 */
export async function* answerWithSearch<E>(answer: SearchedAnswer<E>): AsyncGenerator<ModelEvent | E> {
  const sources = new RunSources();
  const searcher = new Searcher(answer, sources);
  const texts: string[] = [];
  const label = lazy(() => answer.label([texts.join(''), ...texts], searcher.outside));
  try {
    yield* answerInSteps(answer, { sources, searcher, texts, label });
  } finally {
    await label();
  }
}

interface SearchedRun<E> {
  sources: RunSources;
  searcher: Searcher<E>;
  /** The shown text of each step. */
  texts: string[];
  /** Called before the answer ends. */
  label(): Promise<void>;
}

async function* answerInSteps<E>(
  answer: SearchedAnswer<E>,
  { sources, searcher, texts, label }: SearchedRun<E>,
): AsyncGenerator<ModelEvent | E> {
  const messages = [...answer.messages];
  const specs = answer.searches.map(({ spec }) => spec);
  const visible = new VisibleText(sources);
  const show = (text: string): ModelEvent[] => {
    if (text === '') return [];
    texts.push(`${texts.pop() ?? ''}${text}`);
    return [{ type: 'text', text }];
  };
  const ids = new Set<string>();
  let usage: Usage | undefined;
  let reasoningTokens: number | undefined;
  for (let isFirst = true; ; isFirst = false) {
    const canSearch = searcher.canSearch;
    let text = '';
    texts.push('');
    const calls: ToolCall[] = [];
    let kept: Extract<ModelEvent, { type: 'keep' }> | undefined;
    let finish: Extract<ModelEvent, { type: 'finish' }> = { type: 'finish', reason: 'stop' };
    const step: SearchStep = {
      messages,
      tools: canSearch ? [...answer.tools, ...specs] : answer.tools,
      spentTools: canSearch ? [] : specs,
      options: toStepOptions(answer, { isFirst, canSearch }),
    };
    for await (const event of answer.run(step)) {
      if (event.type === 'text') {
        text += event.text;
        yield* show(await visible.push(event.text));
      } else if (event.type === 'tool_call') calls.push(event.call);
      else if (event.type === 'keep') kept = event;
      else if (event.type === 'usage') {
        usage = usage ? sumUsage(usage, event.usage) : event.usage;
        reasoningTokens = sumOptional(reasoningTokens, event.reasoningTokens);
      } else if (event.type === 'finish') finish = event;
      else yield event;
    }
    yield* show(visible.end());
    const isCut = finish.reason === 'length' || finish.reason === 'content_filter';
    const own = calls.filter((call) => !searcher.runs(call));
    const isLast = isCut || !canSearch || own.length === calls.length;
    if (isLast) {
      await label();
      const { citations, sources: cited } = await sources.settle(text, getQuestion(answer.messages));
      if (citations && cited) yield { type: 'citations', start: visible.stepStart, citations, sources: cited };
    }
    if (usage) yield { type: 'usage', usage, ...(reasoningTokens === undefined ? {} : { reasoningTokens }) };
    if (isLast) {
      for (const call of own) yield { type: 'tool_call', call };
      if (kept && own.length > 0) yield kept;
      yield own.length === 0 && finish.reason === 'tool_calls' ? { type: 'finish', reason: 'stop' } : finish;
      return;
    }
    // Some servers use the same ids in each answer.
    const uniqueCalls = withUniqueIds(
      calls.map((call) => ({ call })),
      ids,
    ).map(({ call }) => call);
    messages.push({ role: 'assistant', content: text, toolCalls: uniqueCalls, ...(kept ? { kept: kept.kept } : {}) });
    yield* searcher.run(uniqueCalls.filter((call) => searcher.runs(call)));
    for (const { id, tool } of uniqueCalls)
      messages.push({ role: 'tool', toolCallId: id, name: tool, content: searcher.getResult(id) ?? JSON.stringify({ error: NOT_RUN }) });
    visible.nextStep();
  }
}

/** A forced call holds for the first provider call: later ones answer. Servers reject a choice without tools. */
function toStepOptions(
  { options, tools }: Pick<SearchedAnswer<unknown>, 'options' | 'tools'>,
  { isFirst, canSearch }: { isFirst: boolean; canSearch: boolean },
): GenerationOptions {
  const hasTools = canSearch || tools.length > 0;
  const isForced = options.toolChoice !== undefined && options.toolChoice !== 'none' && options.toolChoice !== 'auto';
  return {
    ...options,
    ...(hasTools && (isFirst || !isForced) ? {} : { toolChoice: undefined }),
    ...(hasTools ? {} : { parallelToolCalls: undefined }),
  };
}

const getQuestion = (messages: readonly ModelMessage[]): string =>
  toMessageText(messages.findLast(({ role }) => role === 'user')?.content ?? '');

/** Runs the searches of one answer. */
class Searcher<E> {
  readonly #answer: SearchedAnswer<E>;
  readonly #sources: RunSources;
  readonly #searches: ReadonlyMap<string, HostedSearch<E>>;
  readonly #results = new Map<string, string>();
  readonly #outside = new Set<string>();
  #count = 0;

  constructor(answer: SearchedAnswer<E>, sources: RunSources) {
    this.#answer = answer;
    this.#sources = sources;
    this.#searches = new Map(answer.searches.map((search) => [search.spec.name, search]));
  }

  get canSearch(): boolean {
    return this.#count < this.#answer.maxSearches;
  }

  /** Where all found texts come from. */
  get outside(): readonly string[] {
    return [...this.#outside];
  }

  /** Whether a call is a search. */
  runs({ tool }: ToolCall): boolean {
    return this.#searches.has(tool);
  }

  /** The result of a call as its model gets it. */
  getResult(callId: string): string | undefined {
    return this.#results.get(callId);
  }

  /** Runs the calls side by side. */
  async *run(calls: readonly ToolCall[]): AsyncGenerator<E> {
    const started = calls.flatMap(({ id, tool, args }) => {
      const search = this.#searches.get(tool);
      if (!search) return [];
      const call: SearchCall = { id, query: typeof args['query'] === 'string' ? args['query'] : '' };
      const outcome = this.#search(search, call, args);
      // A client may disconnect before its turn comes.
      outcome.catch(() => {});
      return { call, search, outcome };
    });
    for (const { call, search } of started) yield search.toStarted(call);
    for (const { call, outcome } of started) {
      const { event, toResult, outside } = await outcome;
      this.#results.set(call.id, JSON.stringify(toResult((read) => this.#sources.cite(read, call.id))));
      for (const source of outside) this.#outside.add(source);
      yield event;
    }
    this.#answer.signal.throwIfAborted();
  }

  async #search(search: HostedSearch<E>, call: SearchCall, args: ToolCall['args']): Promise<SearchOutcome<E>> {
    const { maxSearches } = this.#answer;
    const fail = (failure: string): SearchOutcome<E> => ({
      event: search.toFailed(call, failure),
      toResult: () => ({ error: failure }),
      outside: [],
    });
    if (!this.canSearch) return fail(`There were ${maxSearches} searches, which is the limit. Answer without further ones.`);
    this.#count++;
    try {
      return await search.search(call, args);
    } catch (error) {
      if (error instanceof RpcError) return fail(error.message);
      throw error;
    }
  }
}
