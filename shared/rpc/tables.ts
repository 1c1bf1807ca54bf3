import type { MethodPolicy } from './contract.ts';
import { type EventName, events } from './events.ts';
import { contracts, type MethodName } from './methods/index.ts';

/** Policies and event names without the schemas. Builds of the gateway contain both tables as literals (web/inline-tables.ts). */
export const POLICIES = Object.fromEntries(Object.entries(contracts).map(([method, { policy }]) => [method, policy])) as Record<
  MethodName,
  MethodPolicy
>;

export const EVENT_NAMES = Object.keys(events) as EventName[];
