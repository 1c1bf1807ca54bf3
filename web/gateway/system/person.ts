import { RpcError } from '#shared/rpc/rpc-error.ts';

/**
 * Whether a principal is a person: the owner, their app, or a device that they paired. API keys (`key:…`), channels (`channel:…`) and
 * everything else are programs: they never approve.
 */
export const isPerson = (principal: string): boolean => principal === 'owner' || /^(app|device):./.test(principal);

/** Whether a principal is a channel, on which anybody may write. */
export const isChannel = (principal: string): boolean => principal.startsWith('channel:');

/** Throws `AUTH_REQUIRED` for a caller that is not a person. */
export function requirePerson({ principal }: { principal: string }, action: string): void {
  if (!isPerson(principal)) throw new RpcError('AUTH_REQUIRED', `Only a person can ${action}. API keys and channels can’t.`);
}
