import { type Agents, getWorkspaceName } from '../../agents.ts';
import { isSubAgentSession } from '../../../storage/session-views.ts';
import type { Settings } from '../../../config/settings-schema.ts';

/** Selects the sessions that count for a workspace: those of its agents, except for channels, where anyone may write, and sub-agents. */
export function createSessionFilter(
  workspace: string,
  agents: Pick<Agents, 'list'>,
  { channels }: Settings,
  /** Sessions whose memory is elsewhere, by key. */
  others: { has(sessionKey: string): boolean } = new Set(),
): (sessionKey: string) => boolean {
  const own = new Set(
    agents.list().flatMap((agent) => (getWorkspaceName(agent) === workspace && agent.config.memory !== false ? agent.id : [])),
  );
  // A removed channel leaves its sessions behind.
  const prefixes = [...new Set([...Object.keys(channels), 'x', 'telegram'])].map((id) => `${id}-`);
  return (sessionKey) => {
    const [agentId = '', sessionId = ''] = sessionKey.split('/', 2);
    return (
      own.has(agentId) &&
      !others.has(sessionKey) &&
      !isSubAgentSession(sessionKey) &&
      !prefixes.some((prefix) => sessionId.startsWith(prefix))
    );
  };
}
