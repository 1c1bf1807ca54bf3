import { type Clock, systemClock } from '../clock.ts';
import { Answers } from './answers.ts';
import { Breaker } from './breaker.ts';
import { ActiveRecallConfig, type ActiveRecallConfigFields } from './config.ts';
import { onOneLine } from './context-message.ts';
import { chosenOf, type Judged, POLICIES, relevanceOf } from './policies.ts';
import { emptyWords, type Question, type Questions, questionsOf, type Turn } from './questions.ts';
import { ActiveRecallResult, type FoundMemory, type RecalledMemory, type RecallStatus, type SearchDebug } from './result.ts';
import { excerpt, summaryOf } from './summary.ts';

/** A search backend for memories. */
export interface RecallSearch {
  /** Name in `searchDebug`. */
  backend: string;
  /** The best results for a query, best first. A recall may call it several times, always with the same signal. */
  search(query: string, limit: number, signal: AbortSignal): Promise<readonly FoundMemory[]>;
  /** Whether these memories are all unchanged. If omitted, results are valid for `cacheTtlMs`. */
  holds?(memories: readonly RecalledMemory[], signal: AbortSignal): Promise<boolean>;
}

/** Input of a model that summarises memories. */
export interface SummaryRequest {
  question: string;
  memories: readonly RecalledMemory[];
  maxChars: number;
  signal: AbortSignal;
}

export interface RecallerParts {
  clock?: Clock;
  /** Milliseconds after which a recall ends as `timeout`. */
  timeoutMs?: number;
  /**
   * Summarises the memories with a model. If omitted or if it fails, excerpts of the memories are used; an empty text means that none of
   * them is relevant.
   */
  summarize?: (request: SummaryRequest) => Promise<string>;
}

interface Outcome {
  status: RecallStatus;
  summary?: string;
  memories?: readonly RecalledMemory[];
  searchDebug?: SearchDebug;
  reason?: string;
}

const TIMEOUT_MS = 15_000;
const MOST_ANSWERS = 200;
/** Number of results requested at once, as styles discard many of them. */
const LIMIT = 30;

/** Searches memory for context on a message before it is answered. Accepts any search backend; null if there is none. */
export class ActiveMemoryRecaller {
  readonly config: ActiveRecallConfig;
  readonly #search: RecallSearch | null;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #summarize: RecallerParts['summarize'];
  readonly #answers: Answers<ActiveRecallResult>;
  readonly #breaker: Breaker;

  /** Throws an Error that names the invalid setting. */
  constructor(
    search: RecallSearch | null,
    config: Partial<ActiveRecallConfigFields> | Record<string, unknown> = {},
    { clock = systemClock, timeoutMs = TIMEOUT_MS, summarize }: RecallerParts = {},
  ) {
    this.config = config instanceof ActiveRecallConfig ? config : new ActiveRecallConfig(config);
    this.#search = search;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#summarize = summarize;
    this.#answers = new Answers(clock, this.config.cacheTtlMs, MOST_ANSWERS);
    this.#breaker = new Breaker(clock);
  }

  /**
   * Recalls memories. The status is `ok` with a summary, `empty` if nothing is relevant, `timeout`, or `unavailable` if there is no
   * backend, recall is off or paused after three consecutive time-outs, or the search fails. Rejects with the signal's reason if it is
   * aborted, and with a TypeError for input that is not text.
   */
  async recall(
    latestMessage: string,
    recentTurns: readonly Turn[],
    sessionKey: string,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<ActiveRecallResult> {
    const started = this.#clock.monotonic();
    const asked = questionsOf(latestMessage, recentTurns, this.config);
    signal.throwIfAborted();
    const debug: SearchDebug = {
      backend: this.#search?.backend ?? 'none',
      configuredMode: this.config.queryMode,
      effectiveMode: asked.mode,
      fallback: asked.fallback,
      searchMs: 0,
      hits: 0,
    };
    const ended = (fields: Outcome): ActiveRecallResult =>
      new ActiveRecallResult({ searchDebug: debug, ...fields, elapsedMs: this.#clock.monotonic() - started });
    const search = this.#search;
    if (!search) return ended({ status: 'unavailable', reason: 'No memory to search' });
    if (!this.config.enabled) return ended({ status: 'unavailable', reason: 'Active recall is off' });
    const { restingMs } = this.#breaker;
    if (restingMs > 0) {
      const seconds = Math.ceil(restingMs / 1000);
      return ended({
        status: 'unavailable',
        reason: `Memory timed out three times in a row and is skipped for ${seconds} s`,
      });
    }
    if (asked.list.length === 0) return ended({ status: 'empty' });

    const key = JSON.stringify([sessionKey, asked.mode, asked.list.map(({ text }) => text)]);
    const late = new AbortController();
    const within = AbortSignal.any([signal, late.signal]);
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => {});
    const onabort = (): void => stopped.reject(within.reason);
    within.addEventListener('abort', onabort, { once: true });
    const cancel = this.#clock.after(this.#timeoutMs, () => late.abort(new Error(`No response within ${this.#timeoutMs / 1000} s`)));
    const work = this.#answer(search, asked, { key, debug, question: latestMessage, signal: within });
    // Prevents an unhandled rejection after a time-out.
    work.catch(() => {});
    try {
      const found = await Promise.race([work, stopped.promise]);
      this.#breaker.answered();
      return ended(found);
    } catch (error) {
      signal.throwIfAborted();
      if (late.signal.aborted) {
        this.#breaker.timedOut();
        return ended({ status: 'timeout', reason: `Memory did not respond within ${this.#timeoutMs / 1000} s` });
      }
      this.#breaker.answered();
      return ended({
        status: 'unavailable',
        reason: `Memory search failed: ${error instanceof Error ? error.message : String(error)}`,
      });
    } finally {
      cancel();
      within.removeEventListener('abort', onabort);
    }
  }

  async #answer(
    search: RecallSearch,
    asked: Questions,
    { key, debug, question, signal }: { key: string; debug: SearchDebug; question: string; signal: AbortSignal },
  ): Promise<Outcome> {
    const kept = this.#answers.get(key);
    if (kept) {
      const { summary, memories } = kept;
      if ((await search.holds?.(memories, signal)) ?? true) return { status: 'ok', summary, memories, searchDebug: kept.searchDebug };
      this.#answers.delete(key);
    }
    const policy = POLICIES[this.config.promptStyle];
    const started = this.#clock.monotonic();
    const found = await judged(search, asked.list, this.config, signal);
    debug.searchMs = this.#clock.monotonic() - started;
    debug.hits = found.length;
    const told = summaryOf(chosenOf(found, policy), policy, this.config.maxSummaryChars);
    if (told.memories.length === 0) return { status: 'empty' };
    const summary = await this.#summary(told, question, signal);
    if (summary === '') return { status: 'empty' };
    signal.throwIfAborted();
    this.#answers.set(
      key,
      new ActiveRecallResult({ status: 'ok', elapsedMs: 0, summary, memories: told.memories, searchDebug: { ...debug } }),
    );
    return { status: 'ok', summary, memories: told.memories };
  }

  async #summary(told: { summary: string; memories: RecalledMemory[] }, question: string, signal: AbortSignal): Promise<string> {
    if (!this.#summarize) return told.summary;
    const { maxSummaryChars: maxChars } = this.config;
    try {
      const text = await this.#summarize({ question, memories: told.memories, maxChars, signal });
      return excerpt(onOneLine(text), [], maxChars);
    } catch (error) {
      // An abort is not a failure of the model.
      if (signal.aborted) throw error;
      return told.summary;
    }
  }
}

/** Results for all queries, each memory once with its highest relevance. */
async function judged(
  search: RecallSearch,
  questions: readonly Question[],
  { promptStyle }: ActiveRecallConfigFields,
  signal: AbortSignal,
): Promise<Judged[]> {
  const policy = POLICIES[promptStyle];
  const best = new Map<string, Judged>();
  for (const question of questions) {
    const isEmpty = emptyWords(question);
    const telling = (words: readonly string[]): string[] => words.filter((word) => !isEmpty(word));
    for (const each of await search.search(question.text, LIMIT, signal)) {
      const why = { ...each.why, words: telling(each.why.words), beside: telling(each.why.beside) };
      const relevance = relevanceOf({ ...each, why }, policy) * (question.latest ? 1 : policy.context);
      if (relevance <= (best.get(each.id)?.relevance ?? 0)) continue;
      best.set(each.id, { ...each, why, relevance });
    }
    signal.throwIfAborted();
  }
  return [...best.values()];
}
