import type { Contract, ParamsOf, ParsedOf, ResultOf } from '../contract.ts';
import { firstContracts } from './first.ts';
import { laterContracts } from './later.ts';

/** Every method. */
export const contracts = { ...firstContracts, ...laterContracts };

export type AllContracts = typeof contracts;
export type MethodName = keyof AllContracts;
export type MethodParams<M extends MethodName> = ParamsOf<AllContracts[M]>;
export type MethodParsed<M extends MethodName> = ParsedOf<AllContracts[M]>;
export type MethodResult<M extends MethodName> = ResultOf<AllContracts[M]>;

// `contracts` keeps each method's own types; this only checks that all of them are contracts.
contracts satisfies Record<string, Contract>;
