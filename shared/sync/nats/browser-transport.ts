import { z } from '../../rpc/zod.ts';

const secret = z.string().min(1).max(16_384);

export const browserServers = z
  .array(
    z
      .string()
      .max(500)
      .regex(/^wss?:\/\/[^\s/@]+(?:\/[^\s@]*)?$/, 'must be wss://host:port, without a user name or password'),
  )
  .min(1)
  .max(100);

/** Address and credentials with which a browser reaches the cluster, by NATS over WebSocket. */
export const browserTransport = z
  .strictObject({
    servers: browserServers,
    /** The text of a file of credentials, as `nsc` makes it. */
    credentials: secret.regex(/-----BEGIN[^]*-----BEGIN/, 'must be credentials created by nsc').optional(),
    user: z.string().min(1).max(500).optional(),
    password: secret.optional(),
    token: secret.optional(),
  })
  .refine(({ credentials, user, token }) => [credentials, user, token].filter((value) => value !== undefined).length <= 1, {
    message: 'must include only one of credentials, user and token',
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), { message: 'must include both user and password' });
export type BrowserTransport = z.infer<typeof browserTransport>;
