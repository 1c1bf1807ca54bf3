import { z } from '#shared/rpc/zod.ts';
import type { SentReceipt } from '../channel-adapter.ts';
import type { MatrixEvent } from './matrix-events.ts';

/** Number of events per room whose order is remembered, and of rooms. */
const MAX_EVENTS = 200;
const MAX_ROOMS = 200;

/** Readers by event and type of receipt. */
const receiptContent = z.record(
  z.string(),
  z.object({ 'm.read': z.record(z.string(), z.object({ ts: z.number().catch(0) }).catch({ ts: 0 })).optional() }).catch({}),
);

/** Order of the recent events of the account's rooms, to tell which of its own messages were read. */
export class RoomHistory {
  readonly #rooms = new Map<string, { id: string; isOwn: boolean; isRead: boolean }[]>();
  readonly #marked = new Set<string>();

  add(roomId: string, self: string, events: readonly MatrixEvent[]): void {
    if (events.length === 0) return;
    const known = this.#rooms.get(roomId) ?? [];
    const added = events.map(({ event_id, sender, type }) => ({
      id: event_id,
      isOwn: sender === self && type === 'm.room.message',
      isRead: false,
    }));
    this.#rooms.delete(roomId);
    this.#rooms.set(roomId, [...known, ...added.filter(({ id }) => !known.some((each) => each.id === id))].slice(-MAX_EVENTS));
    const [oldest] = this.#rooms.keys();
    if (this.#rooms.size > MAX_ROOMS && oldest !== undefined) this.#rooms.delete(oldest);
  }

  isOwn(eventId: string): boolean {
    return [...this.#rooms.values()].some((events) => events.some(({ id, isOwn }) => isOwn && id === eventId));
  }

  /** Own messages that others have read: a receipt covers all events before the one that it names. */
  findRead(roomId: string, self: string, ephemeral: readonly MatrixEvent[]): SentReceipt[] {
    const events = this.#rooms.get(roomId) ?? [];
    const receipts: SentReceipt[] = [];
    for (const { type, content } of ephemeral) {
      const parsed = type === 'm.receipt' ? receiptContent.safeParse(content).data : undefined;
      for (const [eventId, { 'm.read': readers = {} }] of Object.entries(parsed ?? {})) {
        const reader = Object.entries(readers).find(([userId]) => userId !== self);
        const end = events.findIndex(({ id }) => id === eventId);
        if (!reader || end === -1) continue;
        for (const event of events.slice(0, end + 1)) {
          if (!event.isOwn || event.isRead) continue;
          event.isRead = true;
          receipts.push({ sentId: event.id, state: 'read', at: reader[1].ts });
        }
      }
    }
    return receipts;
  }

  /** Whether a message of somebody else is to be marked as read: true once. */
  markRead(eventId: string): boolean {
    if (this.#marked.has(eventId)) return false;
    this.#marked.add(eventId);
    const [oldest] = this.#marked;
    if (this.#marked.size > MAX_EVENTS && oldest !== undefined) this.#marked.delete(oldest);
    return true;
  }
}
