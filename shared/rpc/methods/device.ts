import { call } from '../contract.ts';
import { SCOPES } from '../contract.ts';
import { z } from '../zod.ts';

const common = {
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  createdAt: z.number(),
};

/** A device that a code was made for, and which has not answered yet. */
const pairingRecord = z.object({
  ...common,
  state: z.literal('pairing'),
  /** SHA-256 of the code, in hex. So short a code can be found from its hash: this only keeps it out of sight. */
  codeHash: z.string(),
  expiresAt: z.number(),
  tries: z.number().int(),
});
export type PairingRecord = z.infer<typeof pairingRecord>;

const pairedRecord = z.object({
  ...common,
  state: z.literal('paired'),
  /** SPKI, base64url. */
  publicKey: z.string(),
  /** SHA-256 of the device token, in hex. */
  tokenHash: z.string(),
  lastSeenAt: z.number().nullable(),
});
export type PairedRecord = z.infer<typeof pairedRecord>;

/** A device as it is kept; its secrets only as hashes. It goes from `pairing` to `paired` to removed, and never back. */
export const deviceRecord = z.discriminatedUnion('state', [pairingRecord, pairedRecord]);
export type DeviceRecord = z.infer<typeof deviceRecord>;

export const deviceEntry = pairedRecord.omit({ state: true, tokenHash: true, publicKey: true }).extend({ connected: z.boolean() });
export type DeviceEntry = z.infer<typeof deviceEntry>;

/** Pairing other devices (interface document 1, sections 3 and 4.1; decisions, "Devices, logs …"). */
export const devices = {
  'device.initiate': call({
    params: z.strictObject({
      deviceName: z.string().trim().min(1).max(100),
      scopes: z.array(z.enum(SCOPES)).min(1).max(3).default(['read', 'write']),
    }),
    result: z.object({ code: z.string(), expiresAt: z.number() }),
    docs: 'Starts pairing: a code of 8 characters, for 5 minutes, once, with 5 tries.',
    policy: { scope: 'admin', controlPlane: true },
  }),
  'device.complete': call({
    params: z.strictObject({ code: z.string().min(1).max(100), response: z.string().min(1).max(2000) }),
    result: z.object({ paired: z.literal(true), deviceId: z.string(), deviceToken: z.string() }),
    docs: 'Completes pairing: `response` is `<public key>.<signature over the code>`, both base64url. Gives the device its own token, once.',
    policy: { scope: 'write', controlPlane: true, pairing: true },
  }),
  'device.list': call({
    params: z.strictObject({}),
    result: z.object({ devices: z.array(deviceEntry), count: z.number().int() }),
    docs: 'Lists paired devices, the oldest first.',
    policy: { scope: 'read' },
  }),
  'device.revoke': call({
    params: z.strictObject({ deviceId: z.string().min(1).max(128) }),
    result: z.object({ revoked: z.literal(true) }),
    docs: 'Revokes a device: its token is void, and its live connections and streams are closed.',
    policy: { scope: 'admin', controlPlane: true },
  }),
};
