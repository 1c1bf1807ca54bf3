import { linkedBrowser } from '../../ports/linked-browsers.ts';
import { call } from '../contract.ts';
import { SCOPES } from '../contract.ts';
import { visibleName } from '../visible-name.ts';
import { z } from '../zod.ts';

export const deviceEntry = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  createdAt: z.number(),
  lastSeenAt: z.number().nullable(),
  connected: z.boolean(),
});
export type DeviceEntry = z.infer<typeof deviceEntry>;

/** A paired device as it is kept; its secrets only as hashes. */
export interface PairedRecord extends Omit<DeviceEntry, 'connected'> {
  state: 'paired';
  /** SPKI, base64url. */
  publicKey: string;
  /** SHA-256 of the device token, in hex. */
  tokenHash: string;
}

/** A device that a code was made for, and which has not answered yet. */
export interface PairingRecord extends Omit<DeviceEntry, 'connected' | 'lastSeenAt'> {
  state: 'pairing';
  /** SHA-256 of the code, in hex. So short a code can be found from its hash: this only keeps it out of sight. */
  codeHash: string;
  expiresAt: number;
  tries: number;
}

/** It goes from `pairing` to `paired` to removed, and never back. */
export type DeviceRecord = PairingRecord | PairedRecord;

/** Pairing other devices (interface document 1, sections 3 and 4.1; decisions, "Devices, logs …"), and linked browsers, which are ours. */
export const devices = {
  'device.browsers': call({
    params: z.strictObject({}),
    result: z.object({ browsers: z.array(linkedBrowser), count: z.number().int() }),
    docs: 'Lists the browsers that are linked to the bridge of the host that answers, the oldest first; none where there is no bridge.',
    policy: { scope: 'read' },
  }),
  'device.unlink': call({
    params: z.strictObject({ browserId: z.string().min(1).max(100) }),
    result: z.object({ unlinked: z.literal(true) }),
    docs: 'Takes a linked browser’s credentials back: its pages are cut off at once, its worker a second later. What it has a copy of stays there.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'device.initiate': call({
    params: z.strictObject({
      deviceName: visibleName(100),
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
    fails: ['NOT_FOUND'],
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
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
};
