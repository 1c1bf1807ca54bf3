import { z } from '#shared/rpc/zod.ts';

/** Seconds since 1970, as OAuth counts. */
const seconds = z.number().optional();

const client = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
  /** 0: never. */
  client_secret_expires_at: seconds,
  token_endpoint_auth_method: z.string().optional(),
  issuer: z.string().optional(),
});

/** What the gateway was registered as with an authorization server (RFC 7591). */
export type RegisteredClient = z.infer<typeof client>;

const tokens = z.object({
  access_token: z.string(),
  token_type: z.string(),
  refresh_token: z.string().optional(),
  /** What was granted; where it is left out, what was asked for. */
  scope: z.string().optional(),
});
export type GrantedTokens = z.infer<typeof tokens>;

/** What a person has permitted at a server's service, and how to make it last. */
export const permission = z.object({
  /** The server that it is for: of no use for another one. */
  url: z.string(),
  redirectUri: z.string(),
  client,
  /** None: the registration alone. */
  tokens: tokens.optional(),
  /** Where tokens are renewed. */
  authorizationServerUrl: z.string(),
  metadata: z
    .object({
      issuer: z.string(),
      authorization_endpoint: z.string(),
      token_endpoint: z.string(),
      response_types_supported: z.array(z.string()),
      token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
    })
    .optional(),
  /** RFC 8707. */
  resource: z.string().optional(),
});
export type Permission = z.infer<typeof permission>;
