import type { Agent } from '../agents.ts';

/** The agent with the collections of a chat besides its own. */
export function withCollections(agent: Agent, collections: readonly string[] = []): Agent {
  const own = agent.config.collections ?? [];
  const added = collections.filter((id) => !own.includes(id));
  return added.length === 0 ? agent : { ...agent, config: { ...agent.config, collections: [...own, ...added] } };
}

export const hasCollections = ({ config }: Pick<Agent, 'config'>): boolean => (config.collections?.length ?? 0) > 0;
