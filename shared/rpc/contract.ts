import type { z } from './zod.ts';
import type { ErrorCode } from './rpc-error.ts';
import type { EventName } from './events.ts';
import { allowsScope, type Level, type Scope } from './scopes.ts';

export { allowsScope, LEVELS, SCOPES, type Level, type Scope } from './scopes.ts';

export interface MethodPolicy {
  /** The lowest level of access that may call the method. */
  scope: Level;
  /** The handler receives `idempotencyKey` too, to detect a repeat of a request that another host executed. */
  idempotent?: boolean;
  /** Changes the control plane: limited to 30 calls a minute per method and connection. */
  controlPlane?: boolean;
  /** Calls a model, which counts against the limits of an API key. `unattended`: calls a model later, outside these limits, so keys with limits may not call the method. */
  metered?: true | 'unattended';
  /** May be called by a device that is not paired yet, which may call nothing else. */
  pairing?: boolean;
}

/** Principal of a device that has presented a pairing code but is not paired yet. */
export const PAIRING_PRINCIPAL = 'pairing';

/** Returns why the caller may not call a method, or undefined if it may: by the method's level, or by its scope in `METHOD_SCOPES`. */
export function findRefusal(
  { principal, scopes }: { principal: string; scopes: readonly Scope[] },
  policy: MethodPolicy,
  scope: Scope,
): string | undefined {
  if (principal === PAIRING_PRINCIPAL) return policy.pairing ? undefined : 'can’t be called before the device is paired';
  return allowsScope(scopes, policy.scope) || allowsScope(scopes, scope) ? undefined : `requires the scope "${scope}"`;
}

/**
 * Returns whether the params may contain `idempotencyKey`. Methods with effects return the first response again if a request is repeated within 5 minutes.
 * Unpaired devices share a principal, so one could receive another's response; their methods are excluded.
 */
export const isRepeatable = ({ scope, pairing = false }: MethodPolicy): boolean => scope !== 'read' && !pairing;

/** Error codes that depend on the method. */
export const METHOD_ERROR_CODES = ['NOT_FOUND', 'ALREADY_EXISTS', 'ABORTED'] as const satisfies readonly ErrorCode[];
export type MethodErrorCode = (typeof METHOD_ERROR_CODES)[number];

/** The declaration of one method. Types, validation, client, command line, documentation and mocks are derived from it. */
export interface Contract<P extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  params: P;
  result: R;
  /** Events that a call can cause on the caller's connection. */
  emits: readonly EventName[];
  /** Errors that the method may return, besides those of every method: `AUTH_REQUIRED`, `INVALID_PARAMS`, `RATE_LIMITED` and `INTERNAL_ERROR`. */
  fails: readonly MethodErrorCode[];
  /** One or two sentences for the protocol reference. */
  docs: string;
  policy: MethodPolicy;
}

export function defineMethod<P extends z.ZodType, R extends z.ZodType>(
  contract: Omit<Contract<P, R>, 'emits' | 'fails'> & Partial<Pick<Contract, 'emits' | 'fails'>>,
): Contract<P, R> {
  return { emits: [], fails: [], ...contract };
}

export type Contracts = Record<string, Contract>;
/** Params as a caller passes them: those with defaults are optional. */
export type ContractParams<C extends Contract> = z.input<C['params']>;
/** Params as a handler receives them: parsed, with defaults filled in. */
export type ParsedParams<C extends Contract> = z.output<C['params']>;
export type ContractResult<C extends Contract> = z.output<C['result']>;
