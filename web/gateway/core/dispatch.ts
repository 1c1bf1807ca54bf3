import { cutShort, placeOf } from '#shared/cut-short.ts';
import { type Contract, type ParsedOf, type Policy, findRefusal, type ResultOf, type Scope } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { METHOD_SCOPES } from '#shared/rpc/method-scopes.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import { POLICIES } from '#shared/rpc/tables.ts';
import type { z } from '#shared/rpc/zod.ts';
import { notLoaded } from './lazy.ts';

/** Who is calling, as far as a handler may care. */
export interface Caller {
  connId: string;
  principal: string;
  scopes: readonly Scope[];
  /** The caller wants the events of this session, or of this drawing, from now on. */
  follow(sessionKey: string): void;
  unfollow(sessionKey: string): void;
  /** Sends an event to the caller's connection alone. */
  tell(event: AnyEvent): void;
  /** Resolves when the caller's connection is ready for more events; undefined if it is now. */
  ready?(): Promise<void> | undefined;
  /** Aborts when the connection is gone. What must outlive it (runs) does not listen. */
  signal: AbortSignal;
}

export type Handler<C extends Contract> = (params: ParsedOf<C>, caller: Caller) => Promise<ResultOf<C>> | ResultOf<C>;
/** A handler for each contract; `connect` is the connection's own. */
export type Handlers<C extends Record<string, Contract>> = { [M in keyof C as Exclude<M, 'connect'>]: Handler<C[M]> };

/** Methods that are there to be called. */
export interface Methods {
  contracts: Record<string, Contract>;
  handlers: Record<string, Handler<never>>;
}

/** Registered, and answered with `NOT_IMPLEMENTED` (interface document 1, section 4.1). */
const RESERVED = new Set(['wizard.start', 'wizard.step', 'push.send', 'voicewake.status']);

/** No prototype: `constructor` and `__proto__` are no methods. */
const policies: Record<string, Policy> = Object.assign(Object.create(null), POLICIES);
// The connection's own.
delete policies['connect'];

/** One method, ready to be called with what came off the wire. */
interface Entry {
  contract: Contract;
  run(params: unknown, caller: Caller): Promise<unknown> | unknown;
}

export interface Dispatcher {
  policyOf(method: string): Policy | undefined;
  /** Validates and runs. Throws `RpcError`; anything else that is thrown is a fault of ours. */
  call(method: string, params: Record<string, unknown>, caller: Caller): Promise<unknown>;
}

export interface DispatcherOptions {
  first: Methods;
  /** The methods that `first` has not. Where it rejects, it is tried again at the next call. */
  later(): Promise<Methods>;
  /** Rejects where a principal has used up a limit, or has any and its work would not be counted; undefined for who has none. */
  meter?(principal: string, unattended: boolean): Promise<void> | undefined;
  /** Notes that a principal has used a scope. */
  used?(principal: string, scope: Scope): void;
}

export function createDispatcher({ first, later, meter = () => undefined, used = () => {} }: DispatcherOptions): Dispatcher {
  const table: Record<string, Entry> = Object.create(null);
  const add = ({ contracts, handlers }: Methods): void => {
    for (const [method, contract] of Object.entries(contracts)) table[method] = { contract, run: handlers[method] as Entry['run'] };
  };
  add(first);
  let loading: Promise<void> | undefined;
  let failure: unknown;
  const load = async (): Promise<void> => {
    try {
      add(await later());
    } catch (error) {
      failure = error;
    } finally {
      loading = undefined;
    }
  };
  return {
    policyOf: (method) => policies[method],
    async call(method, params, caller) {
      const policy = policies[method];
      if (!policy && RESERVED.has(method)) throw new RpcError('NOT_IMPLEMENTED', `${method} is not implemented.`);
      if (!policy) throw new RpcError('METHOD_NOT_FOUND', `Unknown method ${JSON.stringify(cutShort(method))}.`);
      const scope = METHOD_SCOPES[method as keyof typeof METHOD_SCOPES];
      const refusal = findRefusal(caller, policy, scope);
      if (refusal !== undefined) throw new RpcError('AUTH_REQUIRED', `${method} ${refusal}.`);
      used(caller.principal, scope);
      refuseProto(params);
      // Also those behind one that waits for its part: calls begin in the order in which they came.
      if (loading || !table[method]) await (loading ??= load());
      const entry = table[method];
      if (!entry) throw notLoaded(failure);
      const parsed = parseParams(entry.contract.params, params);
      // Who has no limits is not held up by a turn: what is asked next must find this one begun.
      const metering = policy.metered && meter(caller.principal, policy.metered === 'unattended');
      if (metering) await metering;
      return entry.run(parsed, caller);
    },
  };
}

/** Refuses `__proto__` at any depth: Zod would leave it out of a record in silence. No recursion, for what came may be deeper than the stack. */
function refuseProto(params: unknown): void {
  const left = [params];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, '__proto__')) throw new RpcError('INVALID_PARAMS', 'Unknown parameter `__proto__`.');
    for (const child of Object.values(value)) if (typeof child === 'object') left.push(child);
  }
}

/** Of so many faults an error tells. */
const MOST_TOLD = 10;

/** Parses params, or throws `INVALID_PARAMS` with the key and what is wrong with it. */
export function parseParams<T extends z.ZodType>(schema: T, params: unknown): z.output<T> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => {
    const names = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, MOST_TOLD) : [];
    const keys = names.map((name) => placeOf([...issue.path, name]));
    const message = keys.length > 0 ? 'is not a known parameter' : lowerFirst(issue.message);
    return { unknown: keys, key: keys.join(', ') || placeOf(issue.path), message };
  });
  const [first] = issues;
  throw new RpcError('INVALID_PARAMS', first ? toSentence(first) : 'Invalid parameters.', {
    details: { issues: issues.slice(0, MOST_TOLD).map(({ key, message }) => ({ key, message })) },
  });
}

function toSentence({ unknown, key, message }: { unknown: readonly string[]; key: string; message: string }): string {
  if (unknown.length > 0) return `Unknown parameter${unknown.length > 1 ? 's' : ''} ${unknown.map((name) => `\`${name}\``).join(', ')}.`;
  return `${key === '' ? 'Parameters' : `\`${key}\``} ${message}.`;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
