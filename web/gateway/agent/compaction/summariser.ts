import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { UsagePurpose } from '#shared/rpc/methods/usage-contracts.ts';
import type { Compaction } from '#shared/rpc/record-schemas.ts';
import type { EventBus } from '../../system/event-bus.ts';
import type { LogWriter } from '../../system/log/log.ts';
import type { CompactionTrigger } from '../../knowledge/memory/compaction/compaction-trigger.ts';
import { StructuredSummary } from '../../knowledge/memory/compaction/structured-summary.ts';
import { type SummaryContext, extractFacts, summarise } from '../../knowledge/memory/summary/summarise.ts';
import type { ModelCaller, SelectedModel } from '../runs/run-types.ts';
import type { Settings } from '../../config/settings-schema.ts';
import { tryInOrder } from '../small-work/small-models.ts';
import { getMessageSources, mergeSources } from '../trust/content-sources.ts';
import { countTokens } from '../../providers/tokens/count-tokens.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';
import { createModelCompletion, type CompletionDeps, getSmallTaskModels } from './model-completion.ts';
import { type TokenCounts, computeTokenChange } from './measure-conversation.ts';
import type { Fact } from './remember-facts.ts';
import { toSummaryText, type PromptHistory } from './prompt-history.ts';

/** Share of the context used for a request, because its tokens are an estimate. */
const SAFE_SHARE = 0.9;
/** Maximum share of the context for a summary. */
const MAX_SUMMARY_SHARE = 0.15;
/** Assumed context, in tokens, of a model other than the chat's if it is unknown. */
const DEFAULT_CONTEXT_TOKENS = 32_000;

export interface SummariserDeps extends CompletionDeps {
  vault: Pick<Vault, 'messages' | 'usage'>;
  hub: EventBus;
  log: LogWriter;
  settings(): Settings;
  /** Stores facts worth remembering before a conversation is summarised; if undefined, no facts are requested. */
  remember?:
    | ((facts: readonly Fact[], caller: ModelCaller, sources: readonly string[], messages: readonly MessageRecord[]) => Promise<void>)
    | undefined;
  /** Whether facts of this session may be remembered. */
  canRemember(caller: ModelCaller): boolean;
}

/** A stored summary and its message. */
export interface StoredSummary {
  messageId: string;
  compaction: Compaction;
}

/** Input of a summary. */
export interface SummaryTask {
  caller: ModelCaller;
  history: PromptHistory;
  counts: TokenCounts;
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
  async summarise({
    caller,
    history,
    counts,
    compact,
    limit,
    context: known = Infinity,
    trigger,
    signal,
  }: SummaryTask): Promise<StoredSummary | undefined> {
    const { vault, clock, hub } = this.#deps;
    const last = compact.at(-1);
    if (!last) return undefined;
    const index = history.messages.findIndex(({ id }) => id === last.id);
    const messages = history.messages.slice(0, index + 1);
    const models = await this.#listModels(caller);
    const outside = mergeSources(history.summary?.outside, ...messages.map(getMessageSources));
    const createRequest = async (chosen: SelectedModel, purpose: UsagePurpose): Promise<SummaryContext & { answeredBy: () => string }> => {
      const context = await this.#getContextTokens(chosen, caller, limit, known);
      let model = chosen.key;
      // If a small model fails, the chat's own model is used, and then the agent's fallbacks.
      const fallbacks = chosen === models.at(-1) ? caller.agent.fallbacks : [];
      return {
        complete: createModelCompletion(this.#deps, { ...caller, chosen, purpose, fallbacks }, (key) => (model = key)),
        answeredBy: () => model,
        contextTokens: Math.floor(SAFE_SHARE * context),
        // A small context is mostly needed for the conversation.
        maxTokens: Math.min(this.#deps.settings().memory.summary.max_summary_tokens, Math.floor(MAX_SUMMARY_SHARE * context)),
        count: (text) => countTokens(text, chosen.key, signal),
        signal,
      };
    };
    const onfailure = (error: unknown, { key }: SelectedModel): void =>
      this.#deps.log.write('warn', 'compaction', `${key} could not do its part of a summary; trying the next model: ${toReason(error)}`, {
        session: caller.key,
      });
    await this.#storeFacts(caller, signal, { outside, messages }, () =>
      tryInOrder(models, signal, async (chosen) => extractFacts(messages, await createRequest(chosen, 'memory')), onfailure),
    );
    const before = history.summary && StructuredSummary.parse(history.summary.summary);
    const { summary, asking: summaryContext } = await tryInOrder(
      models,
      signal,
      async (chosen) => {
        const context = await createRequest(chosen, 'summary');
        return { asking: context, summary: (await summarise(messages, context, before)).toMarkdown() };
      },
      onfailure,
    );
    signal.throwIfAborted();
    const after = await summaryContext.count(toSummaryText({ summary }));
    const compaction: Compaction = {
      ...{ summary, trigger, model: summaryContext.answeredBy(), at: clock.now() },
      messages: messages.length + (history.summary?.messages ?? 0),
      ...computeTokenChange(counts, compact, after),
      ...(outside.length > 0 ? { outside } : {}),
    };
    // The session may have been deleted meanwhile.
    if (!(await vault.messages.compact(last.id, compaction))) return undefined;
    const [agentId = '', sessionId = ''] = caller.key.split('/');
    const payload = { path: `${caller.key}.jsonl`, agentId, sessionId, messageId: last.id, compaction };
    hub.emit({ event: 'sessions.compacted', payload }, caller.key);
    return { messageId: last.id, compaction };
  }

  /**
   * Models in the order to try: the one set for summaries or the small one, then the chat's own. Throws `NOT_FOUND` if only the guide is
   * available.
   */
  async #listModels({ chosen }: ModelCaller): Promise<[SelectedModel, ...SelectedModel[]]> {
    const { model } = this.#deps.settings().memory.summary;
    const models =
      model === undefined
        ? await getSmallTaskModels(chosen, this.#deps)
        : [await this.#deps.models.resolve(model), chosen].filter(({ provider }) => provider.id !== 'guide');
    const [first, ...others] = models;
    if (first) return [first, ...others.filter(({ key }) => key !== first.key)];
    const message = 'The built-in guide can’t summarise. Choose a model for this chat first.';
    throw new RpcError('NOT_FOUND', message, { details: { resource: 'model' } });
  }

  /** Tokens of a model's context. `limit` and `known` belong to the chat's own model. */
  async #getContextTokens({ key }: SelectedModel, { chosen }: ModelCaller, limit: number, known: number): Promise<number> {
    const listed = await this.#deps.models.getContextTokens(key);
    return key === chosen.key ? Math.min(known, listed ?? limit) : (listed ?? Math.min(limit, DEFAULT_CONTEXT_TOKENS));
  }

  /** A failure to store facts does not prevent the summary: all messages are kept anyway. */
  async #storeFacts(
    caller: ModelCaller,
    signal: AbortSignal,
    { outside, messages }: { outside: readonly string[]; messages: readonly MessageRecord[] },
    find: () => Promise<Fact[]>,
  ): Promise<void> {
    const { remember, canRemember, log } = this.#deps;
    if (!remember || !canRemember(caller)) return;
    try {
      const facts = await find();
      if (facts.length > 0) await remember(facts, caller, outside, messages);
    } catch (error) {
      signal.throwIfAborted();
      log.write('warn', 'compaction', `Could not extract memories from a conversation: ${toReason(error)}`, { session: caller.key });
    }
  }
}

const toReason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
