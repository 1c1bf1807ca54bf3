import { estimateTokens } from '#shared/estimate-tokens.ts';
import { Turns } from '#shared/turns.ts';
import type { Clock } from '../clock.ts';
import { applyCompaction, checkContext, type ContextCheckResult } from './compaction/check-context.ts';
import { StructuredSummary } from './compaction/structured-summary.ts';
import { sameMessages } from './compaction/same-messages.ts';
import { MemoryConfig } from './config.ts';
import { mustBeMessages } from './dialog/dialog-lines.ts';
import { Dialogs } from './dialog/dialogs.ts';
import { type FoundMemory, foundMemory } from './found-memory.ts';
import { FileIndex } from './index/file-index.ts';
import type { IndexStore } from './index/index-store.ts';
import { localTime } from '../local-time.ts';
import { dayFile, isDate } from './layout.ts';
import { LongTermFile, type Memory } from './long-term-file.ts';
import { isCategory, MemoryCategory } from './long-term.ts';
import type { MemoryMessage } from './message.ts';
import { type GivenMessage, toMemoryMessage, withContent } from './openai-message.ts';
import { removeOld } from './retention.ts';
import { daysOf, type MemoryDay, type MemoryStats, statsOf } from './stats.ts';
import { summariseDay } from './summary/day-summary.ts';
import { type Asking, type AskedModel, type Complete, factsIn, summarise } from './summary/summarise.ts';
import { type CountText, shownMessage } from './summary/transcript.ts';
import { putAside } from './tool-results.ts';
import { ByMeaning, withVectors } from './vectors/by-meaning.ts';
import type { Embedder, VectorStore } from './vectors/vectors.ts';
import type { Workspace } from './workspace.ts';

export interface MemoryManagerDeps {
  workspace: Workspace;
  /** The files and conversations that summaries of days are made of; those of `workspace` if left out. */
  reviewed?: Workspace | undefined;
  config?: MemoryConfig | undefined;
  clock: Pick<Clock, 'now'>;
  /** By which days are told and summarised; UTC where left out. */
  timeZone?: (() => string) | undefined;
  /** Without it nothing is summarised by a model. */
  complete?: Complete | undefined;
  /** Tokens of a text, for the model in use; an estimate where left out. */
  countTokens?: CountText | undefined;
  /** Keeps what was read of the files, so that the next start reads only what has changed. */
  index?: IndexStore | undefined;
  /** Vectors of what is remembered, where a model makes them: asked anew at each search, for another may be chosen. */
  vectors?: { embedder(): Embedder | undefined; store: VectorStore } | undefined;
  /** Called with the id of a memory that was removed or got another text. */
  onRemoved?: ((id: string) => Promise<void>) | undefined;
  /** Called with the results of each search, before they are returned. */
  onSearched?: ((query: string, found: readonly FoundMemory[]) => Promise<void>) | undefined;
  /** Hears what went wrong beside what was asked for. */
  warn?: ((message: string) => void) | undefined;
}

/** Tokens that a message takes beside its text. */
const FRAME = 4;
const MOST_FOUND = 100;

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The memory of agents over the files of a workspace (interface document 2, sections 2.5 and 4.4). What has been answered is in the files. */
export class MemoryManager {
  readonly config: MemoryConfig;
  readonly #deps: MemoryManagerDeps;
  readonly #longTerm: LongTermFile;
  readonly #index: FileIndex;
  readonly #dialogs: Dialogs;
  readonly #byMeaning: ByMeaning | undefined;
  /** Changes of the long-term file and the daily notes, which read first. */
  readonly #turns = new Turns();
  readonly #closing = new AbortController();
  /** By a message with a stub, the one with the whole result: that is what was said. */
  readonly #whole = new WeakMap<MemoryMessage, MemoryMessage>();
  #state: 'new' | 'open' | 'closed' = 'new';

  constructor(deps: MemoryManagerDeps) {
    const { workspace, clock } = deps;
    this.config = deps.config ?? new MemoryConfig();
    this.#deps = deps;
    this.#longTerm = new LongTermFile(workspace, this.config.longTerm.file);
    this.#index = new FileIndex({ workspace, longTerm: this.config.longTerm.file, store: deps.index, warn: deps.warn });
    this.#dialogs = new Dialogs(this.#index, () => clock.now());
    this.#byMeaning =
      deps.vectors &&
      new ByMeaning({ ...deps.vectors, index: this.#index, clock, signal: this.#closing.signal, warn: (message) => this.warn(message) });
  }

  /** Opens it, removes what is older than it may be, and begins to index what is there; a search waits for that. A second time it does nothing. */
  async open(): Promise<this> {
    if (this.#state === 'closed') throw new Error('The memory was closed. Create a new one.');
    if (this.#state === 'open') return this;
    this.#state = 'open';
    // What cannot be removed, as in a folder that can only be read, is no reason not to remember.
    await this.cleanUp().catch((error: unknown) => this.warn(`Could not remove old files: ${reasonOf(error)}`));
    // What fails now is tried again by whatever needs it, and told then.
    this.#index.follow().then(
      () => this.#byMeaning?.follow(),
      () => {},
    );
    return this;
  }

  /** Ends what is under way, and waits for it. What is asked for afterwards rejects. */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.#closing.abort(new Error('The memory was closed.'));
    await this.#turns.run(() => Promise.resolve());
    await this.#index.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A model was given, so that `generateSummary` can be asked. */
  get hasModel(): boolean {
    return this.#deps.complete !== undefined;
  }

  /** Whether a conversation is too long, and what of it would be summarised. Throws a TypeError that names what is no message. */
  checkContext<M extends GivenMessage = MemoryMessage>(messages: readonly M[]): ContextCheckResult<M> {
    mustBeMessages(messages.map(toMemoryMessage));
    return checkContext(messages, this.config.compaction, (message) => this.#count(shownMessage(message)) + FRAME);
  }

  /**
   * A summary of messages by the model, and of the earlier summary that they may begin with. First they are written to the dialog, and what is worth it is remembered for good. Rejects with an Error where there is no model, or
   * none that gives a summary in two attempts; nothing is lost then.
   */
  async generateSummary(
    given: readonly GivenMessage[],
    { sessionKey = '', signal }: { sessionKey?: string; signal?: AbortSignal } = {},
  ): Promise<StructuredSummary> {
    this.#mustBeOpen();
    const messages = given.map(toMemoryMessage);
    if (messages.length === 0) throw new Error('There are no messages to summarise.');
    await this.persistDialog(messages, sessionKey);
    const asking = this.#asking(signal);
    if (!asking) throw new Error('Summarising needs a model, and the memory has none. All messages are kept.');
    if (this.config.longTerm.enabled) await this.#rememberFrom(messages, asking);
    const earlier = messages[0] && StructuredSummary.ofMessage(messages[0]);
    return summarise(earlier ? messages.slice(1) : messages, asking, earlier);
  }

  /** The conversation with the summary in place of what it is of. Without a summary, or with an empty one, nothing is dropped. */
  applyCompaction<M extends GivenMessage = MemoryMessage>(
    messages: readonly M[],
    summary: StructuredSummary | null,
    result: ContextCheckResult<M>,
  ): (M | MemoryMessage)[] {
    if (summary === null || summary.isEmpty) return [...messages];
    return applyCompaction(messages, summary.toMessage(), sameMessages(messages, result));
  }

  /** Remembers a text for good. One that is remembered already is not added again: `added` is false, and the id that of the first. */
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

  /** Removes a memory by the id that `addMemory` and `searchMemory` give. False: there is none. */
  async forget(id: string): Promise<boolean> {
    const isFound = await this.#change(() => this.#longTerm.forget(id));
    if (isFound) await this.#deps.onRemoved?.(id);
    return isFound;
  }

  /**
   * Puts other words, or another category, in the place of a memory, by its id; the time stays. Undefined: there is none of that id. Rejects with `ALREADY_EXISTS` where another
   * says the same.
   */
  async updateMemory(
    id: string,
    change: { text?: string | undefined; category?: MemoryCategory | undefined },
  ): Promise<Memory | undefined> {
    const changed = await this.#change(() => this.#longTerm.replace(id, change));
    if (changed && changed.id !== id) await this.#deps.onRemoved?.(id);
    return changed;
  }

  /** Notes a preference in place of an earlier one of the same name. */
  async setPreference(key: string, value: string): Promise<Memory & { replaced: number }> {
    const { memory, replaced, removed } = await this.#change(() => this.#longTerm.prefer(key, value, this.#deps.clock.now()));
    for (const id of removed) await this.#deps.onRemoved?.(id);
    return { ...memory, replaced };
  }

  /** Undefined where there is none of that name, in whatever case. */
  async getPreference(key: string): Promise<string | undefined> {
    const wanted = key.trim().toLowerCase();
    for (const [name, value] of await this.#preferences()) if (name.toLowerCase() === wanted) return value;
    return undefined;
  }

  /** By name. */
  async getAllPreferences(): Promise<Record<string, string>> {
    return Object.fromEntries(await this.#preferences());
  }

  /** All that is remembered for good, in the order of its file. */
  async getMemories(): Promise<Memory[]> {
    this.#mustBeOpen();
    return [...(await this.#longTerm.memories())];
  }

  /** The best of what is remembered, noted and was said, for a query; at most 100. `accepts`: only such. */
  async searchMemory(query: string, limit = 10, accepts?: (found: FoundMemory) => boolean): Promise<FoundMemory[]> {
    this.#mustBeOpen();
    if (typeof query !== 'string') throw new TypeError('The query must be a string.');
    if (!Number.isInteger(limit) || limit < 1) throw new Error(`The limit must be an integer of at least 1, not ${limit}.`);
    await this.#index.follow();
    const most = Math.min(limit, MOST_FOUND);
    const byVector = (await this.#byMeaning?.search(query, MOST_FOUND)) ?? [];
    const isAlone = byVector.length === 0 && !accepts;
    const byText = this.#index.search(query, { limit: isAlone ? most : MOST_FOUND, now: this.#deps.clock.now() });
    const found = byVector.length === 0 ? byText : withVectors(byText, byVector, (id) => this.#index.passage(id));
    const all = found.map((each) => foundMemory(each, this.#index));
    const results = (accepts ? all.filter(accepts) : all).slice(0, most);
    await this.#deps
      .onSearched?.(query, results)
      .catch((error: unknown) => this.warn(`Could not note the search for dreaming: ${reasonOf(error)}`));
    return results;
  }

  /** Writes messages to the dialog, each once; gives how many were new. Summaries are no part of it. Nothing is written where the setting is off. */
  async persistDialog(given: readonly GivenMessage[], sessionKey = ''): Promise<number> {
    this.#mustBeOpen();
    const messages = given.map(toMemoryMessage);
    mustBeMessages(messages);
    if (!this.config.dialog.enabled) return 0;
    const said = messages.filter((message) => !StructuredSummary.ofMessage(message)).map((message) => this.#whole.get(message) ?? message);
    return this.#dialogs.persist(said, sessionKey, this.#closing.signal);
  }

  /** The messages with long results of tools put aside as files, which their stubs name. */
  async putAsideResults<M extends GivenMessage = MemoryMessage>(given: readonly M[]): Promise<M[]> {
    this.#mustBeOpen();
    const messages = given.map(toMemoryMessage);
    mustBeMessages(messages);
    const { enabled, maxLength } = this.config.toolResult;
    if (!enabled) return [...given];
    const result = await putAside(messages, maxLength, this.#deps.workspace, this.#deps.clock.now());
    return given.map((each, at) => {
      const [message, shown] = [messages[at], result[at]];
      if (!message || !shown || shown === message) return each;
      const short = withContent(each, shown.content);
      this.#whole.set(toMemoryMessage(short), this.#whole.get(message) ?? message);
      return short;
    });
  }

  /** Removes dialogs and put-aside results that are older than they may be; gives their paths. */
  async cleanUp(): Promise<string[]> {
    this.#mustBeOpen();
    return removeOld(this.#deps.workspace, this.config, this.#deps.clock.now());
  }

  /**
   * Writes the summary of a day (`YYYY-MM-DD`) to `memory/<date>.md`, by the model, or the one that is given, or else as an extract, and gives the path; undefined where nothing was said. What a
   * person wrote there stays.
   */
  summariseDay(
    date: string,
    { signal, model }: { signal?: AbortSignal | undefined; model?: AskedModel | undefined } = {},
  ): Promise<string | undefined> {
    return this.#inTurn(async () => {
      if (!isDate(date)) throw new Error(`Invalid date ${JSON.stringify(date)}. Use the form YYYY-MM-DD.`);
      const path = await summariseDay(this.#deps.reviewed ?? this.#deps.workspace, date, this.#asking(signal, model), this.#dayOf());
      if (path !== undefined) await this.#index.look(dayFile(date));
      return path;
    });
  }

  /** The notes of a day (`YYYY-MM-DD`), as Markdown; undefined where there are none. */
  async getDay(date: string): Promise<string | undefined> {
    this.#mustBeOpen();
    return this.#deps.workspace.read(dayFile(date));
  }

  /** The days of which there is something, newest first: how much was remembered and said, and whether there are notes. */
  async getDays(): Promise<MemoryDay[]> {
    this.#mustBeOpen();
    await this.#index.follow();
    return daysOf(this.#index, this.#dayOf());
  }

  async getStats(): Promise<MemoryStats> {
    this.#mustBeOpen();
    await this.#index.follow();
    return statsOf(this.#index, this.#deps.workspace);
  }

  /** Says what went wrong beside what was asked for. */
  warn(message: string): void {
    this.#deps.warn?.(message);
  }

  async #preferences(): Promise<Map<string, string>> {
    this.#mustBeOpen();
    return this.#longTerm.preferences();
  }

  /** A memory that is not made is no reason to lose a summary: the whole dialog is kept. */
  async #rememberFrom(messages: readonly MemoryMessage[], asking: Asking): Promise<void> {
    try {
      const facts = await factsIn(messages, asking);
      const createdAt = this.#deps.clock.now();
      if (facts.length > 0) await this.#change(() => this.#longTerm.add(facts.map((fact) => ({ ...fact, createdAt }))));
    } catch (error) {
      asking.signal.throwIfAborted();
      this.warn(`Could not extract memories before compaction: ${reasonOf(error)}`);
    }
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      if (!this.config.longTerm.enabled) throw new Error('Long-term memory is off (long_term.enabled).');
      const result = await work();
      await this.#index.look(this.#longTerm.path);
      this.#byMeaning?.follow();
      return result;
    });
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#mustBeOpen();
    return this.#turns.take(this.#closing.signal, work);
  }

  #dayOf(): (at: number) => string {
    const time = localTime(this.#deps.timeZone?.() ?? 'UTC');
    return (at) => time(at).date;
  }

  #asking(given?: AbortSignal, model?: AskedModel): Asking | undefined {
    const signal = given ? AbortSignal.any([given, this.#closing.signal]) : this.#closing.signal;
    const { compaction, summary } = this.config;
    const complete = model?.complete ?? this.#deps.complete;
    const contextTokens = Math.min(compaction.maxTokens, model?.contextTokens ?? Infinity);
    const maxTokens = Math.min(summary.maxSummaryTokens, Math.floor(contextTokens / 4));
    return complete && { complete, contextTokens, maxTokens, count: (text) => this.#count(text), signal };
  }

  #count(text: string): number {
    return (this.#deps.countTokens ?? estimateTokens)(text);
  }

  #mustBeOpen(): void {
    if (this.#state === 'new') throw new Error('The memory is not open. Call open() first.');
    if (this.#state === 'closed') throw new Error('The memory was closed.');
  }
}
