import type { Agent } from '../../agents.ts';
import { getAgentModels, type CompletionDeps } from '../../compaction/model-completion.ts';
import type { Narrate } from '../../../knowledge/dreaming/rem-phase.ts';

/** Name under which these calls appear in the usage. */
export const DREAMING_PRINCIPAL = 'dreaming';
/** Maximum number of tokens of a narrative. */
const MAX_NARRATIVE_TOKENS = 4000;

/**
 * Creates a function that has an agent's model, or its fallbacks, write a narrative and records the usage. Undefined if only the guide
 * would answer, which is not a model.
 */
export async function createNarrator(agent: Agent, deps: CompletionDeps): Promise<Narrate | undefined> {
  const [model] = await getAgentModels(agent, DREAMING_PRINCIPAL, 'dreaming', deps);
  return model && ((prompt, signal) => model.complete(prompt, { maxTokens: MAX_NARRATIVE_TOKENS, signal }));
}
