import type { Contract, ContractParams, ParsedParams, ContractResult } from '../contract.ts';
import { initialContracts } from './initial-contracts.ts';
import { deferredContracts } from './deferred-contracts.ts';

/** All methods. */
export const contracts = { ...initialContracts, ...deferredContracts };

export type AllContracts = typeof contracts;
export type MethodName = keyof AllContracts;
export type MethodParams<M extends MethodName> = ContractParams<AllContracts[M]>;
export type MethodParsed<M extends MethodName> = ParsedParams<AllContracts[M]>;
export type MethodResult<M extends MethodName> = ContractResult<AllContracts[M]>;

// Checks that every entry is a contract; `contracts` itself keeps the type of each method.
contracts satisfies Record<string, Contract>;
