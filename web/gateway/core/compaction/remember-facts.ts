import { isChannel } from '../approvals/person.ts';
import { isChannelSession } from '../channels/channel-session.ts';
import { labelMemory } from '../memory/label-memory.ts';
import type { Memories } from '../memory/later.ts';
import type { MemoryCategory } from '../memory/long-term.ts';
import type { Asker } from '../runs/deps.ts';
import type { ContentLabels } from '../trust/labels.ts';

export interface Fact {
  text: string;
  category: MemoryCategory;
}

/** Stores new facts in the agent's memory, like the tool `memory_add`. `sources`: the outside sources of the conversation. */
export const rememberBy =
  ({ load, longTerm }: Pick<Memories, 'load' | 'longTerm'>, labels: ContentLabels) =>
  async (facts: readonly Fact[], { agent }: Pick<Asker, 'agent'>, sources: readonly string[]): Promise<void> => {
    const memory = await (await load()).of(agent.id);
    for (const { text, category } of facts) {
      await labelMemory({ labels, longTerm }, agent.id, text, sources);
      await memory.addMemory(text, category);
    }
  };

/** False for agents without memory, and on channels, where anybody may be writing. */
export const mayRemember = ({ agent, principal, key }: Pick<Asker, 'agent' | 'principal' | 'key'>): boolean =>
  agent.config.memory !== false && !isChannel(principal) && !isChannelSession(key);
