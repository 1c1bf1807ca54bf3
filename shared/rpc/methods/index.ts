import type { Contract, ParamsOf, ParsedOf, ResultOf } from '../contract.ts';
import { firstContracts } from './first.ts';
import { laterContracts } from './later.ts';

/** All methods. */
export const contracts = { ...firstContracts, ...laterContracts };

export type AllContracts = typeof contracts;
export type MethodName = keyof AllContracts;
export type MethodParams<M extends MethodName> = ParamsOf<AllContracts[M]>;
export type MethodParsed<M extends MethodName> = ParsedOf<AllContracts[M]>;
export type MethodResult<M extends MethodName> = ResultOf<AllContracts[M]>;

// Checks that every entry is a contract; `contracts` itself keeps the type of each method.
contracts satisfies Record<string, Contract>;
