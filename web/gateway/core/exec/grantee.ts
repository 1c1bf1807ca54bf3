import { isChannel, isPerson } from '../approvals/person.ts';

/**
 * To whom a stored policy is given: an API key or a channel as its principal, also for the agent that it runs; else the agent of a run, be it by a person's
 * message or by the clock; else the person as `owner`.
 */
export function toGrantee(principal: string, agentId: string | null = null): string {
  if (principal.startsWith('key:') || isChannel(principal)) return principal;
  if (agentId !== null) return `agent:${agentId}`;
  return isPerson(principal) ? 'owner' : principal;
}
