import type { McpServerCommand } from '#shared/ports/mcp-port.ts';
import type { Config } from '../../config/gateway-config.ts';
import { DEFAULT_TIMEOUT_MS } from '../../config/sections/mcp-settings.ts';

/** The gateway's registration with a server's authorization server, and the scopes to ask for. */
export interface OauthClientConfig {
  clientId?: string;
  clientSecret?: string;
  scopes?: string[];
}

/** How to reach an MCP server, with its secrets in plain text. */
export type McpEndpoint = { name: string; timeoutMs: number } & (
  | { transport: 'stdio'; command: McpServerCommand }
  | { transport: 'http' | 'sse'; url: string; headers: Record<string, string>; oauth?: OauthClientConfig }
);

/** The configured servers that are enabled. Secrets that cannot be read here are left out. */
export function getMcpEndpoints({
  settings,
  secret,
}: {
  settings: Config['settings'];
  secret(path: string): string | undefined;
}): McpEndpoint[] {
  return Object.entries(settings.tools.mcpServers ?? {}).flatMap(([name, server]): McpEndpoint[] => {
    if (server.enabled === false) return [];
    const resolveSecrets = (part: 'env' | 'headers', names: Record<string, string> = {}): Record<string, string> =>
      Object.fromEntries(
        Object.keys(names).flatMap((key) => {
          const value = secret(`tools.mcpServers.${name}.${part}.${key}`);
          return value === undefined ? [] : [[key, value]];
        }),
      );
    const common = { name, timeoutMs: server.timeoutMs ?? DEFAULT_TIMEOUT_MS };
    if ('url' in server) {
      const { clientId, scopes } = server.oauth ?? {};
      const clientSecret = secret(`tools.mcpServers.${name}.oauth.clientSecret`);
      const oauth = { ...(clientId ? { clientId } : {}), ...(clientSecret ? { clientSecret } : {}), ...(scopes ? { scopes } : {}) };
      const httpFields = {
        transport: server.transport ?? ('http' as const),
        url: server.url,
        headers: resolveSecrets('headers', server.headers),
      };
      return [{ ...common, ...httpFields, ...(server.oauth ? { oauth } : {}) }];
    }
    const { command, args = [], env, cwd } = server;
    return [
      { ...common, transport: 'stdio', command: { command, args, env: resolveSecrets('env', env), ...(cwd === undefined ? {} : { cwd }) } },
    ];
  });
}
