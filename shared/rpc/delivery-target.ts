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

/** Where the results of a schedule, plan, hook or the heartbeat are delivered. */
export const deliverOptions = z.strictObject({
  /** Ids of destinations (`deliveries.targets` of the configuration). */
  to: z.array(id).min(1).max(10),
  /** `on-change`: only if the text differs from that of the run before. */
  when: z.enum(['always', 'on-failure', 'on-change']).default('always'),
  /** Whether it waits for the daily digest, if one is set. */
  digest: z.boolean().optional(),
});
export type DeliverOptions = z.infer<typeof deliverOptions>;
