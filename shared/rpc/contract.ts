import type { z } from './zod.ts';
import type { ErrorCode } from './errors.ts';
import type { EventName } from './events.ts';

/** What a caller must be allowed to do. `admin` includes `write`, which includes `read`. */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Whether a principal with these scopes may do what needs `needed`. */
export function allows(scopes: readonly Scope[], needed: Scope): boolean {
  const rank = Math.max(-1, ...scopes.map((scope) => SCOPES.indexOf(scope)));
  return rank >= SCOPES.indexOf(needed);
}

export interface Policy {
  /** The least scope that may call it. */
  scope: Scope;
  /** Its handler takes `idempotencyKey` too, to know a repeat whose first try another host had. */
  idempotent?: boolean;
  /** A write to the control plane: 30 calls a minute per method and connection. */
  controlPlane?: boolean;
  /** It asks a model, for which a key's limits count. `unattended`: it has a model asked later, outside of those limits, so that a key with limits may not call it. */
  metered?: true | 'unattended';
  /** A device that is not paired yet may call it, and nothing else. */
  pairing?: boolean;
}

/** What a device that is not paired yet is called: it has shown a pairing code and no more (decisions, "Devices, logs …"). */
export const PAIRING = 'pairing';

/** Why the caller may not call a method of this policy; undefined where it may. */
export function refusalOf({ principal, scopes }: { principal: string; scopes: readonly Scope[] }, policy: Policy): string | undefined {
  if (principal === PAIRING) return policy.pairing ? undefined : 'may not be called before the device is paired';
  return allows(scopes, policy.scope) ? undefined : `needs the scope ${policy.scope}`;
}

/**
 * Whether `idempotencyKey` may stand among the params: of methods with effects, repeats within 5 minutes get the first answer (decisions, "Frames and connection"). Those
 * that are not paired yet share a principal, so one of them could be given another's answer.
 */
export const isRepeatable = ({ scope, pairing = false }: Policy): boolean => scope !== 'read' && !pairing;

/** Codes that say something of the method's own matter. */
export const OWN_CODES = ['NOT_FOUND', 'ALREADY_EXISTS', 'ABORTED'] as const satisfies readonly ErrorCode[];
export type OwnCode = (typeof OWN_CODES)[number];

/** One method, declared once: types, validation, client, command line, documents and mocks are derived from it. */
export interface Contract<P extends z.ZodType = z.ZodType, R extends z.ZodType = z.ZodType> {
  params: P;
  result: R;
  /** Events that a call can cause on the caller's connection. */
  emits: readonly EventName[];
  /** Codes that it may fail with, beside those that any method may: `AUTH_REQUIRED`, `INVALID_PARAMS`, `RATE_LIMITED`, `INTERNAL_ERROR`. */
  fails: readonly OwnCode[];
  /** One or two sentences for the protocol page. */
  docs: string;
  policy: Policy;
}

export function call<P extends z.ZodType, R extends z.ZodType>(
  contract: Omit<Contract<P, R>, 'emits' | 'fails'> & Partial<Pick<Contract, 'emits' | 'fails'>>,
): Contract<P, R> {
  return { emits: [], fails: [], ...contract };
}

export type Contracts = Record<string, Contract>;
/** What a caller passes: defaults may be left out. */
export type ParamsOf<C extends Contract> = z.input<C['params']>;
/** What a handler receives: parsed, defaults filled in. */
export type ParsedOf<C extends Contract> = z.output<C['params']>;
export type ResultOf<C extends Contract> = z.output<C['result']>;
