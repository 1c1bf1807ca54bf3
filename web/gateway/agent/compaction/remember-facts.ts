import { isChannel } from '../../system/person.ts';
import { isChannelSession } from '../../system/channel-session.ts';
import { labelMemory } from '../knowledge/memory/label-memory.ts';
import type { LazyMemories } from '../knowledge/memory/lazy-memories.ts';
import type { MemoryCategory } from '../../knowledge/memory/long-term.ts';
import type { ModelCaller } from '../runs/run-types.ts';
import type { ContentLabels } from '../trust/content-labels.ts';

export interface Fact {
  text: string;
  category: MemoryCategory;
}

/** Stores new facts in the agent's memory, like the tool `memory_add`. `sources`: the outside sources of the conversation. */
export const createFactRecorder =
  ({ load, longTerm }: Pick<LazyMemories, 'load' | 'longTerm'>, labels: ContentLabels) =>
  async (facts: readonly Fact[], { agent }: Pick<ModelCaller, 'agent'>, sources: readonly string[]): Promise<void> => {
    const memory = await (await load()).getManager(agent.id);
    for (const { text, category } of facts) {
      await labelMemory({ labels, longTerm }, agent.id, text, sources);
      await memory.addMemory(text, category);
    }
  };

/** False for agents without memory, and on channels, where anybody may be writing. */
export const canRemember = ({ agent, principal, key }: Pick<ModelCaller, 'agent' | 'principal' | 'key'>): boolean =>
  agent.config.memory !== false && !isChannel(principal) && !isChannelSession(key);
