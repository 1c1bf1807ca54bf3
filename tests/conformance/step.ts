import type { z } from 'zod';
import type { AllContracts, MethodName } from '#shared/rpc/methods/index.ts';

type Method = Exclude<MethodName, 'connect'>;
export type StepResults = { [M in Method]?: z.output<AllContracts[M]['result']> };
type Params<M extends Method> = z.input<AllContracts[M]['params']>;

export interface Step {
  method: Method;
  params(results: StepResults): Record<string, unknown>;
  /** Expected error code; without it the result must match the contract. */
  code?: string;
  /** Error codes that are accepted if the machine lacks something. */
  lacking?: readonly string[];
  /** Asked right after it, before its answer. */
  beside?: Step;
}

export const createStep = <M extends Method>(
  method: M,
  params: Params<M> | ((results: StepResults) => Params<M>),
  code?: string,
): Step => ({
  method,
  params: (results) => (typeof params === 'function' ? params(results) : params) as Record<string, unknown>,
  ...(code === undefined ? {} : { code }),
});

/** A step and the concurrent ones, in order. */
export const createConcurrentSteps = (each: Step): Step[] => [each, ...(each.beside ? createConcurrentSteps(each.beside) : [])];

/** As `createStep`, for what some machines cannot do. */
export const createOptionalStep = <M extends Method>(method: M, params: Params<M>, ...lacking: string[]): Step => ({
  ...createStep(method, params),
  lacking,
});
