import type { Agent } from '../agents.ts';
import { agentModels, type AskingDeps } from '../compaction/asking.ts';
import type { Narrate } from '../dreaming/rem-phase.ts';

/** Name under which these calls appear in the usage. */
export const DREAMING = 'dreaming';
/** Maximum number of tokens of a narrative. */
const LONGEST = 4000;

/**
 * Creates a function that has an agent's model, or its fallbacks, write a narrative and records the usage. Undefined if only the guide
 * would answer, which is not a model.
 */
export async function narratorOf(agent: Agent, deps: AskingDeps): Promise<Narrate | undefined> {
  const [model] = await agentModels(agent, DREAMING, 'dreaming', deps);
  return model && ((prompt, signal) => model.complete(prompt, { maxTokens: LONGEST, signal }));
}
