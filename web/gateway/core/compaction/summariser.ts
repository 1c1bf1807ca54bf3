import { RpcError } from '#shared/rpc/errors.ts';
import type { UsagePurpose } from '#shared/rpc/methods/usage.ts';
import type { Compaction } from '#shared/rpc/records.ts';
import type { Hub } from '../hub.ts';
import type { LogWriter } from '../log/log.ts';
import type { CompactionTrigger } from '../memory/compaction/compaction-trigger.ts';
import { StructuredSummary } from '../memory/compaction/structured-summary.ts';
import { type Asking, factsIn, summarise } from '../memory/summary/summarise.ts';
import type { Asker, Chosen } from '../runs/deps.ts';
import type { Settings } from '../settings.ts';
import { tryInOrder } from '../small-work/small-models.ts';
import { getMessageSources, mergeSources } from '../trust/sources.ts';
import { countTokens } from '../tokens/count-tokens.ts';
import type { MessageRecord, Vault } from '../vault.ts';
import { askedModel, type AskingDeps, modelsForSmallWork } from './asking.ts';
import { type Measured, outcome } from './measure.ts';
import type { Fact } from './remember-facts.ts';
import { shownSummary, type Told } from './since-summary.ts';

/** Share of the context used for a request, because its tokens are an estimate. */
const SURE_SHARE = 0.9;
/** Maximum share of the context for a summary. */
const MOST_SUMMARY = 0.15;
/** Assumed context, in tokens, of a model other than the chat's if it is unknown. */
const UNKNOWN_CONTEXT = 32_000;

export interface SummariserDeps extends AskingDeps {
  vault: Pick<Vault, 'messages' | 'usage'>;
  hub: Hub;
  log: LogWriter;
  settings(): Settings;
  /** Stores facts worth remembering before a conversation is summarised; if undefined, no facts are requested. */
  remember?: ((facts: readonly Fact[], who: Asker, sources: readonly string[]) => Promise<void>) | undefined;
  /** Whether facts of this session may be remembered. */
  mayRemember(who: Asker): boolean;
}

/** A stored summary and its message. */
export interface Compacted {
  messageId: string;
  compaction: Compaction;
}

/** Input of a summary. */
export interface Work {
  who: Asker;
  told: Told;
  sizes: Measured;
  compact: MessageRecord[];
  limit: number;
  trigger: CompactionTrigger;
  /** Context, in tokens, of the conversation's model, if its server reported it. */
  context?: number;
  signal: AbortSignal;
}

/** Asks a model for a summary, and stores it with the last message that it covers. */
export class Summariser {
  readonly #deps: SummariserDeps;

  constructor(deps: SummariserDeps) {
    this.#deps = deps;
  }

  /** Rejects with the reason of a failure; nothing is stored then. Undefined if there is nothing to summarise, or the session is gone. */
  async make({ who, told, sizes, compact, limit, context: known = Infinity, trigger, signal }: Work): Promise<Compacted | undefined> {
    const { vault, clock, hub } = this.#deps;
    const last = compact.at(-1);
    if (!last) return undefined;
    const at = told.messages.findIndex(({ id }) => id === last.id);
    const messages = told.messages.slice(0, at + 1);
    const models = await this.#models(who);
    const outside = mergeSources(told.summary?.outside, ...messages.map(getMessageSources));
    const askedWith = async (chosen: Chosen, purpose: UsagePurpose): Promise<Asking & { answeredBy: () => string }> => {
      const context = await this.#contextOf(chosen, who, limit, known);
      let model = chosen.key;
      // If a small model fails, the chat's own model is used, and then the agent's fallbacks.
      const fallbacks = chosen === models.at(-1) ? who.agent.fallbacks : [];
      return {
        complete: askedModel(this.#deps, { ...who, chosen, purpose, fallbacks }, (key) => (model = key)),
        answeredBy: () => model,
        contextTokens: Math.floor(SURE_SHARE * context),
        // A small context is mostly needed for the conversation.
        maxTokens: Math.min(this.#deps.settings().memory.summary.max_summary_tokens, Math.floor(MOST_SUMMARY * context)),
        count: (text) => countTokens(text, chosen.key, signal),
        signal,
      };
    };
    const onfailure = (error: unknown, { key }: Chosen): void =>
      this.#deps.log.write('warn', 'compaction', `${key} could not do its part of a summary; trying the next model: ${reasonOf(error)}`, {
        session: who.key,
      });
    await this.#remember(who, signal, outside, () =>
      tryInOrder(models, signal, async (chosen) => factsIn(messages, await askedWith(chosen, 'memory')), onfailure),
    );
    const before = told.summary && StructuredSummary.parse(told.summary.summary);
    const { summary, asking } = await tryInOrder(
      models,
      signal,
      async (chosen) => {
        const asking = await askedWith(chosen, 'summary');
        return { asking, summary: (await summarise(messages, asking, before)).toMarkdown() };
      },
      onfailure,
    );
    signal.throwIfAborted();
    const after = await asking.count(shownSummary({ summary }));
    const compaction: Compaction = {
      ...{ summary, trigger, model: asking.answeredBy(), at: clock.now() },
      messages: messages.length + (told.summary?.messages ?? 0),
      ...outcome(sizes, compact, after),
      ...(outside.length > 0 ? { outside } : {}),
    };
    // The session may have been deleted meanwhile.
    if (!(await vault.messages.compact(last.id, compaction))) return undefined;
    const [agentId = '', sessionId = ''] = who.key.split('/');
    const payload = { path: `${who.key}.jsonl`, agentId, sessionId, messageId: last.id, compaction };
    hub.emit({ event: 'sessions.compacted', payload }, who.key);
    return { messageId: last.id, compaction };
  }

  /**
   * Models in the order to try: the one set for summaries or the small one, then the chat's own. Throws `NOT_FOUND` if only the guide is
   * available.
   */
  async #models({ chosen }: Asker): Promise<[Chosen, ...Chosen[]]> {
    const { model } = this.#deps.settings().memory.summary;
    const found =
      model === undefined
        ? await modelsForSmallWork(chosen, this.#deps)
        : [await this.#deps.models.resolve(model), chosen].filter(({ provider }) => provider.id !== 'guide');
    const [first, ...others] = found;
    if (first) return [first, ...others.filter(({ key }) => key !== first.key)];
    const message = 'The built-in guide can’t summarise. Choose a model for this chat first.';
    throw new RpcError('NOT_FOUND', message, { details: { resource: 'model' } });
  }

  /** Tokens of a model's context. `limit` and `known` belong to the chat's own model. */
  async #contextOf({ key }: Chosen, { chosen }: Asker, limit: number, known: number): Promise<number> {
    const listed = await this.#deps.models.contextOf(key);
    return key === chosen.key ? Math.min(known, listed ?? limit) : (listed ?? Math.min(limit, UNKNOWN_CONTEXT));
  }

  /** A failure to store facts does not prevent the summary: all messages are kept anyway. */
  async #remember(who: Asker, signal: AbortSignal, outside: readonly string[], find: () => Promise<Fact[]>): Promise<void> {
    const { remember, mayRemember, log } = this.#deps;
    if (!remember || !mayRemember(who)) return;
    try {
      const facts = await find();
      if (facts.length > 0) await remember(facts, who, outside);
    } catch (error) {
      signal.throwIfAborted();
      log.write('warn', 'compaction', `Could not extract memories from a conversation: ${reasonOf(error)}`, { session: who.key });
    }
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
