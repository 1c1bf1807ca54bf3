import { isChannel, isPerson } from '../../system/person.ts';

/**
 * The grantee of a stored policy: the principal for an API key, a channel or a hook, also for the agent that it runs; else the agent of a run,
 * whether started by a person or a schedule; else `owner`.
 */
export function toGrantee(principal: string, agentId: string | null = null): string {
  if (principal.startsWith('key:') || isChannel(principal) || principal.startsWith('hook:')) return principal;
  if (agentId !== null) return `agent:${agentId}`;
  return isPerson(principal) ? 'owner' : principal;
}
