import { isChannel } from '../approvals/person.ts';
import { isChannelSession } from '../channels/channel-session.ts';
import type { AgentMemories } from '../memory/agent-memories.ts';
import type { MemoryCategory } from '../memory/long-term.ts';
import type { Asker } from '../runs/deps.ts';

export interface Fact {
  text: string;
  category: MemoryCategory;
}

/** Remembers for the agent what is not remembered yet, as the tool `memory_add` does. */
export const rememberBy =
  (memories: { load(): Promise<Pick<AgentMemories, 'of'>> }) =>
  async (facts: readonly Fact[], { agent }: Pick<Asker, 'agent'>): Promise<void> => {
    const memory = await (await memories.load()).of(agent.id);
    for (const { text, category } of facts) await memory.addMemory(text, category);
  };

/** Nothing for agents without memory, and nothing of what may be anybody's on a channel. */
export const mayRemember = ({ agent, principal, key }: Pick<Asker, 'agent' | 'principal' | 'key'>): boolean =>
  agent.config.memory !== false && !isChannel(principal) && !isChannelSession(key);
