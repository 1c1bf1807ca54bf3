import { id } from './frames.ts';
import { agentId } from './record-schemas.ts';
import { z } from './zod.ts';

/** Where a message is delivered. */
export const deliveryTarget = z.discriminatedUnion('kind', [
  /** A chat on a channel. `to` is the platform's id of a person or room; if left out, the owner's account (`channels.<id>.owners`). */
  z.strictObject({ kind: z.literal('channel'), channelId: id, to: z.string().min(1).max(500).optional() }),
  /** A notification by Web Push on one device, or on all devices that allow them. */
  z.strictObject({ kind: z.literal('device'), deviceId: id.optional() }),
  /** A chat of the app. */
  z.strictObject({ kind: z.literal('chat'), agentId, sessionId: id }),
]);
export type DeliveryTarget = z.infer<typeof deliveryTarget>;
