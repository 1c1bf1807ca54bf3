import { linkedBrowser } from '../../ports/linked-browsers-port.ts';
import { defineMethod } from '../contract.ts';
import { LEVELS } from '../contract.ts';
import { createVisibleName } from '../visible-name.ts';
import { z } from '../zod.ts';

const deviceEntry = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(LEVELS)),
  createdAt: z.number(),
  lastSeenAt: z.number().nullable(),
  connected: z.boolean(),
});
export type DeviceEntry = z.infer<typeof deviceEntry>;

/** A paired device as stored. Secrets are stored as hashes only. */
export interface PairedRecord extends Omit<DeviceEntry, 'connected'> {
  state: 'paired';
  /** The public key as SPKI, base64url-encoded. */
  publicKey: string;
  /** SHA-256 of the device token in hex. */
  tokenHash: string;
}

/** A device that was given a pairing code and has not completed pairing. */
export interface PairingRecord extends Omit<DeviceEntry, 'connected' | 'lastSeenAt'> {
  state: 'pairing';
  /** SHA-256 of the code in hex. A code this short can be recovered from its hash; the hash only keeps it out of sight. */
  codeHash: string;
  expiresAt: number;
  tries: number;
}

/** A device goes from `pairing` to `paired` to removed, and never back. */
export type DeviceRecord = PairingRecord | PairedRecord;

/** Paired devices and linked browsers. */
export const deviceContracts = {
  'device.browsers': defineMethod({
    params: z.strictObject({}),
    result: z.object({ browsers: z.array(linkedBrowser), count: z.number().int() }),
    docs: 'Lists the browsers linked to the bridge of the active host, oldest first. Empty without a bridge.',
    policy: { scope: 'read' },
  }),
  'device.unlink': defineMethod({
    params: z.strictObject({ browserId: z.string().min(1).max(100) }),
    result: z.object({ unlinked: z.literal(true) }),
    docs: 'Revokes the credentials of a linked browser. Its pages are disconnected immediately, its worker one second later, and its push notifications end. Data already copied to that browser stays there.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'device.initiate': defineMethod({
    params: z.strictObject({
      deviceName: createVisibleName(100),
      scopes: z.array(z.enum(LEVELS)).min(1).max(3).default(['read', 'write']),
    }),
    result: z.object({ code: z.string(), expiresAt: z.number() }),
    docs: 'Starts to pair a device and returns a single-use code of 8 characters. The code expires after 5 minutes or 5 failed attempts.',
    policy: { scope: 'admin', controlPlane: true },
  }),
  'device.complete': defineMethod({
    params: z.strictObject({ code: z.string().min(1).max(100), response: z.string().min(1).max(2000) }),
    result: z.object({ paired: z.literal(true), deviceId: z.string(), deviceToken: z.string() }),
    docs: 'Completes pairing and returns the token of the device, once. `response` is `<public key>.<signature over the code>`, both base64url-encoded.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write', controlPlane: true, pairing: true },
  }),
  'device.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({ devices: z.array(deviceEntry), count: z.number().int() }),
    docs: 'Lists paired devices, oldest first.',
    policy: { scope: 'read' },
  }),
  'device.revoke': defineMethod({
    params: z.strictObject({ deviceId: z.string().min(1).max(128) }),
    result: z.object({ revoked: z.literal(true) }),
    docs: 'Revokes a device. Its token becomes invalid, its open connections and streams are closed, and its push notifications end.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
};
