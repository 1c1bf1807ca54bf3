import { RpcError } from '#shared/rpc/rpc-error.ts';
import { raceAbort } from '#shared/async/mutex.ts';
import { CompactionTrigger } from '../../knowledge/memory/compaction/compaction-trigger.ts';
import type { ModelCaller, PendingPrompt, TooLongPrompt } from '../runs/run-types.ts';
import type { Settings } from '../../config/settings-schema.ts';
import { type Conversation, countConversation, estimateConversation, measureConversation, planCompaction } from './measure-conversation.ts';
import { readPromptHistory, toPromptHistory, type PromptHistory } from './prompt-history.ts';
import { type StoredSummary, Summariser, type SummariserDeps, type SummaryTask } from './summariser.ts';

/** Wait before a retry after the first failure, doubled after each further one, up to the second value. */
const RETRY_MS = 60_000;
const MAX_RETRY_MS = 30 * 60_000;
/** Minimum share of the context that a summary must free. */
const MIN_FREED_SHARE = 0.05;
/** Limit for a prompt that was too long, as a share of its counted tokens, if the actual limit is unknown: the count is wrong then. */
const TOO_LONG_SHARE = 0.75;
/** A conversation with fewer tokens is summarised without looking up the model's context. */
const SMALL_CONVERSATION_TOKENS = 2000;

/** Summarises conversations that grow too long for their model (docs/decisions/0043). One summary at a time per session. */
export class Compactor {
  readonly #deps: SummariserDeps;
  readonly #summariser: Summariser;
  readonly #running = new Map<string, Promise<StoredSummary | undefined>>();
  readonly #failures = new Map<string, { count: number; until: number }>();
  readonly #closing = new AbortController();

  constructor(deps: SummariserDeps) {
    this.#deps = deps;
    this.#summariser = new Summariser(deps);
  }

  /** Aborts running summaries without storing them. */
  stop(): void {
    this.#closing.abort(new Error('The gateway was closed.'));
  }

  /**
   * The part of a branch for the model's prompt. If the branch has grown too long, starts a summary: meanwhile, the turn continues with the
   * whole branch, unless the context is full or the settings say otherwise. Rejects only with the reason of `signal`.
   */
  async prepare(run: PendingPrompt, signal: AbortSignal): Promise<PromptHistory> {
    const history = toPromptHistory(run.above.messages);
    try {
      const { done: pending } = await this.#startIfNeeded(run, history, signal);
      const done = pending && (await raceAbort(pending, signal));
      const index = done ? history.messages.findIndex(({ id }) => id === done.messageId) : -1;
      return done && index >= 0 ? { summary: done.compaction, messages: history.messages.slice(index + 1) } : history;
    } catch (error) {
      signal.throwIfAborted();
      this.#recordFailure(run.key, error);
      return history;
    }
  }

  /**
   * The part of a branch for a model that found the prompt too long, regardless of the count: summarises immediately. `contextTokens`: size
   * of its context, if its server reports it. Rejects with an Error that explains why it cannot be shortened; then nothing is dropped.
   */
  async shorten(run: TooLongPrompt, contextTokens: number | undefined, signal: AbortSignal): Promise<PromptHistory> {
    const { compaction, summary } = this.#settings;
    if (!compaction.enabled || !summary.enabled) throw new Error('Summaries of earlier messages are turned off in the settings.');
    const running = this.#running.get(run.key);
    const existing = running && (await raceAbort(running, signal).catch(() => undefined));
    signal.throwIfAborted();
    const done =
      existing ??
      (await raceAbort(
        this.#start(run.key, () => this.#shorten(run, contextTokens, signal)),
        signal,
      ));
    const index = run.told.messages.findIndex(({ id }) => id === done?.messageId);
    if (!done) throw new Error('The session was deleted.');
    return { summary: done.compaction, messages: run.told.messages.slice(index + 1) };
  }

  async #shorten(run: TooLongPrompt, contextTokens: number | undefined, signal: AbortSignal): Promise<StoredSummary | undefined> {
    const { vault } = this.#deps;
    const { told: history, user, extraTexts, chosen } = run;
    const extended: PromptHistory = { ...history, messages: [...history.messages, user] };
    const sizes = await countConversation({ history: extended, extraTexts, model: chosen.key }, signal);
    const configuredLimit = await this.#getLimit(chosen.key, true);
    const limit = Math.min(configuredLimit, contextTokens ?? Infinity, Math.floor(TOO_LONG_SHARE * sizes.total));
    const compact = planCompaction(extended, sizes, { ...this.#settings.compaction, limit }, 'urgent').messagesToCompact;
    if (compact.length === 0) throw new Error('There are no earlier messages to summarise.');
    const fullHistory = run.above.more && history.summary === undefined ? await readPromptHistory(vault, run.key, user.id) : history;
    try {
      return await this.#summarise({
        caller: run,
        history: fullHistory,
        counts: sizes,
        compact,
        limit,
        context: limit,
        trigger: CompactionTrigger.OVERFLOW,
        signal,
      });
    } catch (error) {
      if (!signal.aborted) this.#recordFailure(run.key, error);
      throw new Error(`The earlier messages could not be summarised: ${toReason(error)}`, { cause: error });
    }
  }

  /**
   * Summarises a session's active branch now, regardless of its length. Resolves with undefined if there is nothing to summarise. Rejects
   * with an `RpcError` that explains the failure; then nothing is changed.
   */
  async compact(caller: ModelCaller, signal: AbortSignal): Promise<StoredSummary | undefined> {
    const pending = this.#running.get(caller.key) ?? this.#start(caller.key, () => this.#compactNow(caller, signal));
    try {
      return await raceAbort(pending, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof RpcError ? error : new RpcError('INTERNAL_ERROR', toReason(error), {}, { cause: error });
    }
  }

  async #compactNow(caller: ModelCaller, signal: AbortSignal): Promise<StoredSummary | undefined> {
    const history = await readPromptHistory(this.#deps.vault, caller.key);
    const limit = await this.#getLimit(caller.chosen.key, true);
    const sizes = await countConversation({ history, extraTexts: [], model: caller.chosen.key }, signal);
    const compact = planCompaction(history, sizes, { ...this.#settings.compaction, limit }, 'asked').messagesToCompact;
    return this.#summarise({ caller, history, counts: sizes, compact, limit, trigger: CompactionTrigger.MANUAL, signal });
  }

  get #settings(): Settings['memory'] {
    return this.#deps.settings().memory;
  }

  /** Starts a summary if needed; `done` is set if the turn has to wait for it. */
  async #startIfNeeded(
    run: PendingPrompt,
    history: PromptHistory,
    signal: AbortSignal,
  ): Promise<{ done?: Promise<StoredSummary | undefined> }> {
    const { compaction, summary } = this.#settings;
    if (!compaction.enabled || !summary.enabled) return {};
    // A page that reaches neither a summary nor the beginning would lose earlier messages.
    const isTruncated = run.above.more && history.summary === undefined;
    const extended: PromptHistory = { ...history, messages: [...history.messages, run.user] };
    const conversation: Conversation = { history: extended, extraTexts: run.extraTexts, model: run.chosen.key };
    const estimate = await estimateConversation(conversation, signal);
    const limit = await this.#getLimit(run.chosen.key, estimate.total - estimate.fixed > SMALL_CONVERSATION_TOKENS);
    const threshold = Math.floor(compaction.compaction_threshold * limit);
    const sizes = await measureConversation(conversation, estimate, threshold, signal);
    const isFull = sizes.total >= limit;
    if (sizes.total < threshold && !isTruncated) return {};
    const plan = planCompaction(extended, sizes, { ...compaction, limit }, isFull ? 'urgent' : isTruncated ? 'asked' : 'usual');
    const freedTokens = plan.messagesToCompact.reduce((sum, message) => sum + (sizes.tokens.get(message) ?? 0), 0);
    if (plan.messagesToCompact.length === 0 || (!isTruncated && freedTokens < MIN_FREED_SHARE * limit)) return {};
    const mustWait = isFull || !summary.async_mode;
    const running = this.#running.get(run.key);
    if (running) return mustWait ? { done: running } : {};
    if (this.#isBackingOff(run.key)) return {};
    // A summary that nobody waits for continues after the turn.
    const end = mustWait ? signal : this.#closing.signal;
    const pending = this.#start(run.key, () =>
      this.#runLogged(run.key, end, async () => {
        const fullHistory = isTruncated ? await readPromptHistory(this.#deps.vault, run.key, run.user.id) : history;
        const trigger = isFull ? CompactionTrigger.OVERFLOW : CompactionTrigger.THRESHOLD;
        return this.#summarise({
          caller: run,
          history: fullHistory,
          counts: sizes,
          compact: plan.messagesToCompact,
          limit,
          trigger,
          signal: end,
        });
      }),
    );
    return mustWait ? { done: pending } : {};
  }

  async #getLimit(key: string, shouldLookUp: boolean): Promise<number> {
    const contextTokens = shouldLookUp ? await this.#deps.models.getContextTokens(key) : null;
    return Math.min(this.#settings.compaction.max_tokens, contextTokens ?? Infinity);
  }

  #isBackingOff(key: string): boolean {
    return (this.#failures.get(key)?.until ?? 0) > this.#deps.clock.monotonic();
  }

  #recordFailure(key: string, error: unknown): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    const wait = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (count - 1));
    this.#failures.set(key, { count, until: this.#deps.clock.monotonic() + wait });
    this.#deps.log.write('warn', 'compaction', `Could not summarise a conversation; all messages are kept: ${toReason(error)}`, {
      session: key,
      nextTryMs: wait,
    });
  }

  /** Never rejects. */
  async #runLogged(key: string, signal: AbortSignal, work: () => Promise<StoredSummary | undefined>): Promise<StoredSummary | undefined> {
    try {
      return await work();
    } catch (error) {
      // A user's abort is not a failure of the model.
      if (!signal.aborted) this.#recordFailure(key, error);
      return undefined;
    }
  }

  async #summarise({ signal, ...work }: SummaryTask): Promise<StoredSummary | undefined> {
    const done = await this.#summariser.summarise({ ...work, signal: AbortSignal.any([signal, this.#closing.signal]) });
    if (done) this.#failures.delete(work.caller.key);
    return done;
  }

  /** Starts a summary and registers it before the first await, so that only one runs at a time. */
  #start(key: string, work: () => Promise<StoredSummary | undefined>): Promise<StoredSummary | undefined> {
    const pending = work().finally(() => this.#running.delete(key));
    this.#running.set(key, pending);
    return pending;
  }
}

const toReason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
