import { estimateTokens } from '#shared/estimate-tokens.ts';
import { Mutex } from '#shared/async/mutex.ts';
import type { Clock } from '#shared/async/clock.ts';
import { applyCompaction, checkContext, type ContextCheckResult } from './compaction/check-context.ts';
import { StructuredSummary } from './compaction/structured-summary.ts';
import { remapResult } from './compaction/same-messages.ts';
import { MemoryConfig } from './memory-config.ts';
import { assertMessages } from './dialog/dialog-lines.ts';
import { DialogLog } from './dialog/dialog-log.ts';
import { type FoundMemory, toFoundMemory } from './found-memory.ts';
import { FileIndex } from './index/file-index.ts';
import type { IndexStore } from './index/index-store.ts';
import { createLocalTime } from '#shared/local-time.ts';
import { toNotesPath, isDate } from './layout.ts';
import { LongTermFile, type Memory } from './long-term-file.ts';
import { isCategory, MemoryCategory } from './long-term.ts';
import type { MemoryMessage } from './memory-message.ts';
import { type GivenMessage, toMemoryMessage, withContent } from './openai-message.ts';
import { removeExpired } from './retention.ts';
import { listDays, type MemoryDay, type MemoryStats, computeStats } from './memory-stats.ts';
import { summariseDay } from './summary/day-summary.ts';
import { type SummaryContext, type SummaryModel, type Complete, extractFacts, summarise } from './summary/summarise.ts';
import { type CountText, formatMessage } from './summary/transcript.ts';
import { storeToolResults } from './tool-results.ts';
import { VectorSearch, mergeVectorResults } from './vectors/vector-search.ts';
import type { Embedder, VectorStore } from './vectors/passage-vectors.ts';
import type { Workspace } from './workspace.ts';

export interface MemoryManagerDeps {
  workspace: Workspace;
  /** Workspace whose files and conversations are used for daily summaries; defaults to `workspace`. */
  reviewed?: Workspace | undefined;
  config?: MemoryConfig | undefined;
  clock: Pick<Clock, 'now'>;
  /** Returns the IANA time zone that decides which day an instant belongs to; defaults to UTC. */
  timeZone?: (() => string) | undefined;
  /** Asks a model. If omitted, no model writes summaries. */
  complete?: Complete | undefined;
  /** Counts the tokens of a text for the current model; defaults to an estimate. */
  countTokens?: CountText | undefined;
  /** Stores the index, so that the next start only reads files that have changed. */
  index?: IndexStore | undefined;
  /** Vectors of memories. `embedder` is called on each search, because the chosen model may change. */
  vectors?: { embedder(): Embedder | undefined; store: VectorStore } | undefined;
  /** Called with the id of a memory that was removed or whose text changed. */
  onRemoved?: ((id: string) => Promise<void>) | undefined;
  /** Called with the results of each search, before they are returned. */
  onSearched?: ((query: string, found: readonly FoundMemory[]) => Promise<void>) | undefined;
  /** Called with problems that do not fail the current operation. */
  warn?: ((message: string) => void) | undefined;
}

/** Tokens of a message in addition to its text. */
const TOKENS_PER_MESSAGE = 4;
const MAX_FOUND = 100;

const toReason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The memory of agents over the files of a workspace. A write is durable once its promise resolves. */
export class MemoryManager {
  readonly config: MemoryConfig;
  readonly #deps: MemoryManagerDeps;
  readonly #longTerm: LongTermFile;
  readonly #index: FileIndex;
  readonly #dialogs: DialogLog;
  readonly #vectorSearch: VectorSearch | undefined;
  /** Serializes changes of the long-term file and the daily notes, which read before they write. */
  readonly #mutex = new Mutex();
  readonly #closing = new AbortController();
  /** Maps a message with a stub to the original message, which is the one to save. */
  readonly #originals = new WeakMap<MemoryMessage, MemoryMessage>();
  #state: 'new' | 'open' | 'closed' = 'new';

  constructor(deps: MemoryManagerDeps) {
    const { workspace, clock } = deps;
    this.config = deps.config ?? new MemoryConfig();
    this.#deps = deps;
    this.#longTerm = new LongTermFile(workspace, this.config.longTerm.file);
    this.#index = new FileIndex({ workspace, longTerm: this.config.longTerm.file, store: deps.index, warn: deps.warn });
    this.#dialogs = new DialogLog(this.#index, () => clock.now());
    this.#vectorSearch =
      deps.vectors &&
      new VectorSearch({ ...deps.vectors, index: this.#index, clock, signal: this.#closing.signal, warn: (message) => this.warn(message) });
  }

  /**
   * Opens the memory, removes expired files and starts indexing; searches wait for the index. Does nothing if the memory is already open.
   */
  async open(): Promise<this> {
    if (this.#state === 'closed') throw new Error('The memory was closed. Create a new one.');
    if (this.#state === 'open') return this;
    this.#state = 'open';
    // Expired files that cannot be removed, such as in a read-only folder, do not prevent opening.
    await this.cleanUp().catch((error: unknown) => this.warn(`Could not remove old files: ${toReason(error)}`));
    // The next operation that needs the index retries and reports the error.
    this.#index.follow().then(
      () => this.#vectorSearch?.follow(),
      () => {},
    );
    return this;
  }

  /** Aborts running operations and waits for them. Later calls reject. */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.#closing.abort(new Error('The memory was closed.'));
    await this.#mutex.run(() => Promise.resolve());
    await this.#index.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Whether a model is available for `generateSummary`. */
  get hasModel(): boolean {
    return this.#deps.complete !== undefined;
  }

  /**
   * Checks whether a conversation is too long, and which messages would be summarised. Throws a TypeError that names an invalid message.
   */
  checkContext<M extends GivenMessage = MemoryMessage>(messages: readonly M[]): ContextCheckResult<M> {
    assertMessages(messages.map(toMemoryMessage));
    return checkContext(messages, this.config.compaction, (message) => this.#count(formatMessage(message)) + TOKENS_PER_MESSAGE);
  }

  /**
   * Summarises messages, including an earlier summary at their beginning, with the model. The messages are first written to the dialog, and
   * facts worth keeping are added to memory. Rejects with an Error if there is no model or no summary after two attempts; nothing is lost
   * in that case.
   */
  async generateSummary(
    input: readonly GivenMessage[],
    { sessionKey = '', signal }: { sessionKey?: string; signal?: AbortSignal } = {},
  ): Promise<StructuredSummary> {
    this.#assertOpen();
    const messages = input.map(toMemoryMessage);
    if (messages.length === 0) throw new Error('There are no messages to summarise.');
    await this.persistDialog(messages, sessionKey);
    const context = this.#createSummaryContext(signal);
    if (!context) throw new Error('Summarising needs a model, and the memory has none. All messages are kept.');
    if (this.config.longTerm.enabled) await this.#rememberFrom(messages, context);
    const earlier = messages[0] && StructuredSummary.ofMessage(messages[0]);
    return summarise(earlier ? messages.slice(1) : messages, context, earlier);
  }

  /**
   * Returns the conversation with the summarised messages replaced by the summary. If the summary is missing or empty, no message is
   * dropped.
   */
  applyCompaction<M extends GivenMessage = MemoryMessage>(
    messages: readonly M[],
    summary: StructuredSummary | null,
    result: ContextCheckResult<M>,
  ): (M | MemoryMessage)[] {
    if (summary === null || summary.isEmpty) return [...messages];
    return applyCompaction(messages, summary.toMessage(), remapResult(messages, result));
  }

  /** Adds a memory. An existing one is not added again: `added` is false, and `id` is that of the existing memory. */
  addMemory(
    text: string,
    category: MemoryCategory = MemoryCategory.FACT,
    createdAt = this.#deps.clock.now(),
  ): Promise<Memory & { added: boolean }> {
    return this.#change(async () => {
      if (!isCategory(category))
        throw new Error(`Unknown category "${String(category)}". Use one of: ${Object.values(MemoryCategory).join(', ')}.`);
      const [result] = await this.#longTerm.add([{ text, category, createdAt }]);
      if (!result) throw new Error('The memory was not added.');
      return { ...result.memory, added: result.added };
    });
  }

  /** Removes a memory by the id that `addMemory` and `searchMemory` return. Returns false if it does not exist. */
  async forget(id: string): Promise<boolean> {
    const isFound = await this.#change(() => this.#longTerm.forget(id));
    if (isFound) await this.#deps.onRemoved?.(id);
    return isFound;
  }

  /**
   * Changes the text or category of a memory; its time stays. Returns undefined if it does not exist. Rejects with `ALREADY_EXISTS` if
   * another memory has the same text.
   */
  async updateMemory(
    id: string,
    change: { text?: string | undefined; category?: MemoryCategory | undefined },
  ): Promise<Memory | undefined> {
    const changed = await this.#change(() => this.#longTerm.replace(id, change));
    if (changed && changed.id !== id) await this.#deps.onRemoved?.(id);
    return changed;
  }

  /** Sets a preference, replacing an earlier one of the same name. */
  async setPreference(key: string, value: string): Promise<Memory & { replaced: number }> {
    const { memory, replaced, removed } = await this.#change(() => this.#longTerm.prefer(key, value, this.#deps.clock.now()));
    for (const id of removed) await this.#deps.onRemoved?.(id);
    return { ...memory, replaced };
  }

  /** Value of a preference, ignoring case; undefined if it is not set. */
  async getPreference(key: string): Promise<string | undefined> {
    const normalizedKey = key.trim().toLowerCase();
    for (const [name, value] of await this.#preferences()) if (name.toLowerCase() === normalizedKey) return value;
    return undefined;
  }

  /** All preferences by name. */
  async getAllPreferences(): Promise<Record<string, string>> {
    return Object.fromEntries(await this.#preferences());
  }

  /** All memories of the long-term file, in file order. */
  async getMemories(): Promise<Memory[]> {
    this.#assertOpen();
    return [...(await this.#longTerm.memories())];
  }

  /** The best matches for a query among memories, notes and conversations, at most 100. `accepts` filters the results. */
  async searchMemory(query: string, limit = 10, accepts?: (found: FoundMemory) => boolean): Promise<FoundMemory[]> {
    this.#assertOpen();
    if (typeof query !== 'string') throw new TypeError('The query must be a string.');
    if (!Number.isInteger(limit) || limit < 1) throw new Error(`The limit must be an integer of at least 1, not ${limit}.`);
    await this.#index.follow();
    const max = Math.min(limit, MAX_FOUND);
    const byVector = (await this.#vectorSearch?.search(query, MAX_FOUND)) ?? [];
    const isAlone = byVector.length === 0 && !accepts;
    const byText = this.#index.search(query, { limit: isAlone ? max : MAX_FOUND, now: this.#deps.clock.now() });
    const found = byVector.length === 0 ? byText : mergeVectorResults(byText, byVector, (id) => this.#index.passage(id));
    const all = found.map((entry) => toFoundMemory(entry, this.#index));
    const results = (accepts ? all.filter(accepts) : all).slice(0, max);
    await this.#deps
      .onSearched?.(query, results)
      .catch((error: unknown) => this.warn(`Could not note the search for dreaming: ${toReason(error)}`));
    return results;
  }

  /** Writes new messages to the dialog and returns their number. Summaries are skipped. Does nothing if the setting is off. */
  async persistDialog(input: readonly GivenMessage[], sessionKey = ''): Promise<number> {
    this.#assertOpen();
    const messages = input.map(toMemoryMessage);
    assertMessages(messages);
    if (!this.config.dialog.enabled) return 0;
    const originals = messages
      .filter((message) => !StructuredSummary.ofMessage(message))
      .map((message) => this.#originals.get(message) ?? message);
    return this.#dialogs.persist(originals, sessionKey, this.#closing.signal);
  }

  /** Stores long tool results as files and returns the messages with stubs that name those files. */
  async putAsideResults<M extends GivenMessage = MemoryMessage>(input: readonly M[]): Promise<M[]> {
    this.#assertOpen();
    const messages = input.map(toMemoryMessage);
    assertMessages(messages);
    const { enabled, maxLength } = this.config.toolResult;
    if (!enabled) return [...input];
    const result = await storeToolResults(messages, maxLength, this.#deps.workspace, this.#deps.clock.now());
    return input.map((each, index) => {
      const [message, shortened] = [messages[index], result[index]];
      if (!message || !shortened || shortened === message) return each;
      const short = withContent(each, shortened.content);
      this.#originals.set(toMemoryMessage(short), this.#originals.get(message) ?? message);
      return short;
    });
  }

  /** Removes expired dialogs and tool results, and returns their paths. */
  async cleanUp(): Promise<string[]> {
    this.#assertOpen();
    return removeExpired(this.#deps.workspace, this.config, this.#deps.clock.now());
  }

  /**
   * Writes the summary of a day (`YYYY-MM-DD`) to `memory/<date>.md` and returns the path; undefined if there were no messages. Uses the
   * given model, else the memory's model, else an extract. Text that people wrote in the file is kept.
   */
  summariseDay(
    date: string,
    { signal, model }: { signal?: AbortSignal | undefined; model?: SummaryModel | undefined } = {},
  ): Promise<string | undefined> {
    return this.#runExclusive(async () => {
      if (!isDate(date)) throw new Error(`Invalid date ${JSON.stringify(date)}. Use the form YYYY-MM-DD.`);
      const path = await summariseDay(
        this.#deps.reviewed ?? this.#deps.workspace,
        date,
        this.#createSummaryContext(signal, model),
        this.#createDayFormatter(),
      );
      if (path !== undefined) await this.#index.look(toNotesPath(date));
      return path;
    });
  }

  /** The notes of a day (`YYYY-MM-DD`), as Markdown; undefined if there are none. */
  async getDay(date: string): Promise<string | undefined> {
    this.#assertOpen();
    return this.#deps.workspace.read(toNotesPath(date));
  }

  /** All days with data, newest first: the number of memories and messages, and whether there are notes. */
  async getDays(): Promise<MemoryDay[]> {
    this.#assertOpen();
    await this.#index.follow();
    return listDays(this.#index, this.#createDayFormatter());
  }

  async getStats(): Promise<MemoryStats> {
    this.#assertOpen();
    await this.#index.follow();
    return computeStats(this.#index, this.#deps.workspace);
  }

  /** Reports a problem that does not fail the current operation. */
  warn(message: string): void {
    this.#deps.warn?.(message);
  }

  async #preferences(): Promise<Map<string, string>> {
    this.#assertOpen();
    return this.#longTerm.preferences();
  }

  /** Failing to extract facts must not fail the summary: the whole dialog is saved anyway. */
  async #rememberFrom(messages: readonly MemoryMessage[], context: SummaryContext): Promise<void> {
    try {
      const facts = await extractFacts(messages, context);
      const createdAt = this.#deps.clock.now();
      if (facts.length > 0) await this.#change(() => this.#longTerm.add(facts.map((fact) => ({ ...fact, createdAt }))));
    } catch (error) {
      context.signal.throwIfAborted();
      this.warn(`Could not extract memories before compaction: ${toReason(error)}`);
    }
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    return this.#runExclusive(async () => {
      if (!this.config.longTerm.enabled) throw new Error('Long-term memory is off (long_term.enabled).');
      const result = await work();
      await this.#index.look(this.#longTerm.path);
      this.#vectorSearch?.follow();
      return result;
    });
  }

  async #runExclusive<T>(work: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    return this.#mutex.take(this.#closing.signal, work);
  }

  #createDayFormatter(): (at: number) => string {
    const time = createLocalTime(this.#deps.timeZone?.() ?? 'UTC');
    return (at) => time(at).date;
  }

  #createSummaryContext(callerSignal?: AbortSignal, model?: SummaryModel): SummaryContext | undefined {
    const signal = callerSignal ? AbortSignal.any([callerSignal, this.#closing.signal]) : this.#closing.signal;
    const { compaction, summary } = this.config;
    const complete = model?.complete ?? this.#deps.complete;
    const contextTokens = Math.min(compaction.maxTokens, model?.contextTokens ?? Infinity);
    const maxTokens = Math.min(summary.maxSummaryTokens, Math.floor(contextTokens / 4));
    return complete && { complete, contextTokens, maxTokens, count: (text) => this.#count(text), signal };
  }

  #count(text: string): number {
    return (this.#deps.countTokens ?? estimateTokens)(text);
  }

  #assertOpen(): void {
    if (this.#state === 'new') throw new Error('The memory is not open. Call open() first.');
    if (this.#state === 'closed') throw new Error('The memory was closed.');
  }
}
