import { selectOrigins } from '../knowledge/provenance/find-origins.ts';
import { isChannel } from '../../system/person.ts';
import { isChannelSession } from '../../system/channel-session.ts';
import { listForgottenMessages } from '../forgetting/forgotten-messages.ts';
import { labelMemory } from '../knowledge/memory/label-memory.ts';
import type { AgentMemories } from '../knowledge/memory/agent-memories.ts';
import type { LongTermMemories } from '../knowledge/memory/long-term-memories.ts';
import type { Provenance } from '../knowledge/provenance/provenance.ts';
import type { MemoryCategory } from '../../knowledge/memory/long-term.ts';
import type { ModelCaller } from '../runs/run-types.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { findProject, getMemoryWorkspace } from '../projects/chat-workspaces.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { Lazy } from '../../system/modules.ts';

export interface Fact {
  text: string;
  category: MemoryCategory;
}

/** Stores new facts in the memory of the chat, like the tool `memory_add`. `sources`: the outside sources of the conversation. `messages`: the conversation. */
export const createFactRecorder =
  (deps: {
    vault: Pick<Vault, 'collection' | 'sessions'>;
    memories: Lazy<AgentMemories>;
    longTermMemories: Lazy<LongTermMemories>;
    labels: ContentLabels;
    provenance: Lazy<Provenance>;
  }) =>
  async (
    facts: readonly Fact[],
    { agent, key }: Pick<ModelCaller, 'agent' | 'key'>,
    sources: readonly string[],
    messages: readonly MessageRecord[],
  ): Promise<void> => {
    const workspace = getMemoryWorkspace(agent, await findProject(deps.vault, await deps.vault.sessions.get(key)));
    const memory = await (await deps.memories.load()).openWorkspace(workspace);
    const forgotten = await listForgottenMessages(deps.vault);
    for (const { text, category } of facts) {
      const origins = selectOrigins(text, messages);
      // Forgotten messages stay forgotten, although their chat was kept.
      if (origins.some(({ id }) => forgotten.has(id))) continue;
      await labelMemory(deps, workspace, text, sources);
      const { added, ...entry } = await memory.addMemory(text, category);
      if (!added) continue;
      const version = { text: entry.text, by: 'summary', messages: origins, createdAt: entry.createdAt } as const;
      await (await deps.provenance.load()).record({ workspace, kind: 'memory', name: entry.id }, version);
    }
  };

/** False for agents without memory, and on channels, where anybody may be writing. */
export const canRemember = ({ agent, principal, key }: Pick<ModelCaller, 'agent' | 'principal' | 'key'>): boolean =>
  agent.config.memory !== false && !isChannel(principal) && !isChannelSession(key);
