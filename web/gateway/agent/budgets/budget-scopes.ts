import type { UsageRecord } from '../../storage/vault-interface.ts';

/** Scope of the whole vault. */
export const VAULT_SCOPE = 'vault';

/** A call to a model, as budgets see it. */
type BudgetedCall = Pick<UsageRecord, 'principal' | 'agentId' | 'jobId'> & { sessionKey: string | null };

/** Scopes of the budgets that apply to a call, the narrowest first. */
export function getBudgetScopes({ principal, sessionKey, agentId = sessionKey?.split('/', 1)[0], jobId }: BudgetedCall): string[] {
  return [
    ...(sessionKey === null ? [] : [`chat:${sessionKey}`]),
    ...(jobId === undefined ? [] : [`job:${jobId}`]),
    // Principals of keys and channels have the form of their scopes.
    ...(/^(key|channel):/.test(principal) ? [principal] : []),
    ...(agentId === undefined ? [] : [`agent:${agentId}`]),
    VAULT_SCOPE,
  ];
}

/** Scopes that a stored call counts for; none for the built-in guide, which is no model. */
export const getUsageScopes = (record: UsageRecord): string[] =>
  record.provider === 'guide' ? [] : [...new Set([...getBudgetScopes(record), ...(record.parentScopes ?? [])])];
