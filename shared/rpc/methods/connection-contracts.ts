import { defineMethod } from '../contract.ts';
import { PROTOCOL_VERSION } from '../frames.ts';
import { z } from '../zod.ts';
import { presenceEntry } from '../presence-entry.ts';

const health = z.object({ status: z.enum(['ok', 'draining', 'degraded']), uptime: z.number(), connections: z.number() });

/** The first request of every connection, and the health check. */
export const connectionContracts = {
  connect: defineMethod({
    // Only this method ignores unknown keys; all others refuse them.
    params: z.looseObject({
      /** Range of protocol versions that the client supports. */
      minProtocol: z.number().int().nonnegative(),
      maxProtocol: z.number().int().nonnegative(),
      /** Name of the client in `system.presence`. Defaults to `client.displayName` or `client.id`. */
      clientName: z.string().max(200).optional(),
      client: z
        .looseObject({
          id: z.string().max(200),
          version: z.string().max(100).optional(),
          platform: z.string().max(100).optional(),
          mode: z.string().max(100).optional(),
          displayName: z.string().max(200).optional(),
        })
        .optional(),
      /** Accepted and ignored. */
      role: z.string().max(100).optional(),
      /** Restricts the connection to these scopes. Ignored unless the credential grants all of them. */
      scopes: z.array(z.string().max(100)).max(50).optional(),
      /** Accepted and ignored. */
      caps: z.array(z.string().max(100)).max(100).optional(),
      auth: z.looseObject({}).optional(),
      /** Events to receive: those of the connection's own sessions (default), or all. */
      events: z.enum(['all', 'own']).optional(),
    }),
    result: z.object({
      protocol: z.number().int(),
      /** `connId` identifies the connection. */
      server: z.object({ name: z.string(), version: z.string(), connId: z.string() }),
      /** Names of all methods and events. */
      features: z.object({ methods: z.array(z.string()), events: z.array(z.string()) }),
      /** Limits in bytes and the interval of `tick` in milliseconds. */
      policy: z.object({ maxPayload: z.number(), maxBufferedBytes: z.number(), tickIntervalMs: z.number() }),
      snapshot: z.object({ presence: z.array(presenceEntry), health }),
      /** The bridge's half of the mutual proof, if the client sent its own. */
      auth: z.object({ proof: z.string() }).optional(),
    }),
    docs: `Authenticates the connection and negotiates the protocol version. It must be the first request. Set one of \`auth.token\` (the owner's, a device's or an API key), \`auth.password\` or \`auth.pairingCode\`. The server supports versions 2 to ${PROTOCOL_VERSION}.`,
    policy: { scope: 'read' },
  }),
  health: defineMethod({
    params: z.strictObject({}),
    result: health,
    docs: 'Returns the health of the gateway. `uptime` is in seconds; `connections` is the number of open connections.',
    policy: { scope: 'read' },
  }),
};
