import type { DeliveryRecord } from '../../storage/records/delivery-record.ts';
import type { SentReceipt } from '../channels/channel-adapter.ts';

/** Maximum number of receipts that are kept until their piece is known. */
const MAX_EARLY = 1_000;

export const toReceiptKey = (carrierKey: string, sentId: string): string => `${carrierKey}\n${sentId}`;

/** The state that the receipts of a delivery prove, all of whose pieces the platform has accepted. */
export function toState({ sentIds, receipts = {} }: Pick<DeliveryRecord, 'sentIds' | 'receipts'>): 'accepted' | 'delivered' | 'read' {
  // Later pieces are read after earlier ones.
  if (receipts[sentIds.at(-1) ?? ''] === 'read') return 'read';
  return sentIds.length > 0 && sentIds.every((sentId) => receipts[sentId] !== undefined) ? 'delivered' : 'accepted';
}

/** Receipts that arrived before the platform's response to the request that sent the piece. */
export class EarlyReceipts {
  readonly #receipts = new Map<string, SentReceipt[]>();

  add(key: string, receipt: SentReceipt): void {
    this.#receipts.set(key, [...(this.#receipts.get(key) ?? []), receipt]);
    for (const oldest of this.#receipts.keys()) {
      if (this.#receipts.size <= MAX_EARLY) break;
      this.#receipts.delete(oldest);
    }
  }

  /** Removes and returns the receipts of a piece. */
  take(key: string): SentReceipt[] {
    const receipts = this.#receipts.get(key) ?? [];
    this.#receipts.delete(key);
    return receipts;
  }
}
