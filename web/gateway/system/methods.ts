import type { Contract, ContractResult, ParsedParams } from '#shared/rpc/contract.ts';
import type { Caller } from './caller.ts';

type Handler<C extends Contract> = (params: ParsedParams<C>, caller: Caller) => Promise<ContractResult<C>> | ContractResult<C>;

/** A handler for each contract, except `connect`, which the connection handles. */
export type Handlers<C extends Record<string, Contract>> = { [M in keyof C as Exclude<M, 'connect'>]: Handler<C[M]> };

/** Callable methods: contracts with their handlers. */
export interface Methods {
  contracts: Record<string, Contract>;
  handlers: Record<string, Handler<never>>;
}

/** Methods that need `Deps` of the gateway. */
export type MethodGroup<Deps> = (deps: Deps) => Methods;

/** Declares the methods of a feature. */
export const defineMethods =
  <C extends Record<string, Contract>>(contracts: C) =>
  <Deps>(createHandlers: (deps: Deps) => Handlers<C>) =>
  (deps: Deps): { contracts: C; handlers: Handlers<C> } => ({ contracts, handlers: createHandlers(deps) });
