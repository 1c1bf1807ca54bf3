import { call, SCOPES } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { port } from './port.ts';

const principal = z.string().regex(/^(device|key):[A-Za-z0-9_-]{1,128}$/);

export const grant = z.object({
  /** Whom the token lets in. Never the owner or the app: a host cannot give out those rights. */
  principal,
  /** SHA-256 of the token, in hex. */
  tokenHash: z.string().regex(/^[0-9a-f]{64}$/),
  scopes: z.array(z.enum(SCOPES)).max(SCOPES.length),
});
/** A token of 256 bits that is no one's but the principal's, and what it allows. */
export type Grant = z.infer<typeof grant>;

/** Whom the bridge lets in beside the owner and the app. The vault knows them; the bridge has a mirror of that, for it is the one that admits (decisions, "HTTP"). */
export const accessPort = port({
  kind: 'access',
  what: 'Letting in devices',
  calls: {
    'access.mirror': call({
      params: z.object({ grants: z.array(grant).max(10_000) }),
      result: z.object({ /** Only the host that serves is heard. */ taken: z.boolean() }),
      docs: 'All grants that there are. Who has lost theirs is cut off before the answer.',
      policy: { scope: 'admin' },
    }),
    'access.revoke': call({
      params: z.object({ principal }),
      result: z.object({}),
      docs: 'Takes one grant back for good, from any host: also a mirror that still has it does not bring it back.',
      policy: { scope: 'admin' },
    }),
    'access.connected': call({
      params: z.object({}),
      result: z.object({ principals: z.array(principal) }),
      docs: 'Who of them has a socket or a request open now.',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});
