import type { EventSchemas } from '../link/port-calls.ts';
import type { Contracts } from '../rpc/contract.ts';

/** A capability of the bridge: its calls, and the events of a call in progress. */
export interface Port<C extends Contracts = Contracts, E extends EventSchemas = EventSchemas> {
  /** The stream's kind, and the capability's name in the bridge's hello. */
  kind: string;
  /** Name for the error message if it is missing, such as `Running commands`. */
  featureName: string;
  calls: C;
  events: E;
}

export const definePort = <C extends Contracts, E extends EventSchemas>(definition: Port<C, E>): Port<C, E> => definition;
