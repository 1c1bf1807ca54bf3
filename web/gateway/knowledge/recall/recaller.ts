import { type Clock, systemClock } from '#shared/async/clock.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { CircuitBreaker } from '#shared/async/circuit-breaker.ts';
import { ActiveRecallConfig, type ActiveRecallConfigFields } from './recall-config.ts';
import { toSingleLine } from './context-message.ts';
import {
  selectMemories,
  type ScoredMemory,
  RECALL_POLICIES,
  computeRelevance,
  sortMemories,
  type RecallPolicy,
} from './recall-policies.ts';
import { createEmptyWordFilter, type RecallQuery, type RecallQueries, createQueries, type Turn } from './recall-queries.ts';
import { ActiveRecallResult, type RecallHit, type RecalledMemory, type RecallStatus, type SearchDebug } from './recall-result.ts';

/** Minimum length of a useful excerpt, in characters. */
const MIN_EXCERPT_CHARS = 24;

const LEAD = '- ';
/** How much the best result of a search counts more than a late one of the same relevance. */
const RANK_BONUS = 1;

/** Short-lived cache of answers by question; the oldest are evicted. */
class AnswerCache<T> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, { value: T; until: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>, ttlMs: number, maxEntries: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    const cached = this.#entries.get(key);
    if (!cached) return undefined;
    if (cached.until > this.#clock.monotonic()) return cached.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: T): void {
    if (this.#ttlMs <= 0) return;
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#clock.monotonic() + this.#ttlMs });
    for (const [oldest] of this.#entries) {
      if (this.#entries.size <= this.#maxEntries) break;
      this.#entries.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}

/** A search backend for memories. */
export interface RecallSearch {
  /** Name in `searchDebug`. */
  backend: string;
  /** The best results for a query, best first. A recall may call it several times, always with the same signal. */
  search(query: string, limit: number, signal: AbortSignal): Promise<readonly RecallHit[]>;
  /** Whether these memories are all unchanged. If omitted, results are valid for `cacheTtlMs`. */
  holds?(memories: readonly RecalledMemory[], signal: AbortSignal): Promise<boolean>;
}

/** Input of a model that summarises memories. */
interface SummaryRequest {
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

interface RecallOutcome {
  status: RecallStatus;
  summary?: string;
  memories?: readonly RecalledMemory[];
  searchDebug?: SearchDebug;
  reason?: string;
}

const TIMEOUT_MS = 15_000;
/** Consecutive time-outs after which recall pauses. */
const TIMEOUT_LIMITS = { failures: 3, pauseMs: 60_000 };
const MAX_ANSWERS = 200;
/** Number of results requested at once, as styles discard many of them. */
const MAX_RESULTS = 30;

/** Searches memory for context on a message before it is answered. Accepts any search backend; null if there is none. */
export class ActiveMemoryRecaller {
  readonly config: ActiveRecallConfig;
  readonly #search: RecallSearch | null;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #summarize: RecallerParts['summarize'];
  readonly #answerCache: AnswerCache<ActiveRecallResult>;
  readonly #breaker: CircuitBreaker;

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
    this.#answerCache = new AnswerCache(clock, this.config.cacheTtlMs, MAX_ANSWERS);
    this.#breaker = new CircuitBreaker(clock, () => TIMEOUT_LIMITS);
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
    const queries = createQueries(latestMessage, recentTurns, this.config);
    signal.throwIfAborted();
    const debug: SearchDebug = {
      backend: this.#search?.backend ?? 'none',
      configuredMode: this.config.queryMode,
      effectiveMode: queries.mode,
      fallback: queries.fallback,
      searchMs: 0,
      hits: 0,
    };
    const toResult = (fields: RecallOutcome): ActiveRecallResult =>
      new ActiveRecallResult({ searchDebug: debug, ...fields, elapsedMs: this.#clock.monotonic() - started });
    const search = this.#search;
    if (!search) return toResult({ status: 'unavailable', reason: 'No memory to search' });
    if (!this.config.enabled) return toResult({ status: 'unavailable', reason: 'Active recall is off' });
    const restingMs = this.#breaker.pauseState?.leftMs ?? 0;
    if (restingMs > 0) {
      const seconds = Math.ceil(restingMs / 1000);
      return toResult({
        status: 'unavailable',
        reason: `Memory timed out three times in a row and is skipped for ${seconds} s`,
      });
    }
    if (queries.list.length === 0) return toResult({ status: 'empty' });

    const key = JSON.stringify([sessionKey, queries.mode, queries.list.map(({ text }) => text)]);
    const timeout = new AbortController();
    const timedSignal = AbortSignal.any([signal, timeout.signal]);
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => {});
    const onabort = (): void => stopped.reject(timedSignal.reason);
    timedSignal.addEventListener('abort', onabort, { once: true });
    const cancel = this.#clock.after(this.#timeoutMs, () => timeout.abort(new Error(`No response within ${this.#timeoutMs / 1000} s`)));
    const work = this.#answer(search, queries, { key, debug, question: latestMessage, signal: timedSignal });
    // Prevents an unhandled rejection after a time-out.
    work.catch(() => {});
    try {
      const found = await Promise.race([work, stopped.promise]);
      this.#breaker.succeed();
      return toResult(found);
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.signal.aborted) {
        this.#breaker.fail();
        return toResult({ status: 'timeout', reason: `Memory did not respond within ${this.#timeoutMs / 1000} s` });
      }
      this.#breaker.succeed();
      return toResult({
        status: 'unavailable',
        reason: `Memory search failed: ${error instanceof Error ? error.message : String(error)}`,
      });
    } finally {
      cancel();
      timedSignal.removeEventListener('abort', onabort);
    }
  }

  async #answer(
    search: RecallSearch,
    queries: RecallQueries,
    { key, debug, question, signal }: { key: string; debug: SearchDebug; question: string; signal: AbortSignal },
  ): Promise<RecallOutcome> {
    const cached = this.#answerCache.get(key);
    if (cached) {
      const { summary, memories } = cached;
      if ((await search.holds?.(memories, signal)) ?? true) return { status: 'ok', summary, memories, searchDebug: cached.searchDebug };
      this.#answerCache.delete(key);
    }
    const policy = RECALL_POLICIES[this.config.promptStyle];
    const started = this.#clock.monotonic();
    const found = await scoreMemories(search, queries.list, this.config, signal);
    debug.searchMs = this.#clock.monotonic() - started;
    debug.hits = found.length;
    const selection = createSummary(selectMemories(found, policy), policy, this.config.maxSummaryChars);
    if (selection.memories.length === 0) return { status: 'empty' };
    const summary = await this.#summary(selection, question, signal);
    if (summary === '') return { status: 'empty' };
    signal.throwIfAborted();
    this.#answerCache.set(
      key,
      new ActiveRecallResult({ status: 'ok', elapsedMs: 0, summary, memories: selection.memories, searchDebug: { ...debug } }),
    );
    return { status: 'ok', summary, memories: selection.memories };
  }

  async #summary(selection: { summary: string; memories: RecalledMemory[] }, question: string, signal: AbortSignal): Promise<string> {
    if (!this.#summarize) return selection.summary;
    const { maxSummaryChars: maxChars } = this.config;
    try {
      const text = await this.#summarize({ question, memories: selection.memories, maxChars, signal });
      return toExcerpt(toSingleLine(text), [], maxChars);
    } catch (error) {
      // An abort is not a failure of the model.
      if (signal.aborted) throw error;
      return selection.summary;
    }
  }
}

/** Results for all queries, each memory once with its highest priority. */
async function scoreMemories(
  search: RecallSearch,
  questions: readonly RecallQuery[],
  { promptStyle }: ActiveRecallConfigFields,
  signal: AbortSignal,
): Promise<ScoredMemory[]> {
  const policy = RECALL_POLICIES[promptStyle];
  const best = new Map<string, ScoredMemory>();
  const slicer = new TimeSlicer(signal);
  for (const question of questions) {
    const isEmpty = createEmptyWordFilter(question);
    const withoutEmpty = (words: readonly string[]): string[] => words.filter((word) => !isEmpty(word));
    for (const [rank, hit] of (await search.search(question.text, MAX_RESULTS, signal)).entries()) {
      if ((hit.fit ?? 1) < policy.minFit && !hit.why.timely) continue;
      const reasons = { ...hit.why, words: withoutEmpty(hit.why.words), beside: withoutEmpty(hit.why.beside) };
      const relevance = computeRelevance({ ...hit, why: reasons }, policy) * (question.latest ? 1 : policy.context);
      const priority = relevance * (1 + RANK_BONUS / (1 + rank / 2));
      const known = best.get(hit.id);
      if (relevance <= 0 || priority <= (known?.priority ?? 0)) continue;
      best.set(hit.id, { ...hit, why: reasons, relevance, priority });
    }
    signal.throwIfAborted();
    // Several queries over many memories would block for longer than one.
    if (slicer.isDue) await slicer.pause();
  }
  return [...best.values()];
}

/**
 * Formats the chosen memories within a length limit: the most relevant get space first; one line each, in the style's order. No model is
 * used: long texts are cut to an excerpt around the matched words.
 */
function createSummary(
  chosen: readonly ScoredMemory[],
  policy: RecallPolicy,
  maxChars: number,
): { summary: string; memories: RecalledMemory[] } {
  const share = policy.spread ? Math.max(2 * MIN_EXCERPT_CHARS, Math.floor(maxChars / Math.max(1, chosen.length))) : maxChars;
  const memories: RecalledMemory[] = [];
  let remainingChars = maxChars;
  for (const { id, text, category, why, at, source, relevance } of chosen) {
    const maxLength = Math.min(remainingChars, share) - LEAD.length;
    const plain = toSingleLine(text);
    if (plain === '') continue;
    if (plain.length > maxLength && maxLength < MIN_EXCERPT_CHARS) break;
    const shortText = toExcerpt(plain, [...why.words, ...why.beside], maxLength);
    memories.push({ id, text: shortText, ...(category === undefined ? {} : { category }), why, at, source, relevance });
    remainingChars -= LEAD.length + shortText.length + 1;
  }
  const ordered = sortMemories(memories, policy);
  return { summary: ordered.map(({ text }) => `${LEAD}${text}`).join('\n'), memories: ordered };
}

/** Cuts a line to at most `maxChars` characters around the first matched word. */
function toExcerpt(line: string, words: readonly string[], maxChars: number): string {
  if (line.length <= maxChars) return line;
  const small = line.toLowerCase();
  // Lower-casing can change the length, which would shift positions.
  const positions = small.length === line.length ? words.map((word) => small.indexOf(word)).filter((position) => position >= 0) : [];
  const first = positions.length > 0 ? Math.min(...positions) : 0;
  const from = first < maxChars * 0.6 ? 0 : Math.min(first - Math.floor(maxChars / 3), line.length - maxChars + 1);
  const [before, after] = [from > 0 ? '…' : '', from + maxChars < line.length ? '…' : ''];
  let piece = line.slice(from, from + maxChars - before.length - after.length);
  if (before) piece = piece.replace(/^\S{0,20}\s+/, '');
  if (after) piece = piece.replace(/\s+\S{0,20}$/, '');
  return `${before}${piece.toWellFormed().replaceAll('\ufffd', '').trim()}${after}`;
}
