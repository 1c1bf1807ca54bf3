import { formatValuePath } from '#shared/truncate-text.ts';
import { commandArgs, commandDir, commandName } from '#shared/command-fields.ts';
import { z } from '#shared/rpc/zod.ts';
import { MCP_SERVER_NAME_PATTERN, MAX_MCP_SERVER_NAME_CHARS } from '#shared/mcp-server-name-pattern.ts';

/** Default time limit for a server's response, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 60_000;

const hasNoNul = (text: string): boolean => !text.includes('\0');

/** `__` separates the parts of tool names for models. */
export const mcpServerName = z
  .string()
  .regex(MCP_SERVER_NAME_PATTERN, `must have at most ${MAX_MCP_SERVER_NAME_CHARS} characters of A-Z, a-z, 0-9, - and _, without "__"`);

const commonFields = {
  enabled: z.boolean().optional(),
  /** Time limit for a response in milliseconds, also for the initialization. */
  timeoutMs: z.number().int().min(100).max(3_600_000).optional(),
};

const stdioSchema = z.strictObject({
  ...commonFields,
  transport: z.literal('stdio').optional(),
  command: commandName,
  args: commandArgs.optional(),
  /** Variables in addition to the environment of every command. Secrets: stored separately, read as `***`. */
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, 'must be a valid environment variable name'),
      z.string().max(32_768).refine(hasNoNul, 'must not contain NUL characters'),
    )
    .optional(),
  cwd: commandDir.optional(),
});

const httpSchema = z.strictObject({
  ...commonFields,
  /** Streamable HTTP by default; `sse`: HTTP with server-sent events, as spoken by servers before March 2025. */
  transport: z.enum(['http', 'sse']).optional(),
  url: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .max(2000)
    // Chromium accepts `http://my server` as a URL.
    .refine((text) => URL.parse(text)?.hostname.includes('%') !== true, 'must be an http or https URL')
    .refine((text) => {
      const url = URL.parse(text);
      return url?.username === '' && url.password === '' && url.hash === '';
    }, 'must not include a user name, password or fragment'),
  /** Secrets, like `env`. */
  headers: z
    .record(
      z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be a valid header name'),
      z
        .string()
        .max(8192)
        .regex(/^[^\r\n\0]*$/, 'must be a single line'),
    )
    .optional(),
  /** Perch's registration, for authorization servers without dynamic registration. */
  oauth: z
    .strictObject({
      clientId: z.string().min(1).max(2000).optional(),
      /** A secret, like `env`. */
      clientSecret: z.string().max(8192).optional(),
      /** Scopes to ask for in addition to the server's own. */
      scopes: z
        .array(z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]{1,200}$/, 'must be a valid OAuth scope'))
        .max(100)
        .optional(),
    })
    .optional(),
});

/** Settings of an MCP server; the fields that are present determine the transport. */
export const mcpServerSchema = z.union([stdioSchema, httpSchema], {
  error: ({ input }) =>
    typeof input === 'object' && input !== null && 'url' in input
      ? (findFirstProblem(httpSchema, input) ?? 'must be an MCP server')
      : (findFirstProblem(stdioSchema, input) ?? 'must be an MCP server'),
});
type McpServerSettings = z.infer<typeof mcpServerSchema>;
type ServerSettingsByName = Record<string, McpServerSettings> | undefined;

function findFirstProblem(schema: z.ZodType, input: unknown): string | undefined {
  const [issue] = schema.safeParse(input).error?.issues ?? [];
  return issue && (issue.path.length === 0 ? issue.message : `has an invalid \`${formatValuePath(issue.path)}\`: it ${issue.message}`);
}

/** Whether a path leads to a secret of an MCP server. */
export const isMcpSecret = ([section, list, , part, ...rest]: readonly string[]): boolean =>
  section === 'tools' &&
  list === 'mcpServers' &&
  rest.length === 1 &&
  (part === 'env' || part === 'headers' || (part === 'oauth' && rest[0] === 'clientSecret'));

/**
 * Dotted paths of headers and OAuth credentials of servers whose address has changed: they are not sent there until they are entered again.
 */
export function findMovedHeaders(before: ServerSettingsByName = {}, after: ServerSettingsByName = {}): string[] {
  const getOrigin = (server: McpServerSettings | undefined): string | undefined =>
    server && 'url' in server ? new URL(server.url).origin : undefined;
  return Object.entries(after).flatMap(([name, server]) => {
    const oldOrigin = getOrigin(before[name]);
    if (!('url' in server) || oldOrigin === undefined || oldOrigin === getOrigin(server)) return [];
    const secrets = Object.keys(server.headers ?? {}).map((header) => `headers.${header}`);
    if (server.oauth?.clientSecret !== undefined) secrets.push('oauth.clientSecret');
    return secrets.map((secret) => `tools.mcpServers.${name}.${secret}`);
  });
}

/** Name of the vault secret that holds a person's authorization for a server. */
export const toOauthSecretName = (name: string): string => `mcp-oauth.${name}`;

/** Names of the secrets of servers that were removed or have another address: their authorization is deleted. */
export function findEndedPermissions(before: ServerSettingsByName = {}, after: ServerSettingsByName = {}): string[] {
  const getUrl = (server: McpServerSettings | undefined): string | undefined => (server && 'url' in server ? server.url : undefined);
  return Object.entries(before).flatMap(([name, server]) => (getUrl(server) !== getUrl(after[name]) ? [toOauthSecretName(name)] : []));
}

/** Origins of the servers that are reached over HTTP. */
export const getMcpOrigins = (servers: ServerSettingsByName = {}): string[] =>
  Object.values(servers).flatMap((server) => ('url' in server && server.enabled !== false ? [new URL(server.url).origin] : []));
