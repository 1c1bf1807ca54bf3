import type { ProviderState } from './provider-state.ts';
import type { Item } from './response-record.ts';

export interface ConversationEntry {
  item: Item;
  /** Data that the provider requires back with this call. */
  kept?: ProviderState;
}

/** A conversation that an API client continues by its id. */
export interface ConversationRecord {
  /** `conv_<time><random>`: ids sort by age. */
  id: string;
  /** Key or person that created it. */
  principal: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  metadata: Record<string, string>;
  entries: ConversationEntry[];
}
