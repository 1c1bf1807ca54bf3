import { truncateText, formatValuePath } from '#shared/truncate-text.ts';
import { type Contract, type ParsedParams, type MethodPolicy, findRefusal, type ContractResult, type Scope } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { METHOD_SCOPES } from '#shared/rpc/method-scopes.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import { POLICIES } from '#shared/rpc/tables.ts';
import type { z } from '#shared/rpc/zod.ts';
import { createNotLoadedError } from '#shared/async/lazy.ts';

/** The caller, as handlers see it. */
export interface Caller {
  connId: string;
  principal: string;
  scopes: readonly Scope[];
  /** Subscribes the caller to the events of this session or drawing. */
  follow(sessionKey: string): void;
  unfollow(sessionKey: string): void;
  /** Sends an event to the caller's connection only. */
  emit(event: AnyEvent): void;
  /** Resolves when the caller's connection is ready for more events; undefined if it is now. */
  ready?(): Promise<void> | undefined;
  /** Aborts when the connection closes. Work that must outlive it (runs) ignores this signal. */
  signal: AbortSignal;
}

export type Handler<C extends Contract> = (params: ParsedParams<C>, caller: Caller) => Promise<ContractResult<C>> | ContractResult<C>;
/** A handler for each contract, except `connect`, which the connection handles. */
export type Handlers<C extends Record<string, Contract>> = { [M in keyof C as Exclude<M, 'connect'>]: Handler<C[M]> };

/** Callable methods: contracts with their handlers. */
export interface Methods {
  contracts: Record<string, Contract>;
  handlers: Record<string, Handler<never>>;
}

/** Method names that are reserved and answered with `NOT_IMPLEMENTED`. */
const RESERVED = new Set(['wizard.start', 'wizard.step', 'push.send', 'voicewake.status']);

/** Without a prototype: `constructor` and `__proto__` are not methods. */
const policies: Record<string, MethodPolicy> = Object.assign(Object.create(null), POLICIES);
// Handled by the connection.
delete policies['connect'];

/** One method, ready to be called with params from the wire. */
interface RegisteredMethod {
  contract: Contract;
  run(params: unknown, caller: Caller): Promise<unknown> | unknown;
}

export interface Dispatcher {
  getPolicy(method: string): MethodPolicy | undefined;
  /** Validates the params and calls the handler. Throws `RpcError`; any other error is a bug. */
  call(method: string, params: Record<string, unknown>, caller: Caller): Promise<unknown>;
}

export interface DispatcherOptions {
  initial: Methods;
  /** Loads the methods that are not in `initial`. If it rejects, the next call tries again. */
  loadRest(): Promise<Methods>;
  /**
   * Rejects if a principal has exhausted a limit, or has a limit and its usage cannot be counted; undefined for a principal without limits.
   */
  meter?(principal: string, unattended: boolean): Promise<void> | undefined;
  /** Records that a principal has used a scope. */
  used?(principal: string, scope: Scope): void;
}

export function createDispatcher({ initial, loadRest, meter = () => undefined, used = () => {} }: DispatcherOptions): Dispatcher {
  const table: Record<string, RegisteredMethod> = Object.create(null);
  const add = ({ contracts, handlers }: Methods): void => {
    for (const [method, contract] of Object.entries(contracts))
      table[method] = { contract, run: handlers[method] as RegisteredMethod['run'] };
  };
  add(initial);
  let loading: Promise<void> | undefined;
  let failure: unknown;
  const load = async (): Promise<void> => {
    try {
      add(await loadRest());
    } catch (error) {
      failure = error;
    } finally {
      loading = undefined;
    }
  };
  return {
    getPolicy: (method) => policies[method],
    async call(method, params, caller) {
      const policy = policies[method];
      if (!policy && RESERVED.has(method)) throw new RpcError('NOT_IMPLEMENTED', `${method} is not implemented.`);
      if (!policy) throw new RpcError('METHOD_NOT_FOUND', `Unknown method ${JSON.stringify(truncateText(method))}.`);
      const scope = METHOD_SCOPES[method as keyof typeof METHOD_SCOPES];
      const refusal = findRefusal(caller, policy, scope);
      if (refusal !== undefined) throw new RpcError('AUTH_REQUIRED', `${method} ${refusal}.`);
      used(caller.principal, scope);
      rejectProto(params);
      // Known methods wait too while others are loading: calls start in the order of arrival.
      if (loading || !table[method]) await (loading ??= load());
      const registered = table[method];
      if (!registered) throw createNotLoadedError(failure);
      const parsed = parseParams(registered.contract.params, params);
      // Without limits, do not yield to the event loop: the next request must find this one started.
      const metering = policy.metered && meter(caller.principal, policy.metered === 'unattended');
      if (metering) await metering;
      return registered.run(parsed, caller);
    },
  };
}

/**
 * Refuses `__proto__` at any depth: Zod would silently drop it from a record. Not recursive, since the input may be deeper than the stack.
 */
function rejectProto(params: unknown): void {
  const pending = [params];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, '__proto__')) throw new RpcError('INVALID_PARAMS', 'Unknown parameter `__proto__`.');
    for (const child of Object.values(value)) if (typeof child === 'object') pending.push(child);
  }
}

/** Maximum number of issues per error. */
const MAX_ISSUES = 10;

/** Parses params, or throws `INVALID_PARAMS` with the keys at fault and their problems. */
export function parseParams<T extends z.ZodType>(schema: T, params: unknown): z.output<T> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => {
    const names = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, MAX_ISSUES) : [];
    const keys = names.map((name) => formatValuePath([...issue.path, name]));
    const message = keys.length > 0 ? 'is not a known parameter' : lowerFirst(issue.message);
    return { unknown: keys, key: keys.join(', ') || formatValuePath(issue.path), message };
  });
  const [first] = issues;
  throw new RpcError('INVALID_PARAMS', first ? toSentence(first) : 'Invalid parameters.', {
    details: { issues: issues.slice(0, MAX_ISSUES).map(({ key, message }) => ({ key, message })) },
  });
}

function toSentence({ unknown, key, message }: { unknown: readonly string[]; key: string; message: string }): string {
  if (unknown.length > 0) return `Unknown parameter${unknown.length > 1 ? 's' : ''} ${unknown.map((name) => `\`${name}\``).join(', ')}.`;
  return `${key === '' ? 'Parameters' : `\`${key}\``} ${message}.`;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
