import { defineMethod } from '../contract.ts';
import { deliveryTarget } from '../delivery-target.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

const DELIVERY_SOURCES = ['job', 'plan', 'hook', 'heartbeat', 'tool', 'approval', 'test'] as const;

/** The part of the gateway that sent a delivery, and the id of its record. */
const deliverySource = z.object({ kind: z.enum(DELIVERY_SOURCES), id: z.string() });
export type DeliverySource = z.infer<typeof deliverySource>;

/**
 * `waiting`: not sent yet. `sending`: the platform may have received it. `accepted`: the platform has taken it, without saying that it
 * arrived. `delivered` and `read`: the platform says so. `unsent`: certainly not sent in whole. `unconfirmed`: it may have been sent, and
 * nobody can tell. `combined`: sent as a part of another delivery.
 */
export const deliveryState = z.enum(['waiting', 'sending', 'accepted', 'delivered', 'read', 'unsent', 'unconfirmed', 'combined']);
export type DeliveryState = z.infer<typeof deliveryState>;

export const delivery = z.object({
  id: z.string(),
  target: deliveryTarget,
  text: z.string(),
  title: z.string().optional(),
  source: deliverySource,
  state: deliveryState,
  /** Reason why it waits. */
  waitsFor: z.enum(['approval', 'quietHours', 'digest', 'retry']).optional(),
  /** Time of the next attempt, in milliseconds since the Unix epoch. */
  nextAt: z.number().optional(),
  /** Number of times that it was handed to the platform. */
  attempts: z.number().int(),
  /** Why the last attempt failed, or what is unknown. */
  error: z.string().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** Times of the platform's receipts. */
  acceptedAt: z.number().optional(),
  deliveredAt: z.number().optional(),
  readAt: z.number().optional(),
  /** The delivery that it is a part of, if its state is `combined`. */
  digestId: z.string().optional(),
});
export type Delivery = z.infer<typeof delivery>;

const deliveryId = z.string().min(1).max(128);

/** Messages that the gateway sends of its own accord. */
export const deliveryContracts = {
  'deliveries.list': defineMethod({
    params: z.strictObject({ limit: z.number().int().min(1).max(500).default(100), before: z.number().optional() }),
    result: z.object({ deliveries: z.array(delivery), next: z.number().nullable() }),
    docs: 'Lists deliveries, newest first. `before`: only those created before that time, in milliseconds since the Unix epoch. `next`: value for `before` of the next page; null at the end.',
    policy: { scope: 'read' },
  }),
  'deliveries.get': defineMethod({
    params: z.strictObject({ id: deliveryId }),
    result: z.object({ delivery }),
    docs: 'Returns a delivery.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'deliveries.test': defineMethod({
    params: z.strictObject({ targetId: id }),
    result: z.object({ delivery }),
    emits: ['delivery.changed'],
    docs: 'Sends a test message to a destination (`deliveries.targets` of the configuration), also in quiet hours.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'deliveries.resend': defineMethod({
    params: z.strictObject({ id: deliveryId }),
    result: z.object({ delivery }),
    emits: ['delivery.changed'],
    docs: 'Sends an unsent or unconfirmed delivery again, or one that waits for approval. An unconfirmed one may arrive twice, so only a person can do this. Returns `INVALID_PARAMS` for any other state.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'deliveries.cancel': defineMethod({
    params: z.strictObject({ id: deliveryId }),
    result: z.object({ delivery }),
    emits: ['delivery.changed'],
    docs: 'Cancels a waiting delivery. Returns `INVALID_PARAMS` for any other state.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
};
