import { RpcError } from '#shared/rpc/errors.ts';
import type { Compaction } from '#shared/rpc/records.ts';
import type { Hub } from '../hub.ts';
import type { LogWriter } from '../log/log.ts';
import type { CompactionTrigger } from '../memory/compaction/compaction-trigger.ts';
import { StructuredSummary } from '../memory/compaction/structured-summary.ts';
import { type Asking, factsIn, summarise } from '../memory/summary/summarise.ts';
import type { Asker } from '../runs/deps.ts';
import type { Settings } from '../settings.ts';
import { getMessageSources, mergeSources } from '../trust/sources.ts';
import { countTokens } from '../tokens/count-tokens.ts';
import type { MessageRecord, Vault } from '../vault.ts';
import { askedModel, type AskingDeps } from './asking.ts';
import { type Measured, outcome } from './measure.ts';
import type { Fact } from './remember-facts.ts';
import { shownSummary, type Told } from './since-summary.ts';

/** A model is asked with less than its whole context: its tokens are an estimate. */
const SURE_SHARE = 0.9;
/** A summary has this share of the context at the most. */
const MOST_SUMMARY = 0.15;

export interface SummariserDeps extends AskingDeps {
  vault: Pick<Vault, 'messages' | 'usage'>;
  hub: Hub;
  log: LogWriter;
  settings(): Settings;
  /** Is told what a conversation has that is worth remembering, before it is summarised; without it nothing is asked for. */
  remember?: ((facts: readonly Fact[], who: Asker, sources: readonly string[]) => Promise<void>) | undefined;
  /** Whether facts of that session may be remembered. */
  mayRemember(who: Asker): boolean;
}

/** What has been stored, and at which message. */
export interface Compacted {
  messageId: string;
  compaction: Compaction;
}

/** What is to be summarised. */
export interface Work {
  who: Asker;
  told: Told;
  sizes: Measured;
  compact: MessageRecord[];
  limit: number;
  trigger: CompactionTrigger;
  /** Tokens of the conversation's model, where its server has said so. */
  context?: number;
  signal: AbortSignal;
}

/** Asks a model for a summary, and stores it at the message that it ends with. */
export class Summariser {
  readonly #deps: SummariserDeps;

  constructor(deps: SummariserDeps) {
    this.#deps = deps;
  }

  /** Rejects with what hinders it; nothing is stored then. Undefined: there is nothing to summarise, or the session is gone. */
  async make({ who, told, sizes, compact, limit, context: known = Infinity, trigger, signal }: Work): Promise<Compacted | undefined> {
    const { vault, clock, hub } = this.#deps;
    const last = compact.at(-1);
    if (!last) return undefined;
    const at = told.messages.findIndex(({ id }) => id === last.id);
    const messages = told.messages.slice(0, at + 1);
    const chosen = await this.#summaryModel(who);
    const listed = (await this.#deps.models.contextOf(chosen.key)) ?? limit;
    const context = chosen.key === who.chosen.key ? Math.min(known, listed) : listed;
    let model = chosen.key;
    const asking: Asking = {
      complete: askedModel(this.#deps, { ...who, chosen }, (key) => (model = key)),
      contextTokens: Math.floor(SURE_SHARE * context),
      // The room of a small context is for what is summarised.
      maxTokens: Math.min(this.#deps.settings().memory.summary.max_summary_tokens, Math.floor(MOST_SUMMARY * context)),
      count: (text) => countTokens(text, chosen.key, signal),
      signal,
    };
    const outside = mergeSources(told.summary?.outside, ...messages.map(getMessageSources));
    await this.#remember(messages, who, asking, outside);
    const before = told.summary && StructuredSummary.parse(told.summary.summary);
    const summary = (await summarise(messages, asking, before)).toMarkdown();
    signal.throwIfAborted();
    const after = await asking.count(shownSummary({ summary }));
    const compaction: Compaction = {
      ...{ summary, trigger, model, at: clock.now() },
      messages: messages.length + (told.summary?.messages ?? 0),
      ...outcome(sizes, compact, after),
      ...(outside.length > 0 ? { outside } : {}),
    };
    // The session may be gone by now.
    if (!(await vault.messages.compact(last.id, compaction))) return undefined;
    const [agentId = '', sessionId = ''] = who.key.split('/');
    const payload = { path: `${who.key}.jsonl`, agentId, sessionId, messageId: last.id, compaction };
    hub.emit({ event: 'sessions.compacted', payload }, who.key);
    return { messageId: last.id, compaction };
  }

  async #summaryModel({ chosen }: Asker): Promise<Asker['chosen']> {
    const { model } = this.#deps.settings().memory.summary;
    const found = model === undefined ? chosen : await this.#deps.models.resolve(model);
    if (found.provider.id !== 'guide') return found;
    const message = 'The built-in guide can’t summarise. Choose a model for this chat first.';
    throw new RpcError('NOT_FOUND', message, { details: { resource: 'model' } });
  }

  /** What is not remembered is no reason to go without a summary: the whole dialog is kept. */
  async #remember(messages: readonly MessageRecord[], who: Asker, asking: Asking, outside: readonly string[]): Promise<void> {
    const { remember, mayRemember, log } = this.#deps;
    if (!remember || !mayRemember(who)) return;
    try {
      const facts = await factsIn(messages, asking);
      if (facts.length > 0) await remember(facts, who, outside);
    } catch (error) {
      asking.signal.throwIfAborted();
      log.write('warn', 'compaction', `Could not extract memories from a conversation: ${reasonOf(error)}`, { session: who.key });
    }
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
