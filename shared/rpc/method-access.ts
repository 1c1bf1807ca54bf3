import type { MethodPolicy } from './contract.ts';
import { METHOD_SCOPES } from './method-scopes.ts';
import { contracts, type MethodName } from './methods/index.ts';
import type { Scope } from './scopes.ts';

/** Policy of a method, and the scope that it requires. */
export interface MethodAccess extends MethodPolicy {
  area: Scope;
}

const scopes: Partial<Record<string, Scope>> = METHOD_SCOPES;

/** Access to each method, without the schemas. Builds of the gateway contain it as a literal (web/inline-method-access.ts). */
export const METHOD_ACCESS = Object.fromEntries(
  Object.entries(contracts).map(([method, { policy }]) => [method, { ...policy, area: scopes[method] ?? policy.scope }]),
) as Record<MethodName, MethodAccess>;
