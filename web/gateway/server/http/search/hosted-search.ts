import { lazy } from '#shared/async/lazy.ts';
import { searchQuery, type SearchResult } from '#shared/rpc/methods/web-contracts.ts';
import type { ToolCall, Usage } from '#shared/rpc/record-schemas.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { NOT_RUN } from '../../../agent/runs/caller-tools.ts';
import { withUniqueIds } from '../../../agent/runs/tool-calls.ts';
import { RunSources } from '../../../agent/runs/run-sources.ts';
import { VisibleText } from '../../../agent/runs/visible-text.ts';
import { toModelSchema } from '../../../agent/tools/model-schema.ts';
import { findQuotedUrls, removeComposedUrls, VerbatimUrls } from '../../../agent/trust/verbatim-urls.ts';
import { toModelResult, WEB_SEARCH_TOOL } from '../../../agent/web-search/search-result.ts';
import { getTextParts, toPlainText } from '../../../providers/content-parts.ts';
import type { GenerationOptions, ModelEvent, ModelMessage, ToolSpec } from '../../../providers/provider.ts';
import { sumOptional, sumUsage } from '../../../providers/sum-usage.ts';
import type { HttpDeps } from '../http-deps.ts';
import { filterResults, type SearchOptions, toQueryLimits } from './search-options.ts';

/** A search of the web for a model, which the answer shows to the client. */
export type SearchEvent =
  | { type: 'search_started'; id: string; query: string }
  /** `failure`: why there are no results. */
  | { type: 'search_ended'; id: string; query: string; results: readonly SearchResult[]; failure?: string };

/** A provider call of an answer with searches. */
export interface SearchStep {
  messages: ModelMessage[];
  tools: ToolSpec[];
  /** Tools that occur in the messages but can no longer be called. */
  spentTools: ToolSpec[];
  options: GenerationOptions;
}

interface SearchedAnswer {
  messages: ModelMessage[];
  /** The caller's own tools. */
  tools: ToolSpec[];
  options: GenerationOptions;
  limits: SearchOptions;
  principal: string;
  signal: AbortSignal;
  webSearch: NonNullable<HttpDeps['webSearch']>;
  /** Asks the model. */
  run(step: SearchStep): AsyncIterable<ModelEvent>;
}

export const SEARCH_SPEC: ToolSpec = {
  name: WEB_SEARCH_TOOL,
  description: 'Searches the web. Cite results that you use by their number (`ref`) in brackets, such as [2].',
  schema: toModelSchema(z.toJSONSchema(searchQuery, { io: 'input' })),
};

/**
 * The answer of a model that can search the web: searches run here, and calls of the caller's tools end the answer. Claims that a result
 * supports are cited. The usage is that of all provider calls so far.
 */
export async function* answerWithSearch(answer: SearchedAnswer): AsyncGenerator<ModelEvent | SearchEvent> {
  const sources = new RunSources();
  const searcher = new Searcher(answer, sources);
  const texts: string[] = [];
  const label = lazy(() => answer.webSearch.label([texts.join(''), ...texts], searcher.urls));
  try {
    yield* answerInSteps(answer, { sources, searcher, texts, label });
  } finally {
    await label();
  }
}

interface SearchedRun {
  sources: RunSources;
  searcher: Searcher;
  /** The shown text of each step. */
  texts: string[];
  /** Called before the answer ends. */
  label(): Promise<void>;
}

async function* answerInSteps(
  answer: SearchedAnswer,
  { sources, searcher, texts, label }: SearchedRun,
): AsyncGenerator<ModelEvent | SearchEvent> {
  const messages = [...answer.messages];
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
      tools: canSearch ? [...answer.tools, SEARCH_SPEC] : answer.tools,
      spentTools: canSearch ? [] : [SEARCH_SPEC],
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
    const searches = calls.filter(({ tool }) => tool === WEB_SEARCH_TOOL);
    const isLast = isCut || !canSearch || searches.length === 0;
    if (isLast) {
      await label();
      const { citations, sources: cited } = await sources.settle(text, getQuestion(answer.messages));
      if (citations && cited) yield { type: 'citations', start: visible.stepStart, citations, sources: cited };
    }
    if (usage) yield { type: 'usage', usage, ...(reasoningTokens === undefined ? {} : { reasoningTokens }) };
    if (isLast) {
      const own = calls.filter((call) => !searches.includes(call));
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
    yield* searcher.run(uniqueCalls.filter(({ tool }) => tool === WEB_SEARCH_TOOL));
    for (const { id, tool } of uniqueCalls)
      messages.push({ role: 'tool', toolCallId: id, name: tool, content: searcher.getResult(id) ?? JSON.stringify({ error: NOT_RUN }) });
    visible.nextStep();
  }
}

/** A forced call holds for the first provider call: later ones answer. Servers reject a choice without tools. */
function toStepOptions(
  { options, tools }: SearchedAnswer,
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

const toText = (content: ModelMessage['content']): string => toPlainText(getTextParts(content));
const getQuestion = (messages: readonly ModelMessage[]): string => toText(messages.findLast(({ role }) => role === 'user')?.content ?? '');

/** Runs the searches of one answer. */
class Searcher {
  readonly #answer: SearchedAnswer;
  readonly #sources: RunSources;
  readonly #quoted = new VerbatimUrls();
  readonly #results = new Map<string, string>();
  readonly #urls = new Set<string>();
  #count = 0;

  constructor(answer: SearchedAnswer, sources: RunSources) {
    this.#answer = answer;
    this.#sources = sources;
    for (const { role, content } of answer.messages) if (role !== 'assistant') this.#quoted.add(toText(content));
  }

  get canSearch(): boolean {
    return this.#count < this.#answer.limits.maxSearches;
  }

  /** Addresses of all pages that were found. */
  get urls(): readonly string[] {
    return [...this.#urls];
  }

  /** The result of a call as its model gets it. */
  getResult(callId: string): string | undefined {
    return this.#results.get(callId);
  }

  /** Runs the calls side by side. */
  async *run(calls: readonly ToolCall[]): AsyncGenerator<SearchEvent> {
    const started = calls.map((call) => {
      const query = typeof call.args['query'] === 'string' ? call.args['query'] : '';
      const found = this.#search(call);
      // A client may disconnect before its turn comes.
      found.catch(() => {});
      return { call, event: { id: call.id, query }, found };
    });
    for (const { event } of started) yield { type: 'search_started', ...event };
    for (const { call, event, found } of started) {
      const { results, note, failure } = await found;
      const result =
        failure === undefined ? toModelResult({ results, note }, (read) => this.#sources.cite(read, call.id)) : { error: failure };
      this.#results.set(call.id, JSON.stringify(result));
      for (const { url } of results) {
        this.#quoted.add(url);
        this.#urls.add(url);
      }
      yield { type: 'search_ended', ...event, results, ...(failure === undefined ? {} : { failure }) };
    }
    this.#answer.signal.throwIfAborted();
  }

  async #search({ args }: ToolCall): Promise<{ results: SearchResult[]; note?: string | undefined; failure?: string }> {
    const { principal, signal, limits, webSearch } = this.#answer;
    const fail = (failure: string) => ({ results: [], failure });
    if (!this.canSearch) return fail(`There were ${limits.maxSearches} searches, which is the limit. Answer without further ones.`);
    this.#count++;
    const parsed = searchQuery.safeParse(args);
    if (!parsed.success) return fail(`The arguments are invalid: ${z.prettifyError(parsed.error)}`);
    const { query } = parsed.data;
    const quoted = findQuotedUrls(query, { hasUrl: (url) => this.#quoted.has(url) });
    // A model that searches may open an address in its query, and nobody can be asked here.
    if (removeComposedUrls(query, quoted) !== query)
      return fail('The query has an address that is in no message and no result. Search without it.');
    try {
      const { results, note } = await webSearch.search({ ...parsed.data, ...toQueryLimits(limits) }, principal, signal);
      return { results: filterResults(results, limits), note };
    } catch (error) {
      if (error instanceof RpcError) return fail(error.message);
      throw error;
    }
  }
}
