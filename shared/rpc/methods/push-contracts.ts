import { defineMethod } from '../contract.ts';
import { createVisibleName } from '../visible-name.ts';
import { z } from '../zod.ts';

const deviceId = z.string().regex(/^[\w-]{8,64}$/);
/** Base64url. */
const key = (bytes: number) => z.string().regex(new RegExp(`^[\\w-]{${Math.ceil((bytes * 4) / 3)}}={0,2}$`));

const pushDevice = z.object({
  id: z.string(),
  name: z.string(),
  /** Host name of the push service. */
  service: z.string(),
  createdAt: z.number(),
  /** Time of the last message that the push service has accepted. */
  lastSentAt: z.number().optional(),
  /** Why the last message was not accepted. */
  problem: z.string().optional(),
});
/** A browser that shows notifications by Web Push, also while the app is closed. */
export type PushDevice = z.infer<typeof pushDevice>;

/** Push notifications (Web Push). `push.send` of the protocol is reserved. */
export const pushContracts = {
  'push.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({ devices: z.array(pushDevice), /** Whether a bridge can send them now. */ available: z.boolean() }),
    docs: 'Lists the devices that receive push notifications, oldest first.',
    policy: { scope: 'read' },
  }),
  'push.key': defineMethod({
    params: z.strictObject({}),
    result: z.object({ publicKey: z.string() }),
    docs: 'Returns the public key of the gateway (RFC 8292) for `PushManager.subscribe`, in base64url. Only for people.',
    policy: { scope: 'admin' },
  }),
  'push.subscribe': defineMethod({
    params: z.strictObject({
      /** Chosen by the browser, which keeps it: its next subscription replaces this one. */
      id: deviceId,
      name: createVisibleName(100),
      /** ID of the browser if it is linked to a bridge (`device.browsers`): unlinking it ends the subscription. */
      browserId: z.string().min(1).max(100).optional(),
      subscription: z.strictObject({
        endpoint: z.url({ protocol: /^https$/, error: 'must be an https URL' }).max(2048),
        keys: z.strictObject({ p256dh: key(65), auth: key(16) }),
      }),
    }),
    result: z.object({ device: pushDevice }),
    emits: ['push.changed'],
    docs: 'Adds a device, or replaces its subscription. Only for people.',
    policy: { scope: 'admin' },
  }),
  'push.remove': defineMethod({
    params: z.strictObject({ id: deviceId }),
    result: z.object({ removed: z.literal(true) }),
    emits: ['push.changed'],
    docs: 'Removes a device: it gets no more notifications, and buttons of earlier ones stop working. Only for people.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'push.test': defineMethod({
    params: z.strictObject({ id: deviceId }),
    result: z.object({ accepted: z.literal(true) }),
    docs: 'Sends a test notification. Resolves when the push service has accepted it. Only for people.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
};
