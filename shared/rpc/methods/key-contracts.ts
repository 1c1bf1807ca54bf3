import { defineMethod } from '../contract.ts';
import { KEY_SCOPES, type Scope, SCOPES, type SplitScopes } from '../scopes.ts';
import { createVisibleName } from '../visible-name.ts';
import { z } from '../zod.ts';

/** Limits of an API key; null for no limit. */
const limits = z.strictObject({
  /** Calls of `/v1` and `chat.*`, as a token bucket that holds one minute's worth. */
  requestsPerMinute: z.number().int().min(1).max(100_000).nullable(),
  /** Input and output tokens of calls that ended within the last minute. */
  tokensPerMinute: z.number().int().min(1).max(1_000_000_000).nullable(),
  /** USD per month in the configured time zone. */
  monthlyBudget: z.number().min(0).max(1_000_000).nullable(),
});
export type KeyLimits = z.infer<typeof limits>;

const keyEntry = z.object({
  id: z.string(),
  name: z.string(),
  /** The last characters of the secret, to identify the key. */
  hint: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  limits,
  /** Milliseconds since the Unix epoch. */
  createdAt: z.number(),
  lastUsedAt: z.number().nullable(),
  /** Scopes that the key’s calls and its agents’ tools have needed, with the last time, to the day; null if nothing was recorded yet. */
  use: z.object({ since: z.number(), scopes: z.record(z.string(), z.number()) }).nullable(),
});
export type KeyEntry = z.infer<typeof keyEntry>;

/** A key as stored: `scopes` has its levels and `areas` its other scopes. Its secret is stored as a hash only. */
export interface KeyRecord extends Omit<KeyEntry, 'scopes' | 'use'>, SplitScopes {
  /** SHA-256 of the secret in hex. */
  tokenHash: string;
  /** Absent in keys that no build with this field has seen used. */
  use?: KeyUse;
}

/** When each scope was last needed, in milliseconds since the Unix epoch. */
interface KeyUse {
  since: number;
  scopes: Partial<Record<Scope, number>>;
}

/** A key with its usage in the current month. */
const keyWithUsage = keyEntry.extend({
  month: z.object({ calls: z.number().int(), totalTokens: z.number().int(), cost: z.number() }),
});

const id = z.string().min(1).max(128);
const name = createVisibleName(100);
const scopes = z.array(z.enum(KEY_SCOPES)).min(1).max(KEY_SCOPES.length);

/** API keys for programs, in addition to the owner's token. */
export const keyContracts = {
  'keys.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({ keys: z.array(keyWithUsage), count: z.number().int() }),
    docs: 'Lists the API keys, oldest first, with the usage of each in the current month.',
    policy: { scope: 'read' },
  }),
  'keys.create': defineMethod({
    params: z.strictObject({ name, scopes: scopes.default(['v1']), limits: limits.partial().default({}) }),
    result: z.object({ key: keyEntry, secret: z.string() }),
    docs: 'Creates an API key: a bearer token for `/v1` and a `token` for `connect`. The secret is returned only once, by this call. `scopes` is a set: each allows what the guide says of it, `read` and `write` everything of their level.',
    policy: { scope: 'admin', controlPlane: true },
  }),
  'keys.update': defineMethod({
    params: z.strictObject({ id, name: name.optional(), scopes: scopes.optional(), limits: limits.partial().optional() }),
    result: z.object({ key: keyEntry }),
    docs: 'Changes the name, scopes or individual limits of an API key; null removes a limit. If the scopes change, the key’s open connections are closed.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'keys.revoke': defineMethod({
    params: z.strictObject({ id }),
    result: z.object({ revoked: z.literal(true) }),
    docs: 'Revokes an API key and closes its open connections.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
};
