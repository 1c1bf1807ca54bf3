import type { ToolServerCommand } from '#shared/ports/mcp.ts';
import type { Config } from '../config.ts';
import { ANSWER_MS } from './settings.ts';

/** The gateway's registration with a server's authorization server, and the scopes to ask for. */
export interface OauthEntry {
  clientId?: string;
  clientSecret?: string;
  scopes?: string[];
}

/** How to reach an MCP server, with its secrets in plain text. */
export type Entry = { name: string; timeoutMs: number } & (
  | { transport: 'stdio'; command: ToolServerCommand }
  | { transport: 'http' | 'sse'; url: string; headers: Record<string, string>; oauth?: OauthEntry }
);

/** The configured servers that are enabled. Secrets that cannot be read here are left out. */
export function entriesOf({ settings, secret }: { settings: Config['settings']; secret(path: string): string | undefined }): Entry[] {
  return Object.entries(settings.tools.mcpServers ?? {}).flatMap(([name, server]): Entry[] => {
    if (server.enabled === false) return [];
    const clear = (part: 'env' | 'headers', names: Record<string, string> = {}): Record<string, string> =>
      Object.fromEntries(
        Object.keys(names).flatMap((key) => {
          const value = secret(`tools.mcpServers.${name}.${part}.${key}`);
          return value === undefined ? [] : [[key, value]];
        }),
      );
    const common = { name, timeoutMs: server.timeoutMs ?? ANSWER_MS };
    if ('url' in server) {
      const { clientId, scopes } = server.oauth ?? {};
      const clientSecret = secret(`tools.mcpServers.${name}.oauth.clientSecret`);
      const oauth = { ...(clientId ? { clientId } : {}), ...(clientSecret ? { clientSecret } : {}), ...(scopes ? { scopes } : {}) };
      const reached = { transport: server.transport ?? ('http' as const), url: server.url, headers: clear('headers', server.headers) };
      return [{ ...common, ...reached, ...(server.oauth ? { oauth } : {}) }];
    }
    const { command, args = [], env, cwd } = server;
    return [{ ...common, transport: 'stdio', command: { command, args, env: clear('env', env), ...(cwd === undefined ? {} : { cwd }) } }];
  });
}
