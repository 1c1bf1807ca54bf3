import { type Agents, workspaceOf } from '../agents.ts';
import type { Settings } from '../settings.ts';

/** Which sessions count for a workspace: those of its agents, but for those that channels have begun, whose writers may be anybody. */
export function countedSessions(workspace: string, agents: Pick<Agents, 'list'>, { channels }: Settings): (sessionKey: string) => boolean {
  const own = new Set(
    agents.list().flatMap((agent) => (workspaceOf(agent) === workspace && agent.config.memory !== false ? agent.id : [])),
  );
  // A channel that was removed leaves its sessions.
  const prefixes = [...new Set([...Object.keys(channels), 'x', 'telegram'])].map((id) => `${id}-`);
  return (sessionKey) => {
    const [agentId = '', sessionId = ''] = sessionKey.split('/', 2);
    return own.has(agentId) && !prefixes.some((prefix) => sessionId.startsWith(prefix));
  };
}
