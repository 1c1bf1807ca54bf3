import type { Delivery } from '#shared/rpc/methods/delivery-contracts.ts';

/** A delivery, as it is stored. */
export interface DeliveryRecord extends Delivery {
  /** Requests with the same key are one delivery. */
  key: string;
  path?: string;
  buttons?: readonly { label: string; value: string; emoji?: string }[];
  outside?: readonly string[];
  quotedUrls?: readonly string[];
  isUrgent?: boolean;
  /** Milliseconds since the Unix epoch after which it is not sent any more. */
  expiresAt: number;
  /** The platform's ids of the pieces sent so far. */
  sentIds: string[];
  /** Receipts of pieces, by their ids. */
  receipts?: Record<string, 'delivered' | 'read'>;
  /** Number of times that a person had it sent again. */
  resends: number;
}
