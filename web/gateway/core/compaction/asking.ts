import type { Agent } from '../agents.ts';
import type { Clock } from '../clock.ts';
import type { AskedModel, Complete } from '../memory/summary/summarise.ts';
import { GUIDE_MODEL } from '../providers/providers.ts';
import type { Asker, Models } from '../runs/deps.ts';
import { generate, type Share } from '../runs/generate.ts';
import type { Vault } from '../vault.ts';

export interface AskingDeps {
  vault: Pick<Vault, 'usage'>;
  clock: Clock;
  models: Models;
  /** Milliseconds after which a silent provider is given up. */
  silenceMs?: () => number;
}

/** A model as those who summarise ask it: the chosen one, or one of the agent's fallbacks. What it uses is booked. `onmodel` hears who has answered. */
export function askedModel(
  { vault, clock, models, silenceMs }: AskingDeps,
  who: Omit<Asker, 'key'> & { key: string | null },
  onmodel: (key: string) => void,
): Complete {
  return async (prompt, { maxTokens, signal }) => {
    const shares: Share[] = [];
    let text = '';
    try {
      const events = generate({
        chosen: who.chosen,
        // The guide would answer, and not with a summary.
        fallbacks: who.agent.fallbacks.filter((each) => each !== GUIDE_MODEL),
        models,
        messages: [{ role: 'user', content: prompt }],
        tools: [],
        wishes: { maxTokens },
        signal,
        clock,
        shares,
        ...(silenceMs ? { silenceMs: silenceMs() } : {}),
        runTool: () => Promise.reject(new Error('Tools are not available here.')),
      });
      for await (const event of events) if (event.type === 'text') text += event.text;
      onmodel(shares.at(-1)?.key ?? who.chosen.key);
      return text;
    } finally {
      for (const { key: model, usage } of shares) {
        const [provider = ''] = model.split('/', 1);
        const { key: sessionKey, principal } = who;
        vault.usage.add({ id: crypto.randomUUID(), at: clock.now(), provider, model, sessionKey, principal, usage });
      }
    }
  };
}

/** An agent's own model, as those who summarise ask it; undefined where only the guide would answer, which is no model. `principal`: whose calls they are in the usage. */
export async function agentModel(agent: Agent, principal: string, deps: AskingDeps): Promise<AskedModel | undefined> {
  const chosen = await deps.models.resolve(agent.model);
  if (chosen.provider.id === 'guide') return undefined;
  const complete = askedModel(deps, { key: null, agent, chosen, principal }, () => {});
  return { complete, contextTokens: await deps.models.contextOf(chosen.key) };
}
