import { call } from '../contract.ts';
import { SCOPES } from '../contract.ts';
import { z } from '../zod.ts';

const name = z.string().trim().min(1).max(100);

/** A paired device as it is kept; its token only as a hash. */
export const deviceRecord = z.object({
  id: z.string(),
  name: z.string(),
  /** SPKI, base64url. */
  publicKey: z.string(),
  /** SHA-256 of the device token, in hex. */
  tokenHash: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  createdAt: z.number(),
  lastSeenAt: z.number().nullable(),
});
export type DeviceRecord = z.infer<typeof deviceRecord>;

export const deviceEntry = deviceRecord.omit({ tokenHash: true, publicKey: true }).extend({ connected: z.boolean() });
export type DeviceEntry = z.infer<typeof deviceEntry>;

/** Pairing other devices (interface document 1, sections 3 and 4.1; decisions, "Devices, logs …"). */
export const devices = {
  'device.initiate': call({
    params: z.strictObject({ deviceName: name, scopes: z.array(z.enum(SCOPES)).min(1).max(3).default(['read', 'write']) }),
    result: z.object({ code: z.string(), expiresAt: z.number() }),
    docs: 'Starts pairing: a code of 8 characters, for 5 minutes, once, with 5 tries.',
    policy: { scope: 'admin', controlPlane: true },
  }),
  'device.complete': call({
    params: z.strictObject({ code: z.string().min(1).max(100), response: z.string().min(1).max(2000) }),
    result: z.object({ paired: z.literal(true), deviceId: z.string(), deviceToken: z.string() }),
    docs: 'Completes pairing: `response` is `<public key>.<signature over the code>`, both base64url. Gives the device its own token, once.',
    policy: { scope: 'read', controlPlane: true },
  }),
  'device.list': call({
    params: z.strictObject({}),
    result: z.object({ devices: z.array(deviceEntry), count: z.number().int() }),
    docs: 'Lists paired devices.',
    policy: { scope: 'read' },
  }),
  'device.revoke': call({
    params: z.strictObject({ deviceId: z.string().min(1).max(128) }),
    result: z.object({ revoked: z.literal(true) }),
    docs: 'Revokes a device: its token is void, and its live connections close.',
    policy: { scope: 'admin', controlPlane: true },
  }),
};
