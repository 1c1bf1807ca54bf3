import { RpcError } from '#shared/rpc/errors.ts';

/**
 * Whether a person stands behind a principal: the owner, their app, or a device that they paired. API keys (`key:…`), channels (`channel:…`) and whatever
 * else there may be are programs: they never approve (decisions, "Cron, tools, exec, plans").
 */
export const isPerson = (principal: string): boolean => principal === 'owner' || /^(app|device):./.test(principal);

/** Whether somebody on a channel stands behind it, who may be anybody. */
export const isChannel = (principal: string): boolean => principal.startsWith('channel:');

/** Throws `AUTH_REQUIRED` for a caller that is no person. */
export function requirePerson({ principal }: { principal: string }, what: string): void {
  if (!isPerson(principal)) throw new RpcError('AUTH_REQUIRED', `Only a person can ${what}. API keys and channels can’t.`);
}
