import { allows, type Area, type Scope } from '#shared/rpc/scopes.ts';
import type { MayUse, Tool } from './registry.ts';

export interface RightsDeps {
  /** Scopes of a key, empty if it was revoked; undefined for other principals. */
  scopes(principal: string): Promise<readonly Scope[] | undefined>;
  used(principal: string, scope: Scope): void;
}

/**
 * Loads what a principal may use. Keys are limited to the tools of their scopes, regardless of agent and route, and so are connections with
 * limited scopes; for other principals, the agent, the channel and the policies decide.
 */
export const toolRights =
  ({ scopes, used }: RightsDeps): ((principal: string, connection?: readonly Scope[]) => Promise<MayUse>) =>
  async (principal, connection) => {
    const given = await scopes(principal);
    return (tool, args) => {
      if (!given && !connection) return true;
      const needed = scopeOfCall(tool, args);
      if (needed === null) return true;
      const may = [given, connection].every((limits) => !limits || allows(limits, needed ?? 'write'));
      if (may && given && args && needed) used(principal, needed);
      return may;
    };
  };

const scopeOfCall = ({ scope, scopeFor }: Tool, args?: Record<string, unknown>): Area | null | undefined =>
  args && scopeFor ? scopeFor(args) : scope;
