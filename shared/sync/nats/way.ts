import { z } from '../../rpc/zod.ts';

const secret = z.string().min(1).max(16_384);

export const browserServers = z
  .array(
    z
      .string()
      .max(500)
      .regex(/^wss?:\/\/[^\s/@]+(?:\/[^\s@]*)?$/, 'browsers reach a server at wss://host:port, with no name or password in it'),
  )
  .min(1)
  .max(100);

/** Where a browser finds the cluster, by NATS' WebSocket, and how it gets in. */
export const browserWay = z
  .strictObject({
    servers: browserServers,
    /** The text of a file of credentials, as `nsc` makes it. */
    credentials: secret.regex(/-----BEGIN[^]*-----BEGIN/, 'these are no credentials as nsc makes them').optional(),
    user: z.string().min(1).max(500).optional(),
    password: secret.optional(),
    token: secret.optional(),
  })
  .refine(({ credentials, user, token }) => [credentials, user, token].filter((way) => way !== undefined).length <= 1, {
    message: 'credentials, a user and a token are three ways to get in: give one',
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), { message: 'a user and a password belong together' });
export type BrowserWay = z.infer<typeof browserWay>;
