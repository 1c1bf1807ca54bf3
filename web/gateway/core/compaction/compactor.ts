import { RpcError } from '#shared/rpc/errors.ts';
import { unlessAborted } from '#shared/turns.ts';
import { CompactionTrigger } from '../memory/compaction/compaction-trigger.ts';
import type { Asker, BeforePrompt, TooLongPrompt } from '../runs/deps.ts';
import type { Settings } from '../settings.ts';
import { type Conversation, counted, estimated, measured, planned } from './measure.ts';
import { readSinceSummary, sinceSummary, type Told } from './since-summary.ts';
import { type Compacted, Summariser, type SummariserDeps, type Work } from './summariser.ts';

/** Wait before a retry after the first failure, doubled after each further one, up to the second value. */
const WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 30 * 60_000;
/** Minimum share of the context that a summary must free. */
const LEAST_SHARE = 0.05;
/** Limit for a prompt that was too long, as a share of its counted tokens, if the actual limit is unknown: the count is wrong then. */
const TOO_LONG_SHARE = 0.75;
/** A conversation with fewer tokens is summarised without looking up the model's context. */
const SMALL = 2000;

/** Summarises conversations that grow too long for their model (docs/decisions/0043). One summary at a time per session. */
export class Compactor {
  readonly #deps: SummariserDeps;
  readonly #summariser: Summariser;
  readonly #making = new Map<string, Promise<Compacted | undefined>>();
  readonly #failures = new Map<string, { count: number; until: number }>();
  readonly #closing = new AbortController();

  constructor(deps: SummariserDeps) {
    this.#deps = deps;
    this.#summariser = new Summariser(deps);
  }

  /** Aborts running summaries; nothing of them is stored. */
  stop(): void {
    this.#closing.abort(new Error('The gateway was closed.'));
  }

  /**
   * The part of a branch for the model's prompt. If the branch has grown too long, starts a summary: meanwhile, the turn continues with the
   * whole branch, unless the context is full or the settings say otherwise. Rejects only with the reason of `signal`.
   */
  async before(run: BeforePrompt, signal: AbortSignal): Promise<Told> {
    const told = sinceSummary(run.above.messages);
    try {
      const { done: making } = await this.#begun(run, told, signal);
      const done = making && (await unlessAborted(making, signal));
      const at = done ? told.messages.findIndex(({ id }) => id === done.messageId) : -1;
      return done && at >= 0 ? { summary: done.compaction, messages: told.messages.slice(at + 1) } : told;
    } catch (error) {
      signal.throwIfAborted();
      this.#failed(run.key, error);
      return told;
    }
  }

  /**
   * The part of a branch for a model that found the prompt too long, regardless of the count: summarises immediately. `contextTokens`: size
   * of its context, if its server reports it. Rejects with an Error that explains why it cannot be shortened; then nothing is dropped.
   */
  async shortened(run: TooLongPrompt, contextTokens: number | undefined, signal: AbortSignal): Promise<Told> {
    const { compaction, summary } = this.#settings;
    if (!compaction.enabled || !summary.enabled) throw new Error('Summaries of earlier messages are turned off in the settings.');
    const under = this.#making.get(run.key);
    const made = under && (await unlessAborted(under, signal).catch(() => undefined));
    signal.throwIfAborted();
    const done =
      made ??
      (await unlessAborted(
        this.#make(run.key, () => this.#shortening(run, contextTokens, signal)),
        signal,
      ));
    const at = run.told.messages.findIndex(({ id }) => id === done?.messageId);
    if (!done) throw new Error('The session was deleted.');
    return { summary: done.compaction, messages: run.told.messages.slice(at + 1) };
  }

  async #shortening(run: TooLongPrompt, contextTokens: number | undefined, signal: AbortSignal): Promise<Compacted | undefined> {
    const { vault } = this.#deps;
    const { told, user, beside, chosen } = run;
    const talk: Told = { ...told, messages: [...told.messages, user] };
    const sizes = await counted({ told: talk, beside, model: chosen.key }, signal);
    const believed = await this.#limit(chosen.key, true);
    const limit = Math.min(believed, contextTokens ?? Infinity, Math.floor(TOO_LONG_SHARE * sizes.total));
    const compact = planned(talk, sizes, { ...this.#settings.compaction, limit }, 'urgent').messagesToCompact;
    if (compact.length === 0) throw new Error('There are no earlier messages to summarise.');
    const whole = run.above.more && told.summary === undefined ? await readSinceSummary(vault, run.key, user.id) : told;
    try {
      return await this.#summarised({
        who: run,
        told: whole,
        sizes,
        compact,
        limit,
        context: limit,
        trigger: CompactionTrigger.OVERFLOW,
        signal,
      });
    } catch (error) {
      if (!signal.aborted) this.#failed(run.key, error);
      throw new Error(`The earlier messages could not be summarised: ${reasonOf(error)}`, { cause: error });
    }
  }

  /**
   * Summarises a session's active branch now, regardless of its length. Resolves with undefined if there is nothing to summarise. Rejects
   * with an `RpcError` that explains the failure; then nothing is changed.
   */
  async now(who: Asker, signal: AbortSignal): Promise<Compacted | undefined> {
    const making = this.#making.get(who.key) ?? this.#make(who.key, () => this.#asked(who, signal));
    try {
      return await unlessAborted(making, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof RpcError ? error : new RpcError('INTERNAL_ERROR', reasonOf(error), {}, { cause: error });
    }
  }

  async #asked(who: Asker, signal: AbortSignal): Promise<Compacted | undefined> {
    const told = await readSinceSummary(this.#deps.vault, who.key);
    const limit = await this.#limit(who.chosen.key, true);
    const sizes = await counted({ told, beside: [], model: who.chosen.key }, signal);
    const compact = planned(told, sizes, { ...this.#settings.compaction, limit }, 'asked').messagesToCompact;
    return this.#summarised({ who, told, sizes, compact, limit, trigger: CompactionTrigger.MANUAL, signal });
  }

  get #settings(): Settings['memory'] {
    return this.#deps.settings().memory;
  }

  /** Starts a summary if needed; `done` is set if the turn has to wait for it. */
  async #begun(run: BeforePrompt, told: Told, signal: AbortSignal): Promise<{ done?: Promise<Compacted | undefined> }> {
    const { compaction, summary } = this.#settings;
    if (!compaction.enabled || !summary.enabled) return {};
    // A page that reaches neither a summary nor the beginning would lose earlier messages.
    const cut = run.above.more && told.summary === undefined;
    const talk: Told = { ...told, messages: [...told.messages, run.user] };
    const conversation: Conversation = { told: talk, beside: run.beside, model: run.chosen.key };
    const rough = await estimated(conversation, signal);
    const limit = await this.#limit(run.chosen.key, rough.total - rough.fixed > SMALL);
    const threshold = Math.floor(compaction.compaction_threshold * limit);
    const sizes = await measured(conversation, rough, threshold, signal);
    const full = sizes.total >= limit;
    if (sizes.total < threshold && !cut) return {};
    const plan = planned(talk, sizes, { ...compaction, limit }, full ? 'urgent' : cut ? 'asked' : 'usual');
    const frees = plan.messagesToCompact.reduce((sum, message) => sum + (sizes.tokens.get(message) ?? 0), 0);
    if (plan.messagesToCompact.length === 0 || (!cut && frees < LEAST_SHARE * limit)) return {};
    const waits = full || !summary.async_mode;
    const under = this.#making.get(run.key);
    if (under) return waits ? { done: under } : {};
    if (this.#rests(run.key)) return {};
    // A summary that nobody waits for continues after the turn.
    const end = waits ? signal : this.#closing.signal;
    const making = this.#make(run.key, () =>
      this.#logged(run.key, end, async () => {
        const whole = cut ? await readSinceSummary(this.#deps.vault, run.key, run.user.id) : told;
        const trigger = full ? CompactionTrigger.OVERFLOW : CompactionTrigger.THRESHOLD;
        return this.#summarised({ who: run, told: whole, sizes, compact: plan.messagesToCompact, limit, trigger, signal: end });
      }),
    );
    return waits ? { done: making } : {};
  }

  async #limit(key: string, ask: boolean): Promise<number> {
    const known = ask ? await this.#deps.models.contextOf(key) : null;
    return Math.min(this.#settings.compaction.max_tokens, known ?? Infinity);
  }

  #rests(key: string): boolean {
    return (this.#failures.get(key)?.until ?? 0) > this.#deps.clock.monotonic();
  }

  #failed(key: string, error: unknown): void {
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    const wait = Math.min(LONGEST_WAIT_MS, WAIT_MS * 2 ** (count - 1));
    this.#failures.set(key, { count, until: this.#deps.clock.monotonic() + wait });
    this.#deps.log.write('warn', 'compaction', `Could not summarise a conversation; all messages are kept: ${reasonOf(error)}`, {
      session: key,
      nextTryMs: wait,
    });
  }

  /** Never rejects. */
  async #logged(key: string, signal: AbortSignal, work: () => Promise<Compacted | undefined>): Promise<Compacted | undefined> {
    try {
      return await work();
    } catch (error) {
      // A user's abort is not a failure of the model.
      if (!signal.aborted) this.#failed(key, error);
      return undefined;
    }
  }

  async #summarised({ signal, ...work }: Work): Promise<Compacted | undefined> {
    const done = await this.#summariser.make({ ...work, signal: AbortSignal.any([signal, this.#closing.signal]) });
    if (done) this.#failures.delete(work.who.key);
    return done;
  }

  /** Registered before the first await, so that only one runs at a time. */
  #make(key: string, work: () => Promise<Compacted | undefined>): Promise<Compacted | undefined> {
    const making = work().finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
