import { defineMethod } from '../rpc/contract.ts';
import { AREAS, LEVELS } from '../rpc/scopes.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

const principal = z.string().regex(/^(device|key):[A-Za-z0-9_-]{1,128}$/);

export const accessGrant = z.object({
  /** Principal that the token admits. Never the owner or the app: a host cannot grant those rights. */
  principal,
  /** SHA-256 of the token, in hex. */
  tokenHash: z.string().regex(/^[0-9a-f]{64}$/),
  scopes: z.array(z.enum(LEVELS)).max(LEVELS.length),
  /** Scopes that are not levels (`splitScopes`). */
  areas: z
    .array(z.string().max(50))
    .max(4 * AREAS.length)
    .optional(),
});
/** A token of 256 bits that belongs only to the principal, and what it allows. */
export type AccessGrant = z.infer<typeof accessGrant>;

/**
 * Principals that the bridge admits in addition to the owner and the app. The vault stores the list; the bridge mirrors it, since it admits
 * connections.
 */
export const accessPort = definePort({
  kind: 'access',
  featureName: 'Device access',
  calls: {
    'access.mirror': defineMethod({
      params: z.object({ grants: z.array(accessGrant).max(10_000) }),
      result: z.object({ /** Only the active host's grants are accepted. */ taken: z.boolean() }),
      docs: 'Replaces all grants. Callers that have lost theirs are disconnected before the response.',
      policy: { scope: 'admin' },
    }),
    'access.revoke': defineMethod({
      params: z.object({ principal }),
      result: z.object({}),
      docs: 'Revokes a grant permanently for all hosts. A mirror that still has it does not restore it.',
      policy: { scope: 'admin' },
    }),
    'access.connected': defineMethod({
      params: z.object({}),
      result: z.object({ principals: z.array(principal) }),
      docs: 'Returns the principals that have an open socket or request.',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});
