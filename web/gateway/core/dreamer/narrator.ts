import type { Agent } from '../agents.ts';
import { agentModels, type AskingDeps } from '../compaction/asking.ts';
import type { Narrate } from '../dreaming/rem-phase.ts';

/** Whose calls they are in the usage. */
export const DREAMING = 'dreaming';
/** Tokens of a narrative. */
const LONGEST = 4000;

/** Has an agent's own model, or those that stand in for it, put a dream into words; what it used is booked. Undefined where only the guide would answer, which is no model. */
export async function narratorOf(agent: Agent, deps: AskingDeps): Promise<Narrate | undefined> {
  const [model] = await agentModels(agent, DREAMING, 'dreaming', deps);
  return model && ((prompt, signal) => model.complete(prompt, { maxTokens: LONGEST, signal }));
}
