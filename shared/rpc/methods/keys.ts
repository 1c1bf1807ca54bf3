import { call, SCOPES } from '../contract.ts';
import { visibleName } from '../visible-name.ts';
import { z } from '../zod.ts';

/** What a key may use; null: as much as it likes. */
const limits = z.strictObject({
  /** Calls of `/v1` and of `chat.*`, as a bucket that holds a minute's worth. */
  requestsPerMinute: z.number().int().min(1).max(100_000).nullable(),
  /** Tokens of input and output, of calls that ended within the last minute. */
  tokensPerMinute: z.number().int().min(1).max(1_000_000_000).nullable(),
  /** USD in a month of the configured time zone. */
  monthlyBudget: z.number().min(0).max(1_000_000).nullable(),
});
export type KeyLimits = z.infer<typeof limits>;

const keyEntry = z.object({
  id: z.string(),
  name: z.string(),
  /** The last characters of its secret, to tell it from others. */
  hint: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  limits,
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  lastUsedAt: z.number().nullable(),
});
export type KeyEntry = z.infer<typeof keyEntry>;

/** A key as it is kept: its secret only as a hash. */
export interface KeyRecord extends KeyEntry {
  /** SHA-256 of the secret, in hex. */
  tokenHash: string;
}

/** With what it has used in this month. */
const keyWithUsage = keyEntry.extend({
  month: z.object({ calls: z.number().int(), totalTokens: z.number().int(), cost: z.number() }),
});

const id = z.string().min(1).max(128);
const name = visibleName(100);
// A key that could make keys would have no limits.
const scopes = z
  .array(z.enum(['read', 'write']))
  .min(1)
  .max(2);

/** Keys for programs, beside the owner's token (decisions, "HTTP"). */
export const keys = {
  'keys.list': call({
    params: z.strictObject({}),
    result: z.object({ keys: z.array(keyWithUsage), count: z.number().int() }),
    docs: 'Lists the keys of programs, the oldest first, with what each has used this month.',
    policy: { scope: 'read' },
  }),
  'keys.create': call({
    params: z.strictObject({ name, scopes: scopes.default(['read', 'write']), limits: limits.partial().default({}) }),
    result: z.object({ key: keyEntry, secret: z.string() }),
    docs: 'Makes a key for a program: a Bearer token for `/v1`, and a `token` for `connect`. The secret is in this answer alone.',
    policy: { scope: 'admin', controlPlane: true },
  }),
  'keys.update': call({
    params: z.strictObject({ id, name: name.optional(), scopes: scopes.optional(), limits: limits.partial().optional() }),
    result: z.object({ key: keyEntry }),
    docs: 'Changes a key: its name, scopes, or single limits (null takes one away). What its program has open is closed where the scopes change.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'keys.revoke': call({
    params: z.strictObject({ id }),
    result: z.object({ revoked: z.literal(true) }),
    docs: 'Revokes a key: it is void, and what its program has open is closed.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
};
