import { getBudgetScopes } from '../budgets/budget-scopes.ts';
import type { UsagePurpose } from '#shared/rpc/methods/usage-contracts.ts';
import type { Agent } from '../agents.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { SummaryModel, Complete } from '../../knowledge/memory/summary/summarise.ts';
import { GUIDE_MODEL } from '../../providers/providers.ts';
import type { ModelCaller, SelectedModel, Models } from '../runs/run-types.ts';
import { generate, type ModelUsage } from '../runs/generate.ts';
import type { FindSmallModel } from '../small-work/small-models.ts';
import type { Vault } from '../../storage/vault-interface.ts';

export interface CompletionDeps {
  vault: Pick<Vault, 'usage'>;
  clock: Clock;
  models: Models;
  findSmallModel: FindSmallModel;
  /** Time-out for a silent provider, in milliseconds. */
  silenceMs?: () => number;
}

/** Models for small tasks of a chat, in the order to try: the small one, then the chat's own. Excludes the guide. */
export async function getSmallTaskModels(
  chat: SelectedModel,
  { findSmallModel }: Pick<CompletionDeps, 'findSmallModel'>,
): Promise<SelectedModel[]> {
  const small = await findSmallModel(chat);
  return (small ? [small, chat] : [chat]).filter(({ provider }) => provider.id !== 'guide');
}

/** A request to complete a text. `key`: the session's key, or null. */
interface CompletionRequest extends Omit<ModelCaller, 'key'> {
  key: string | null;
  purpose: UsagePurpose;
  /** Fallback models; default: those of the agent. */
  fallbacks?: readonly string[];
}

/** A model for summaries: the chosen one, or a fallback. Its usage is recorded. `onmodel` receives the key of the model that answered. */
export function createModelCompletion(
  { vault, clock, models, silenceMs }: Omit<CompletionDeps, 'findSmallModel'>,
  { key: sessionKey, agent, chosen, principal, purpose, fallbacks = agent.fallbacks }: CompletionRequest,
  onmodel: (key: string) => void,
): Complete {
  return async (prompt, { maxTokens, signal }) => {
    const shares: ModelUsage[] = [];
    let text = '';
    try {
      const events = generate({
        chosen,
        // The guide would not answer with a summary.
        fallbacks: fallbacks.filter((model) => model !== GUIDE_MODEL),
        models,
        messages: [{ role: 'user', content: prompt }],
        tools: [],
        wishes: { maxTokens },
        signal,
        clock,
        shares,
        budgets: getBudgetScopes({ principal, sessionKey, agentId: agent.id }),
        ...(silenceMs ? { silenceMs: silenceMs() } : {}),
        runTool: () => Promise.reject(new Error('Tools are not available here.')),
      });
      for await (const event of events) if (event.type === 'text') text += event.text;
      onmodel(shares.at(-1)?.key ?? chosen.key);
      return text;
    } finally {
      for (const { key: model, usage } of shares) {
        const [provider = ''] = model.split('/', 1);
        vault.usage.add({
          id: crypto.randomUUID(),
          at: clock.now(),
          provider,
          model,
          sessionKey,
          principal,
          usage,
          purpose,
          agentId: agent.id,
        });
      }
    }
  };
}

/**
 * An agent's own models for a purpose, in the order to try; empty if only the guide is available. `principal`: caller in the usage records.
 */
export async function getAgentModels(
  agent: Agent,
  principal: string,
  purpose: UsagePurpose,
  deps: CompletionDeps,
): Promise<SummaryModel[]> {
  const own = await deps.models.resolve(agent.model);
  // Dreams are written by the agent's own model.
  const chosen = purpose === 'dreaming' ? [own].filter(({ provider }) => provider.id !== 'guide') : await getSmallTaskModels(own, deps);
  return Promise.all(
    chosen.map(async (model, index) => ({
      complete: createModelCompletion(
        deps,
        { key: null, agent, chosen: model, principal, purpose, ...(index < chosen.length - 1 ? { fallbacks: [] } : {}) },
        () => {},
      ),
      contextTokens: await deps.models.getContextTokens(model.key),
    })),
  );
}
