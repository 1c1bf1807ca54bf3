import { MAIN_AGENT_ID } from '../config/main-agent.ts';
import type { EventBus } from '../system/event-bus.ts';
import { createSessionChangedEvent } from '../storage/session-views.ts';
import type { Settings } from '../config/settings-schema.ts';
import type { Vault } from '../storage/vault-interface.ts';

interface RemovedAgentsDeps {
  vault: Pick<Vault, 'sessions'>;
  hub: Pick<EventBus, 'emit'>;
}

/** After a change of the configuration: stores the names of removed agents with their sessions, and clears those of agents that exist again. */
export async function markRemovedAgents(before: Settings, after: Settings, { vault, hub }: RemovedAgentsDeps): Promise<void> {
  const marks = new Map<string, string | null>();
  for (const [id, { name }] of Object.entries(before.agents)) if (!Object.hasOwn(after.agents, id)) marks.set(id, name ?? id);
  for (const id of Object.keys(after.agents)) if (!Object.hasOwn(before.agents, id)) marks.set(id, null);
  marks.delete(MAIN_AGENT_ID);
  if (marks.size === 0) return;
  for (const { key, agentId, removedAgent = null } of await vault.sessions.list()) {
    const name = marks.get(agentId);
    if (name === undefined || name === removedAgent) continue;
    await vault.sessions.update(key, { removedAgent: name });
    hub.emit(createSessionChangedEvent(key), key);
  }
}
