import { z } from '#shared/rpc/zod.ts';

/** Seconds since 1970, the unit of OAuth. */
const secondsField = z.number().optional();

const client = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
  /** 0 means never. */
  client_secret_expires_at: secondsField,
  token_endpoint_auth_method: z.string().optional(),
  issuer: z.string().optional(),
});

/** The gateway's registration with an authorization server (RFC 7591). */
export type RegisteredClient = z.infer<typeof client>;

const tokensSchema = z.object({
  access_token: z.string(),
  token_type: z.string(),
  refresh_token: z.string().optional(),
  /** Granted scopes; if undefined, the requested ones. */
  scope: z.string().optional(),
});

/** A person's authorization for an MCP server, and how to refresh it. */
export const permissionSchema = z.object({
  /** Address of the server that it is for; it must not be used for another one. */
  url: z.string(),
  redirectUri: z.string(),
  client,
  /** Undefined if there is only a registration. */
  tokens: tokensSchema.optional(),
  /** Server that refreshes tokens. */
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
export type Permission = z.infer<typeof permissionSchema>;
