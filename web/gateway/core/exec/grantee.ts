import { isPerson } from '../approvals/person.ts';

/** To whom a stored policy is given: the person as `owner`, else the program behind a principal, such as `key:<id>`; in an agent's run of the person, the agent. */
export function toGrantee(principal: string, agentId: string | null = null): string {
  if (!isPerson(principal)) return principal;
  return agentId === null ? 'owner' : `agent:${agentId}`;
}
