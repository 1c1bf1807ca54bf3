import type { DeliveryState } from '#shared/rpc/methods/delivery-contracts.ts';
import type { DeliveryRecord } from './records/delivery-record.ts';

/** Order of the states within an attempt: a proof of arrival counts for more than the lack of one. */
const RANKS: Readonly<Record<DeliveryState, number>> = {
  sending: 1,
  waiting: 2,
  unsent: 3,
  combined: 4,
  unconfirmed: 5,
  accepted: 6,
  delivered: 7,
  read: 8,
};
const RANKS_PER_ATTEMPT = 10;
const ATTEMPTS_PER_RESEND = 10_000;

/**
 * Fence of a delivery's record: grows with each step. Without it a host that was cut off while sending could turn a delivery that another
 * host has ended back into one that is sent. Undefined: deleted.
 */
export const getDeliveryStage = (record: Pick<DeliveryRecord, 'resends' | 'attempts' | 'state'> | undefined): number =>
  record === undefined
    ? Number.MAX_SAFE_INTEGER
    : (record.resends * ATTEMPTS_PER_RESEND + record.attempts) * RANKS_PER_ATTEMPT + RANKS[record.state];
