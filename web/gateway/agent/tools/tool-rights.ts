import { allowsScope, type Area, type Scope } from '#shared/rpc/scopes.ts';
import type { ToolFilter, Tool } from './tool-registry.ts';

interface ToolRightsDeps {
  /** Scopes of a key, empty if it was revoked; undefined for other principals. */
  scopes(principal: string): Promise<readonly Scope[] | undefined>;
  onScopeUsed(principal: string, scope: Scope): void;
}

/**
 * Loads what a principal may use. Keys are limited to the tools of their scopes, regardless of agent and route, and so are connections with
 * limited scopes; for other principals, the agent, the channel and the policies decide.
 */
export const createToolRights =
  ({ scopes, onScopeUsed }: ToolRightsDeps): ((principal: string, connection?: readonly Scope[]) => Promise<ToolFilter>) =>
  async (principal, connection) => {
    const keyScopes = await scopes(principal);
    return (tool, args) => {
      if (!keyScopes && !connection) return true;
      const needed = getCallScope(tool, args);
      if (needed === null) return true;
      const isAllowed = [keyScopes, connection].every((limits) => !limits || allowsScope(limits, needed ?? 'write'));
      if (isAllowed && keyScopes && args && needed) onScopeUsed(principal, needed);
      return isAllowed;
    };
  };

const getCallScope = ({ scope, scopeFor }: Tool, args?: Record<string, unknown>): Area | null | undefined =>
  args && scopeFor ? scopeFor(args) : scope;
