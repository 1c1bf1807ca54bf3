import { call } from '../contract.ts';
import { PROTOCOL } from '../frames.ts';
import { z } from '../zod.ts';
import { presenceEntry } from './status.ts';

const health = z.object({ status: z.enum(['ok', 'draining', 'degraded']), uptime: z.number(), connections: z.number() });

/** The first request of every connection, and the health check (interface document 1, sections 4.1 and 5). */
export const connection = {
  connect: call({
    // Unknown keys are ignored here and nowhere else (decisions, "Frames and connection").
    params: z.looseObject({
      minProtocol: z.number().int().nonnegative(),
      maxProtocol: z.number().int().nonnegative(),
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
      role: z.string().max(100).optional(),
      scopes: z.array(z.string().max(100)).max(50).optional(),
      caps: z.array(z.string().max(100)).max(100).optional(),
      auth: z.looseObject({}).optional(),
      events: z.enum(['all', 'own']).optional(),
    }),
    result: z.object({
      protocol: z.number().int(),
      server: z.object({ name: z.string(), version: z.string(), connId: z.string() }),
      features: z.object({ methods: z.array(z.string()), events: z.array(z.string()) }),
      policy: z.object({ maxPayload: z.number(), maxBufferedBytes: z.number(), tickIntervalMs: z.number() }),
      snapshot: z.object({ presence: z.array(presenceEntry), health }),
      /** The bridge's half of the mutual proof, where the client asked for it by its own (design.md, "Two origins"). */
      auth: z.object({ proof: z.string() }).optional(),
    }),
    docs: `Authenticates and establishes the connection; must be the first request. \`auth\` has a \`token\`, the owner's or a device's, or else a \`password\` or a \`pairingCode\`. The server's range is 2 to ${PROTOCOL}.`,
    policy: { scope: 'read' },
  }),
  health: call({
    params: z.strictObject({}),
    result: health,
    docs: 'Health check: `uptime` in seconds, `connections` open now.',
    policy: { scope: 'read' },
  }),
};
