import { truncateText } from '#shared/truncate-text.ts';
import { type Contract, type MethodPolicy, findRefusal, type Scope } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { parseParams } from '#shared/rpc/parse-params.ts';
import { type MethodAccess, METHOD_ACCESS } from '#shared/rpc/method-access.ts';
import { createNotLoadedError } from '#shared/async/lazy.ts';
import type { Caller } from '../system/caller.ts';
import type { Methods } from '../system/methods.ts';

/** Method names that are reserved and answered with `NOT_IMPLEMENTED`. */
const RESERVED = new Set(['wizard.start', 'wizard.step', 'push.send', 'voicewake.status']);

/** Without a prototype: `constructor` and `__proto__` are not methods. */
const policies: Record<string, MethodAccess> = Object.assign(Object.create(null), METHOD_ACCESS);
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

/** Methods that are loaded when one of them is first called. */
export interface LazyMethods {
  /** First words of their names. Other groups may have methods of the same namespace. */
  namespaces: readonly string[];
  load(): Promise<Methods>;
}

interface DispatcherOptions {
  /** Methods that exist from the start. */
  loaded: readonly Methods[];
  lazy: readonly LazyMethods[];
  /**
   * Rejects if a principal has exhausted a limit, or has a limit and its usage cannot be counted; undefined for a principal without limits.
   */
  meter?(principal: string, unattended: boolean): Promise<void> | undefined;
  /** Records that a principal has used a scope. */
  used?(principal: string, scope: Scope): void;
}

export function createDispatcher({ loaded, lazy, meter = () => undefined, used = () => {} }: DispatcherOptions): Dispatcher {
  const table: Record<string, RegisteredMethod> = Object.create(null);
  const add = ({ contracts, handlers }: Methods): void => {
    for (const [method, contract] of Object.entries(contracts))
      table[method] = { contract, run: handlers[method] as RegisteredMethod['run'] };
  };
  for (const methods of loaded) add(methods);
  const missing = new Set(lazy);
  let loading: Promise<void> | undefined;
  let failure: unknown;
  const load = async (namespace: string): Promise<void> => {
    const groups = [...missing].filter(({ namespaces }) => namespaces.includes(namespace));
    try {
      for (const methods of await Promise.all(groups.map((group) => group.load()))) add(methods);
      for (const group of groups) missing.delete(group);
    } catch (error) {
      failure = error;
    }
  };
  /** Loads one after another, so that calls start in the order of arrival. */
  const loadAfterOthers = (method: string): Promise<void> => {
    const loadOwn = (): Promise<void> | undefined => (table[method] ? undefined : load(method.split('.', 1)[0] ?? ''));
    const next = loading ? loading.then(loadOwn) : Promise.resolve(loadOwn());
    loading = next;
    void next.then(() => {
      if (loading === next) loading = undefined;
    });
    return next;
  };
  return {
    getPolicy: (method) => policies[method],
    async call(method, params, caller) {
      const policy = policies[method];
      if (!policy && RESERVED.has(method)) throw new RpcError('NOT_IMPLEMENTED', `${method} is not implemented.`);
      if (!policy) throw new RpcError('METHOD_NOT_FOUND', `Unknown method ${JSON.stringify(truncateText(method))}.`);
      const refusal = findRefusal(caller, policy, policy.area);
      if (refusal !== undefined) throw new RpcError('AUTH_REQUIRED', `${method} ${refusal}.`);
      used(caller.principal, policy.area);
      rejectProto(params);
      // Known methods wait too while others are loading: calls start in the order of arrival.
      if (!table[method]) await loadAfterOthers(method);
      else if (loading) await loading;
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
