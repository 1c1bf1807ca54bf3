import type { DeliveryTarget } from '#shared/rpc/delivery-target.ts';
import type { DeliverySource } from '#shared/rpc/methods/delivery-contracts.ts';
import type { Button } from '../channels/channel-adapter.ts';

/** A message that the gateway sends of its own accord. */
export interface DeliveryRequest {
  /** The same key is delivered once. */
  key: string;
  target: DeliveryTarget;
  text: string;
  /** Short, for notifications and subjects. */
  title?: string;
  /** Path within the app that a notification opens. */
  path?: string;
  buttons?: readonly Button[];
  /** The part of the gateway that sends it, and the id of its record. */
  source: DeliverySource;
  /** Principal whose rights the run had that wrote the text, if a run wrote it. */
  by?: string | undefined;
  /** Sources from outside that influenced the text (`MessageRecord.outside`). */
  outside?: readonly string[];
  /** Addresses that the text quotes from what was read (`MessageRecord.quotedUrls`): others may leak data if `outside` is not empty. */
  quotedUrls?: readonly string[];
  /** Whether a person approved exactly this text. */
  isReviewed?: boolean;
  /** Whether it is sent in quiet hours, and never waits for a digest. */
  isUrgent?: boolean;
  /** Whether it waits for the daily digest, if one is set. */
  isForDigest?: boolean;
  /** Milliseconds since the Unix epoch after which it is not sent any more. */
  expiresAt?: number;
}

/** State of an attempt, as far as the platform has proven it. */
interface CarryResult {
  state: 'accepted' | 'delivered' | 'read';
  /** The platform's ids of what was sent. */
  sentIds: string[];
}

/** A request that was stored as a delivery. */
export type StoredRequest = DeliveryRequest & { id: string; createdAt: number };

/** Carries deliveries of one kind of target. Its methods throw `PlatformError`, whose `isUnsent` and `refused` decide about a retry. */
export interface Carrier {
  /** Sends the delivery, or the rest of it after the pieces `sentIds`; calls `onSent` after each piece, before the next. */
  send(
    delivery: StoredRequest,
    context: { sentIds: readonly string[]; onSent(sentId: string): Promise<void>; signal: AbortSignal },
  ): Promise<CarryResult>;
  /** The platform's id of a piece that may have been sent; null if it was not; undefined if the platform cannot be asked. */
  find?(delivery: StoredRequest, context: { sentIds: readonly string[]; signal: AbortSignal }): Promise<string | null | undefined>;
}
