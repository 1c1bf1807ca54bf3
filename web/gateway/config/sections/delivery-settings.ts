import { isTimeZone } from '#shared/local-time.ts';
import { deliveryTarget } from '#shared/rpc/delivery-target.ts';
import { id } from '#shared/rpc/frames.ts';
import { createVisibleName } from '#shared/rpc/visible-name.ts';
import { z } from '#shared/rpc/zod.ts';

const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 22:00');

const destination = z.strictObject({
  id,
  name: createVisibleName(100),
  target: deliveryTarget,
  /** Whether runs that a channel's sender started may use it with `message_send`. */
  forChannels: z.boolean().optional(),
});
export type Destination = z.infer<typeof destination>;

/** `deliveries` of the configuration. */
export const deliverySettings = z.looseObject({
  /** Where schedules, plans, hooks, the heartbeat and agents may send messages. */
  targets: z
    .array(destination)
    .max(100)
    .refine((all) => new Set(all.map((each) => each.id)).size === all.length, 'must have different ids')
    .default([]),
  /** Daily time span in which only urgent messages are sent. `timeZone`: `chat.timeZone` by default. */
  quietHours: z
    .strictObject({
      from: clockTime,
      to: clockTime,
      timeZone: z.string().max(100).refine(isTimeZone, 'must be an IANA time zone, such as Europe/Berlin').optional(),
    })
    .refine(({ from, to }) => from !== to, 'must begin and end at different times')
    .optional(),
  /** Daily time at which messages for the digest are sent as one. */
  digest: z.strictObject({ at: clockTime }).optional(),
});
export type DeliverySettings = z.infer<typeof deliverySettings>;
